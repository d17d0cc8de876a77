"""What torch asks for besides the shapes of one operation; every message is one that torch 2.13 printed.

Without a GPU two are exceptions: "Expected all tensors to be on the same device" was put together from the literals of torch 2.13's
libtorch_cpu.so ("…, but found at least two devices, ", "…, but got ", " is on ", ", different from other tensors on ").
"""

from __future__ import annotations

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.model import Report

TOOL = Diagnoser.of([])


def report(line: str, message: str, lang: str = "en") -> Report:
    log = (
        f'Traceback (most recent call last):\n  File "/home/me/train.py", line 7, in <module>\n    {line}\n{message}\n'
    )
    return TOOL.diagnose(log, lang=lang)


CASES = [
    ("y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)", "RuntimeError: The size of tensor a (10) must match the size of tensor b (2) at non-singleton dimension 2", "dimension 2", "keep[:, None, None, :]"),
    ("writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))", "OverflowError: can't convert negative value to unsigned int", "unsigned", "int64"),
    ("z = torch.bmm(a, b)", "RuntimeError: Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 5].", "[2, 4]", "b.transpose(1, 2)"),
    ("parts = x.split([4, 4])", "RuntimeError: split_with_sizes expects split_sizes to sum exactly to 10 (input tensor's size at dimension 0), but got split_sizes=[4, 4]", "[4, 4]", "print(x.shape)"),
    ("net.load_state_dict(state)", 'RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "fc.bias", "fc.weight". \n\tUnexpected key(s) in state_dict: "module.fc.bias", "module.fc.weight". ', "fc.bias", "{k.removeprefix('module.'): v for k, v in state.items()}"),
    ("net.load_state_dict(state)", 'RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for fc.weight: copying a param with shape torch.Size([2, 5]) from checkpoint, the shape in current model is torch.Size([2, 3]).', "[2, 5]", "print(state['fc.weight'].shape)"),
    ("w.add_(1)", "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.", "`w`", "with torch.no_grad(): ..."),
    ("y.backward()", "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed).", "graph", ".detach()"),
    ("y.sum().backward()", "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [3]], which is output 0 of Exp, is at version 1; expected version 0 instead.", "[3]", "y = y + 1"),
    ("loss.backward()", "RuntimeError: grad can be implicitly created only for scalar outputs", "`loss`", "loss.mean().backward()"),
    ("v = x.numpy()", "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.", "`x`", "x.detach().cpu().numpy()"),
    ("loss = criterion(logits, labels)", "RuntimeError: result type Float can't be cast to the desired output type Long", "`labels` holds integers", "labels.float()"),
    ("loss = loss_fn(logits, labels)", "RuntimeError: weight tensor should be defined either for all 3 classes or no classes but got weight tensor of shape: [2]", "3 classes", "weight=torch.ones(3)"),
    ("target = torch.tensor(labels)", "ValueError: too many dimensions 'str'", "`labels` holds texts", "[sorted(set(labels)).index(x) for x in labels]"),
    ('batch["labels"] = torch.tensor([f["label"] for f in features])', "ValueError: too many dimensions 'str'", "`label` holds texts", 'dataset.class_encode_column("label")'),
    ("picked = np.random.choice(sizes, size=10, p=weights)", "ValueError: 'a' and 'p' must have same size", "equally many", "len(sizes) == len(weights)"),
    ("x.add_(1.5)", "RuntimeError: result type Float can't be cast to the desired output type Long", "Long", "x = x.float()"),
    ("z = torch.cat([a, b])", "RuntimeError: Tensors must have same number of dimensions: got 2 and 1", "2 and 1", "b.unsqueeze(0)"),
    ("ids = torch.cat([ids, new], dim=-1)", "RuntimeError: Tensors must have same number of dimensions: got 2 and 1", "2 and 1", "new.unsqueeze(-1)"),
    ("x = torch.cat([cls, body], 1)", "RuntimeError: Tensors must have same number of dimensions: got 1 and 2", "1 and 2", "cls.unsqueeze(-1)"),
    ("last = hidden[rows, lengths]", "IndexError: index 18 is out of bounds for dimension 1 with size 18", "18 was asked for", "hidden[rows, lengths - 1]"),
    ("last = hidden[rows, lengths]", "IndexError: index 19 is out of bounds for dimension 1 with size 18", "19 was asked for", "print(hidden.shape)"),
    ("x = table[ids]", "IndexError: index 18 is out of bounds for dimension 0 with size 18", "18 was asked for", "print(table.shape)"),
    ("x = torch.cat(parts)", "RuntimeError: Tensors must have same number of dimensions: got 2 and 1", "2 and 1", ".unsqueeze(0)"),
    ("x.add_(y)", "RuntimeError: output with shape [3] doesn't match the broadcast shape [2, 3]", "[2, 3]", "x = x + ..."),
    ("e = F.embedding(ids, table)", "RuntimeError: Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.FloatTensor instead (while checking arguments for embedding)", "FloatTensor", "ids.long()"),
    ("y = norm(x)", "RuntimeError: Given normalized_shape=[8], expected input with shape [*, 8], but got input of size[2, 4]", "[2, 4]", "print(x.shape)"),
    ("g = torch.gather(x, 1, index)", "RuntimeError: Size does not match at dimension 0 expected index [3, 2] to be no larger than self [2, 2] apart from dimension 1", "[3, 2]", "print(x.shape)"),
    ("y = conv(x)", "RuntimeError: Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). Kernel size can't be greater than actual input size", "(3 x 3)", "padding=1"),
    ("y = pool(x)", "RuntimeError: Given input size: (3x4x4). Calculated output size: (3x0x0). Output size is too small", "(3x4x4)", "kernel_size=2"),
    ("d = torch.dot(a, b)", "RuntimeError: inconsistent tensor size, expected tensor [3] and src [4] to have the same number of elements, but got 3 and 4 elements respectively", "3 and 4", "print(a.shape, b.shape)"),
    ("y = torch.mv(m, v)", "RuntimeError: size mismatch, got input (3), mat (3x4), vec (5)", "3x4", "print(m.shape, v.shape)"),
    ("y = x.permute(0, 1)", "RuntimeError: permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = 3 is not equal to len(dims) = 2", "3 dimensions", "print(x.shape)"),
    ("for batch in loader:", "TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class 'NoneType'>", "NoneType", "collate_fn=..."),
    ("for batch in loader:", "RuntimeError: each element in list of batch should be of equal size", "different lengths", "collate_fn=..."),
    ("y = a @ b", "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!", "devices", "b.to(a.device)"),
    ("y = a @ b", "RuntimeError: Expected all tensors to be on the same device, but got mat2 is on cpu, different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_mm)", "devices", "b.to(a.device)"),
    ("y = torch.where(a, b, 0)", "RuntimeError: Tensor on device meta is not on the expected device cpu!", "meta", "b.to(a.device)"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message", "told", "code"), CASES)
def test_a_requirement_of_torch_is_said_with_its_numbers_and_a_suggestion(
    line: str, message: str, told: str, code: str
):
    [found] = report(line, message).explained
    assert told in found["condition"]
    assert found["suggestions"][0]["code"] == code
    assert found["basis"] == "rule"


@pytest.mark.parametrize(("line", "message"), [case[:2] for case in CASES])
def test_it_is_said_in_chinese(line: str, message: str):
    [found] = report(line, message, "zh").explained
    assert any("一" <= char <= "鿿" for char in found["condition"])


def test_a_checkpoint_whose_names_alone_differ_says_how_many_on_which_side():
    text = 'RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "a", "b", "c", "d". '
    [found] = report("net.load_state_dict(torch.load(path))", text).explained
    assert "lacks 4 names" in found["condition"]
    assert "a, b, c" in found["condition"]
