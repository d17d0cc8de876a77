"""A program starts another one that fails, and says only that it did."""

import subprocess
import sys
from pathlib import Path

Path("convert.py").write_text('''
rows = [{"text": "a"}, {"txt": "b"}]
for row in rows:
    print(row["text"])
''')

subprocess.run([sys.executable, "convert.py"], check=True)
