from datasets import Dataset
from datasets.arrow_reader import ReadInstruction

print(ReadInstruction("train", to=2, unit="abs", rounding="closest"))
