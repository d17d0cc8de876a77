"""Does a second ``filter`` on a streaming data set fail?"""

QUESTION = "Does a second filter() on a streaming data set fail here?"
NEEDS = ["datasets"]
PARAMETERS = {}
SETTLED_BY = []
SHARED_MEMORY = True  # the stream shares a counter among its workers
PAIRS = [("confirmed", {"datasets": "3.6.0"}), ("not-here", {"datasets": "4.8.0"})]
REPRODUCE = """
from datasets import Dataset
rows = Dataset.from_dict({{"n": [1, 2, 3]}}).to_iterable_dataset()
list(rows.filter(lambda row: row["n"] > 1).filter(lambda row: row["n"] > 2))
"""


def run(kit):
    kit.expects("TypeError", r"'NoneType' object is not a mapping")
    datasets = kit.need("datasets")

    def rows():
        return datasets.Dataset.from_dict({"n": list(range(8))}).to_iterable_dataset()

    if kit.symptom(
        "filter().filter() on a stream", lambda: list(rows().filter(lambda r: r["n"] > 1).filter(lambda r: r["n"] > 2))
    ):
        kit.fix(
            "one-filter",
            "both conditions in one filter",
            lambda: list(rows().filter(lambda r: 1 < r["n"] > 2)),
            words=r" and x\[",
        )
