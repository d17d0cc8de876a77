"""Two processes, and one of them fails in its own code."""

import torch.multiprocessing as mp


def work(rank, table):
    print("rank", rank, table["layers"][rank])


if __name__ == "__main__":
    mp.spawn(work, nprocs=2, args=({"layer": [1, 2]},))
