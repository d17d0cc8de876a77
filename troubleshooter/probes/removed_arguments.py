"""Does the installed library still take this argument? Read from its source; nothing of it is imported.

The class's fields or its ``__init__`` are looked up in the syntax tree, base classes included.
"""

QUESTION = "Does the installed library take this argument?"
NEEDS = []
PARAMETERS = {
    "callable": "^(?:(?:transformers|trl|peft|accelerate|datasets)\\.)?[A-Za-z_][A-Za-z0-9_]*$",
    "argument": "^[A-Za-z_][A-Za-z0-9_]*$",
    "replacement": "^[A-Za-z_][A-Za-z0-9_]*$",
}
SETTLED_BY = ["callable", "argument"]
PAIRS = [
    ("not-here", {"transformers": "4.50.3"}, {"callable": "TrainingArguments", "argument": "evaluation_strategy"}),
    ("confirmed", {"transformers": "4.51.3"}, {"callable": "TrainingArguments", "argument": "evaluation_strategy"}),
    ("confirmed", {"transformers": "5.23.0"}, {"callable": "TrainingArguments", "argument": "evaluation_strategy"}),
    ("not-here", {"transformers": "4.57.6"}, {"callable": "transformers.Trainer", "argument": "tokenizer"}),
    ("confirmed", {"transformers": "5.23.0"}, {"callable": "transformers.Trainer", "argument": "tokenizer"}),
    ("not-here", {"transformers": "4.57.6"}, {"callable": "transformers.TrainingArguments", "argument": "no_cuda"}),
    ("confirmed", {"transformers": "5.0.0"}, {"callable": "transformers.TrainingArguments", "argument": "no_cuda"}),
    (
        "not-here",
        {"transformers": "4.57.6", "trl": "0.16.1"},
        {"callable": "trl.SFTConfig", "argument": "max_seq_length", "replacement": "max_length"},
    ),
    (
        "confirmed",
        {"transformers": "4.57.6", "trl": "0.24.0"},
        {"callable": "trl.SFTConfig", "argument": "max_seq_length", "replacement": "max_length"},
    ),
]
REPRODUCE = """
import inspect, transformers
print("evaluation_strategy" in inspect.signature(transformers.TrainingArguments).parameters)
"""

# Where a package's public names are defined, for the packages that hide it behind lazy imports.
HOMES = {
    "transformers.TrainingArguments": "transformers.training_args",
    "transformers.Seq2SeqTrainingArguments": "transformers.training_args_seq2seq",
    "transformers.Trainer": "transformers.trainer",
    "transformers.Seq2SeqTrainer": "transformers.trainer_seq2seq",
    "transformers.BitsAndBytesConfig": "transformers.utils.quantization_config",
    "accelerate.Accelerator": "accelerate.accelerator",
    "peft.LoraConfig": "peft.tuners.lora.config",
}
RENAMED = {
    "evaluation_strategy": "eval_strategy",
    "tokenizer": "processing_class",
    "no_cuda": "use_cpu",
    "max_seq_length": "max_length",
}


def run(kit):
    from importlib.metadata import PackageNotFoundError, version

    path, argument = kit.options.get("callable"), kit.options.get("argument")
    if not path or not argument:
        kit.undecided("which argument of what? give the log: troubleshoot verify LOG")
    alone = "." not in path  # a message names the class alone
    if alone:
        path = next((known for known in HOMES if known.endswith("." + path)), None) or guessed(path)
    replacement = kit.options.get("replacement", RENAMED.get(argument))
    package = path.split(".")[0]
    try:
        installed = version(package)
    except PackageNotFoundError:
        kit.undecided(f"{package} is not installed in this environment")
    known, open_ended = Sources().arguments(path)
    if known is None and alone:
        kit.undecided(f"no {path} in {package} {installed}: which library does it belong to?")
    if known is None:
        kit.measured(path, True, f"{package} {installed} has no {path} at all", known=False)
        return
    takes = argument in known
    if not takes and open_ended:
        kit.undecided(f"{path} of {package} {installed} takes any keyword (**kwargs); its source does not tell")
    verb = "takes" if takes else "does not take"
    kit.measured(
        f"`{argument}`", not takes, f"{path} of {package} {installed} {verb} `{argument}`", arguments=len(known)
    )
    if not takes and replacement:
        has = replacement in known
        said = "takes" if has else "does not take"
        kit.fix(
            "renamed",
            f"write `{replacement}` instead of `{argument}`",
            removed=has,
            text=f"{package} {installed} {said} `{replacement}`",
            words=r"\b" + replacement + r"\b",
        )


