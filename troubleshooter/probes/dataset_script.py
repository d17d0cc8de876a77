"""Does ``load_dataset`` refuse a data set that is a Python script?"""

QUESTION = "Does this datasets refuse data set scripts?"
NEEDS = ["datasets"]
PARAMETERS = {}
SETTLED_BY = []
PAIRS = [("not-here", {"datasets": "3.6.0"}), ("confirmed", {"datasets": "4.4.1"})]
REPRODUCE = """
from datasets import load_dataset
load_dataset("own.py", trust_remote_code=True)      # a script that builds the data set
"""
SCRIPT = """
import datasets
class Own(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"text": datasets.Value("string")}))
    def _split_generators(self, manager):
        return [datasets.SplitGenerator(name="train")]
    def _generate_examples(self):
        yield 0, {"text": "a"}
"""


def run(kit):
    import json
    import os

    kit.expects("RuntimeError", r"Dataset scripts are no longer supported")
    datasets = kit.need("datasets")
    path, rows = os.path.join(kit.folder, "own.py"), os.path.join(kit.folder, "own.jsonl")
    with open(path, "w") as file:
        file.write(SCRIPT)
    with open(rows, "w") as file:
        file.write(json.dumps({"text": "a"}) + "\n")
    old = int(datasets.__version__.split(".")[0]) < 4
    given = {"trust_remote_code": True} if old else {}
    if kit.symptom("load_dataset of a script", lambda: datasets.load_dataset(path, **given)):
        kit.fix(
            "files",
            'data files, read with "json"',
            lambda: datasets.load_dataset("json", data_files=rows),
            words=r'"json"',
        )
