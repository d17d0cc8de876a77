import gzip
from datasets.filesystems.compression import GzipFileSystem

with gzip.open("rows.gz", "wb") as file:
    file.write(b"a")
with GzipFileSystem("rows.gz").open("rows", "wb") as file:
    file.write(b"b")
