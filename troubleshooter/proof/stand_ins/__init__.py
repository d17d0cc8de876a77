"""Tiny stand-ins for what a fix's reader has: models, tokenizers, data sets, trainers, made by the libraries' own code.

Imported by `bench` only, in the Python of an environment. Everything is made once it is asked for, by name, and is real: a model of
two layers from its configuration class, a tokenizer of 40 words, a data set of eight rows. A name of the Hub, or a path that is not
there, loads such a model through the libraries' own ``from_pretrained``; ``load_dataset`` gives the eight rows.

A ``make_NAME`` of one of the classes here makes what `names` says that an excerpt means by ``NAME``.
"""

import contextlib
import importlib
import inspect
import os
import socket

import numpy
import torch
import torch.distributed.checkpoint
import torch.nn.functional
import transformers

from .data import Data
from .files import Files
from .loading import load_tiny_models
from .models import Models
from .names import ABBREVIATED, FIRM, MODULES, SYNONYMS
from .pictures import Pictures
from .texts import Texts
from .training import Training, train_on_the_cpu
from .values import Values
from .wishes import TextNeeds

ALIASES = {
    "torch": torch, "np": numpy, "nn": torch.nn, "F": torch.nn.functional, "transformers": transformers,
    "dist": torch.distributed, "dcp": torch.distributed.checkpoint,
}  # fmt: skip
HEAVY = (
    *MODULES, "trl.trainer.sft_trainer", "trl.trainer.dpo_trainer", "trl.trainer.grpo_trainer", "transformers.trainer", "torch._dynamo",
)  # fmt: skip
"""Imported once, before the processes of the fixes are forked."""


class StandIns(Models, Texts, Data, Training, Values, Pictures, Files):
    """Stand-ins by name. ``used``: the names that were asked for, apart from modules and classes of libraries."""

    def __init__(self, home):
        self.made = {}
        self.used = []
        self.wishes = TextNeeds()
        self.saved = os.path.join(home, "saved")
        self.saved_adapter = os.path.join(home, "adapter")
        self.trained = os.path.join(home, "trained")
        torch.manual_seed(0)
        torch.set_num_threads(1)  # a forked process has none of the threads of its parent
        for heavy in HEAVY:
            with contextlib.suppress(ImportError, RuntimeError):
                importlib.import_module(heavy)
        train_on_the_cpu()
        self.save_tokenizer(self.saved)
        self.save_model(self.saved)
        self.make_peft_model().save_pretrained(self.saved_adapter)
        self.train_two_steps(self.trained)
        self.made.clear()
        self.used.clear()
        load_tiny_models(self)

    def named(self, name):
        """What a name stands for. Raises LookupError for a name that only the reader knows."""
        if name in ALIASES:
            return ALIASES[name]
        if name == "bnb" and self.wishes.quantizes:
            return self.named("bnb_config")
        if name in self.wishes.paths:
            self.used.append(name)
            return self.file(self.wishes.paths[name])
        wanted = self.meant(name)
        if hasattr(self, f"make_{wanted}"):
            self.used.append(name)
            if wanted not in self.made:
                self.made[wanted] = getattr(self, f"make_{wanted}")()
            return self.made[wanted]
        for place in MODULES:
            try:
                module = importlib.import_module(place)
                if hasattr(module, name) and not inspect.ismodule(getattr(module, name)):
                    return getattr(module, name)
            except (ImportError, RuntimeError):
                continue
        try:
            return importlib.import_module(ABBREVIATED.get(name, name))
        except ImportError:
            raise LookupError(name) from None

    def meant(self, name):
        """The stand-in that a name means in this text."""
        wishes = self.wishes
        if name == "out" and wishes.out_is_path:
            return "folder"
        wanted = SYNONYMS.get(name, name)
        if wanted == "dataset" and name in wishes.split:
            return "splits"
        if wanted == "model" and wishes.adapted:
            return "peft_model"
        if name in ("tokenizer", "tok", "raw") and (wishes.raw_tokenizer == name):
            return "raw_tokenizer"
        if name == "processor" and (wishes.processes or wishes.hears):
            return "hearing_processor" if wishes.hears else "picture_processor"
        return wanted

    def fit_to(self, code):
        """Make the stand-ins fit a text: ``args`` become those of the trainer that it names (`trl.DPOConfig` for a ``DPOTrainer``), rows
        have the columns that it names, and the files and checkpoints that it reads are there."""
        self.wishes = wishes = TextNeeds(code)
        for name in wishes.files:
            with contextlib.suppress(OSError):
                self.file(name)
        for name in wishes.checkpoints:
            for parent in wishes.checkpoint_parents:
                if not parent.startswith("/"):
                    self.checkpoint(os.path.join(parent, name), "Peft" in code or "adapter" in code)
        self.made.clear()
        self.used = ["file"] if wishes.files else []

    def launch(self, grouped):
        """Become the only process of a launch, as `torchrun --nproc_per_node 1` starts it. ``grouped``: the group of processes is there."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        os.environ.update(
            RANK="0",
            LOCAL_RANK="0",
            WORLD_SIZE="1",
            LOCAL_WORLD_SIZE="1",
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=str(port),
        )
        if grouped:
            torch.distributed.init_process_group("gloo")

    def fitted(self):
        """Whether something was used of which readers have many kinds, so that a failure may be the stand-in's."""
        return any(SYNONYMS.get(name, name) not in FIRM for name in self.used)

    def surface(self, thing):
        """Whether a missing attribute of this is a library's own name, and not one of the reader's class."""
        firm = (transformers.TrainingArguments, transformers.Trainer)
        if inspect.ismodule(thing) or inspect.isclass(thing) or isinstance(thing, firm):
            return True
        return isinstance(thing, transformers.PreTrainedTokenizerBase) and not {"processor", "feature_extractor"} & set(
            self.used
        )

    def filled_call(self, function, *args, _asked="", **given):
        """A call whose other arguments the excerpt left out (``...``): what the callable requires, and what it usually gets, is filled in.

        ``_asked``: names of arguments that the excerpt gives as ``...``, with commas between."""
        for name in filter(None, _asked.split(",")):
            given[name] = self.argument(name, function)
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            return function(*args, **given)
        taken = list(parameters)[: len(args)]
        trains = "train_dataset" in parameters
        for name, parameter in parameters.items():
            if name in given or name in taken or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                continue
            usual = name == "output_dir" or (trains and name in ("model", "args", "train_dataset", "processing_class"))
            if parameter.default is parameter.empty or usual:
                given[name] = self.argument(name, function)
        if (
            isinstance(function, transformers.PreTrainedTokenizerBase)
            and not args
            and not {"text", "messages"} & given.keys()
        ):
            given["text"] = self.named("texts")
        if inspect.isclass(function) and issubclass(function, transformers.TrainingArguments):
            given.setdefault("report_to", [])
        if inspect.ismethod(function) and function.__name__ == "generate" and not args and "input_ids" not in given:
            given.update(self.named("batch"))
        return function(*args, **given)

    def argument(self, name, function):
        """The value of an argument that an excerpt left out."""
        owner = getattr(function, "__name__", "")
        if name == "args" and owner.endswith("Trainer"):
            return self.args_of(owner.removesuffix("Trainer"))
        if name == "train_dataset":
            return self.named(
                "tokenized" if getattr(function, "__module__", "").startswith("transformers") else "dataset"
            )
        if name == "reward_funcs":
            return self.named("reward")
        try:
            return self.named(name)
        except LookupError:
            return "x"
