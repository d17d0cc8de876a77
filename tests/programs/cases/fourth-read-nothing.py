import glob

from datasets.arrow_reader import ArrowReader

files = [{"filename": name} for name in glob.glob("cache/*.arrow")]
rows = ArrowReader("cache", None).read_files(files)
