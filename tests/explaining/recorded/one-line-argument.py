"""A line in the middle of a call fails, and its traceback marks the part."""


def configure(**settings):
    return settings


table = {"model": {"name": "tower"}}
configure(
    name=table["model"]["name"],
    depth=table["model"]["layers"],
)
