from datasets.arrow_reader import ReadInstruction

print(ReadInstruction("train", to=50, unit="%", rounding="nearest"))
