from datasets import percent

first = percent[10]
