"""Can this environment find the module that a log misses? Nothing is imported."""

QUESTION = "Does this environment lack the module?"
NEEDS = []
PARAMETERS = {"module": "^[A-Za-z_][A-Za-z0-9_]{0,60}$"}
SETTLED_BY = ["module"]
PAIRS = [
    ("confirmed", {"transformers": "4.51.3"}, {"module": "trl"}),
    ("not-here", {"transformers": "4.57.6", "trl": "0.24.0"}, {"module": "trl"}),
]
REPRODUCE = """
import importlib.util
print(importlib.util.find_spec("{module}"))     # None: no such module for this interpreter
"""


def run(kit):
    import importlib.util

    module = kit.options.get("module")
    if not module:
        kit.undecided("which module? give the log: troubleshoot verify LOG")
    missing = importlib.util.find_spec(module) is None
    said = "has no module" if missing else "finds the module"
    kit.measured(f"import {module}", missing, f"this interpreter {said} {module}")
