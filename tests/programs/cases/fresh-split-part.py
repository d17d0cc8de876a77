import datasets

half = datasets.Split.TRAIN.subsplit()
