"""A loader wraps what went wrong in an exception of its own."""


def load(record):
    return record["embeddings"]["layer_12"]


def load_all(records):
    for number, record in enumerate(records):
        try:
            load(record)
        except KeyError as error:
            raise RuntimeError(f"record {number} could not be used") from error


load_all([{"embeddings": {"layer_11": [0.5]}}])