def guessed(name):
    """The package of a class that a message names alone, by the way the packages name things."""
    trl = ("SFT", "DPO", "GRPO", "KTO", "ORPO", "CPO", "PPO", "RLOO", "Reward", "BCO")
    return ("trl." if name.startswith(trl) else "transformers.") + name


class Sources:
    """Syntax trees of installed modules, parsed once each."""

    def __init__(self):
        self._trees = {}

    def tree(self, module):
        import ast
        import importlib.util
        import os

        if module not in self._trees:
            self._trees[module] = None
            package = importlib.util.find_spec(module.split(".")[0])  # finds, does not import
            if package is not None and package.submodule_search_locations:
                base = os.path.join(list(package.submodule_search_locations)[0], *module.split(".")[1:])
                for path in (base + ".py", os.path.join(base, "__init__.py")):
                    if os.path.exists(path):
                        with open(path, encoding="utf-8") as file:
                            self._trees[module] = (ast.parse(file.read()), path.endswith("__init__.py"))
                        break
        return self._trees[module]

    def home(self, path):
        """The module that defines a public name, following plain and lazy imports; None when it is not there."""
        import re

        if path in HOMES:
            return HOMES[path]
        module, _, name = path.rpartition(".")
        for _ in range(6):
            found = self.tree(module)
            if found is None:
                return None
            tree, is_package = found
            if defined(tree, name) is not None:
                return module
            target = imported_from(tree, name, module, is_package)
            if target is None:
                return self._by_convention(module, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(), name)
            module, name = target
        return None

    def _by_convention(self, package, stem, name):
        """trl.SFTConfig is defined in trl/trainer/sft_config.py: one file a class, named after it."""
        squeezed = stem.replace("_", "")
        import os

        for folder in ("trainer", "experimental", ""):
            module = package.split(".")[0] + ("." + folder if folder else "")
            found = self.tree(module)
            if found is None:
                continue
            import importlib.util

            spec = importlib.util.find_spec(module.split(".")[0])
            place = os.path.join(list(spec.submodule_search_locations)[0], *module.split(".")[1:])
            for file in sorted(os.listdir(place)):
                if file.endswith(".py") and file[:-3].replace("_", "") == squeezed:
                    inner = self.tree(module + "." + file[:-3])
                    if inner is not None and defined(inner[0], name) is not None:
                        return module + "." + file[:-3]
        return None

    def arguments(self, path):
        """(names that a class or function takes, whether it also takes anything else); (None, False) if it is gone."""
        import ast

        module = self.home(path)
        name = path.rpartition(".")[2]
        found = self.tree(module) if module else None
        node = defined(found[0], name) if found else None
        if node is None:
            return None, False
        if not isinstance(node, ast.ClassDef):
            return signature(node)
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name == "__init__":
                return signature(statement)
        fields = {s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
        open_ended = False
        for base in node.bases:
            parent = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", None)
            if parent is None or parent in ("object", "Enum"):
                continue
            if defined(found[0], parent) is not None:
                target = module + "." + parent
            else:
                where = imported_from(found[0], parent, module, found[1])
                target = ".".join(where) if where else None
            inherited, opened = self.arguments(target) if target else (None, False)
            if inherited is None:
                open_ended = True  # a base that cannot be read may take it
            else:
                fields |= inherited
                open_ended = open_ended or opened
        return fields, open_ended


def defined(tree, name):
    import ast

    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
            return node
    return None


def imported_from(tree, name, module, is_package):
    """(module, name) of an import of that name anywhere in the file, TYPE_CHECKING blocks included."""
    import ast

    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                parts = module.split(".")
                up = node.level - (1 if is_package else 0)
                base = parts[: len(parts) - up] if node.level else []
                target = ".".join(base + ([node.module] if node.module else []))
                return target, alias.name
    return None


def signature(function):
    import ast

    given = function.args
    names = {argument.arg for argument in given.args + given.kwonlyargs + getattr(given, "posonlyargs", [])}
    for decorator in function.decorator_list:
        # @deprecate_kwarg("tokenizer", new_name=...) still takes the old name and passes the value on.
        if isinstance(decorator, ast.Call) and "deprecate" in ast.dump(decorator.func):
            first = decorator.args[0] if decorator.args else None
            if first is not None and isinstance(getattr(first, "value", None), str):
                names.add(first.value)
    return names - {"self"}, given.kwarg is not None
