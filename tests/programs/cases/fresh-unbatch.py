from torch.utils.data.datapipes.iter import IterableWrapper

pipe = IterableWrapper([[1, 2], [3]]).unbatch(unbatch_level=-2)
print(list(pipe))
