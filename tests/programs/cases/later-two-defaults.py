import os
from datasets import load_dataset

os.makedirs("data")
open("data/rows.csv", "w").write("a\n1\n")
open("data/README.md", "w").write("""---
configs:
- config_name: one
  data_files: rows.csv
  default: true
- config_name: two
  data_files: rows.csv
  default: true
---
""")
print(load_dataset("./data"))
