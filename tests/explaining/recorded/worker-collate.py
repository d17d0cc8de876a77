"""A worker of a DataLoader stacks pictures that were never made tensors."""

import torch
from torch.utils.data import DataLoader


class Picture:
    pass


class Pictures(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return Picture(), index


def collate(batch):
    images = torch.stack([pair[0] for pair in batch])
    return images, torch.tensor([pair[1] for pair in batch])


if __name__ == "__main__":
    for images, labels in DataLoader(Pictures(), batch_size=2, num_workers=1, collate_fn=collate):
        print(images.shape, labels)
