"""Tensors, arrays and numbers."""

import numpy
import torch


class Values:
    """What a step computes with."""

    def make_input_ids(self):
        return torch.tensor([[4, 5, 6, 7], [5, 6, 7, 8]])

    def make_attention_mask(self):
        return torch.ones(2, 4, dtype=torch.long)

    def make_labels(self):
        return torch.tensor([[4, 5, 6, 7], [5, 6, 7, 8]])

    def make_logits(self):
        return torch.randn(2, 4, 64)

    def make_probs(self):
        return self.named("logits").softmax(-1)

    def make_preds(self):
        return numpy.array([0, 1, 1, 0])

    def make_references(self):
        return numpy.array([0, 1, 0, 0])

    def make_loss(self):
        return self.named("model")(input_ids=self.named("input_ids"), labels=self.named("labels")).loss

    def make_losses(self):
        return [torch.tensor(1.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)]

    def make_loss_a(self):
        return torch.tensor(1.0, requires_grad=True)

    def make_loss_b(self):
        return torch.tensor(2.0, requires_grad=True)

    def make_x(self):
        return self.make_input_ids() if self.ids else torch.randn(2, 16)

    def make_values(self):
        return [1.0, 2.0]

    def make_zero(self):
        return 0

    def make_one(self):
        return 1

    def make_two(self):
        return 2

    def make_four(self):
        return 4

    def make_sixteen(self):
        return 16
