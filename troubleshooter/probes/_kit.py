"""What a probe works with: parameters, guarded attempts, tiny models, prices, and the words that it reports in.

Sent along with every probe; standard library at import, torch and friends only inside functions. Must parse under
Python 3.8. A probe states what it watched; the verdict is the tool's business, not the probe's.
"""

import contextlib
import importlib
import os
import re
import time

TINY = dict(
    vocab_size=128,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=1,
    max_position_embeddings=128,
)
AGAIN_SECONDS = 1.0  # fixed code that took less is run a second time for its price
ALLOCATOR_MB = 512  # the most that a probe may take of a GPU that may be working for somebody else


class Undecided(Exception):
    """Nothing can be said here; the text says what is missing."""


class Attempt:
    """What came of running something: a value, or the exception that ended it."""

    def __init__(self, value=None, error=None, seconds=0.0):
        self.value, self.error, self.seconds = value, error, seconds

    @property
    def kind(self):
        return type(self.error).__name__ if self.error is not None else None

    @property
    def message(self):
        return str(self.error)[:1500] if self.error is not None else None

    @property
    def where(self):
        """Innermost frame, as module:function."""
        step = self.error.__traceback__ if self.error is not None else None
        if step is None:
            return None
        while step.tb_next is not None:
            step = step.tb_next
        return "%s:%s" % (step.tb_frame.f_globals.get("__name__"), step.tb_frame.f_code.co_name)

    def described(self):
        if self.error is None:
            return {"exception": None}
        return {"exception": self.kind, "message": self.message, "where": self.where}


class Kit:
    """Handed to ``run(kit)``."""

    def __init__(self, channel, request):
        self._channel = channel
        self.options = request["options"]
        self.device = request["device"]  # "cpu" or "cuda": the only one that the process can see
        self.model = request.get("model")  # the user's own folder of weights or config, or None
        self.nvidia = request.get("nvidia") or []  # what the driver said about the GPUs, asked without a context
        self.folder = os.getcwd()
        self._expected = None

    # --- speaking ---------------------------------------------------------------------------------------------

    def say(self, text):
        """Progress, shown while the probe runs."""
        self._channel.send("progress", text=text)

    def note(self, text):
        """A fact that the report should hold, whatever the verdict."""
        self._channel.send("note", text=text)

    def undecided(self, reason):
        """End the probe: nothing can be said here."""
        raise Undecided(reason)

    def expects(self, exception, message):
        """The failure in question: the class's name (or several) and a pattern of its message."""
        self._expected = ((exception,) if isinstance(exception, str) else tuple(exception), message)

    def symptom(self, case, function):
        """Run the failing code. True: the expected exception came; False: it ran; None: something else came."""
        attempt = self.attempt(function)
        occurred = self.judge(attempt)
        observed = attempt.described()
        if occurred:  # a long message holds the decisive words somewhere in the middle
            lines = [line.strip() for line in str(attempt.error).splitlines()]
            observed["matched"] = next((line for line in lines if re.search(self._expected[1], line)), "")[:500]
        self._channel.send("symptom", case=case, occurred=occurred, observed=observed)
        return occurred

    def measured(self, case, occurred, text, **numbers):
        """A symptom that is a quantity and no exception."""
        self._channel.send("symptom", case=case, occurred=occurred, observed={"measured": text, "numbers": numbers})
        return occurred

    def mechanism(self, case, text, **numbers):
        """A demonstration with staged numbers: never a confirmation."""
        self._channel.send("mechanism", case=case, text=text, numbers=numbers)

    def fix(self, name, do, function=None, removed=None, text=None, words="", price=None):
        """Whether a fix removes the symptom; ``words`` is a pattern that finds the entry's fix that this one is.

        ``price`` is what `price` takes, for a fix that every step pays. Without it the seconds of the fixed code are kept.
        """
        described, cost = {}, {}
        if function is not None:
            attempt = self.attempt(function)
            occurred = self.judge(attempt)
            removed = None if occurred is None else not occurred
            described = attempt.described() if attempt.error is not None else {}
            if removed and price is None:
                cost = self._price_of_running(function, attempt.seconds)
        if price is not None:
            try:
                cost = self.price(*price)
            except Exception as error:  # a price is an extra: never worth the verdict
                cost = {"unmeasured": "%s: %s" % (type(error).__name__, str(error)[:200])}
        self._channel.send(
            "fix", name=name, do=do, removed=removed, observed=described, text=text, words=words, cost=cost
        )
        return removed

    # --- trying -----------------------------------------------------------------------------------------------

    def attempt(self, function):
        started = time.time()
        try:
            return Attempt(value=function(), seconds=time.time() - started)
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # torch's CheckpointException is no Exception
            return Attempt(error=error, seconds=time.time() - started)

    def judge(self, attempt):
        """True: the expected failure; False: none; None: another one."""
        if attempt.error is None:
            return False
        exceptions, message = self._expected
        names = {kind.__name__ for kind in type(attempt.error).__mro__}
        return True if names.intersection(exceptions) and re.search(message, str(attempt.error)) else None

    def need(self, *names):
        """Modules that must import; a missing package ends the probe with that sentence."""
        modules = []
        for name in names:
            self.say("importing %s" % name)
            try:
                modules.append(self.torch() if name == "torch" else importlib.import_module(name))
            except ImportError as error:
                raise Undecided("%s does not import in this environment: %s" % (name, str(error)[:300]))
        return modules[0] if len(modules) == 1 else modules

    def torch(self):
        """torch with a fixed seed, one thread, and its appetite for GPU memory capped."""
        import torch

        torch.manual_seed(0)
        torch.set_num_threads(1)
        if self.device == "cuda":
            if not torch.cuda.is_available():
                raise Undecided("this torch sees no GPU (%s)" % torch.__version__)
            total = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.set_per_process_memory_fraction(min(1.0, ALLOCATOR_MB * 2**20 / total), 0)
        return torch

    def dtype(self, name):
        import torch

        return getattr(torch, name)

    def autocast(self, dtype):
        """Autocast for the probe's device, or nothing for None."""
        import torch

        return torch.autocast(self.device, dtype=dtype) if dtype is not None else contextlib.nullcontext()

    # --- tiny things ------------------------------------------------------------------------------------------

    def llama(self, **changes):
        import transformers

        torch = self.torch()
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**dict(TINY, pad_token_id=0, **changes)))
        return model.to(self.device)

    def tokenizer(self, pad=True):
        """A tokenizer trained on a few words, so that none needs downloading."""
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers
        from transformers import PreTrainedTokenizerFast

        inner = Tokenizer(models.BPE(unk_token=None))
        inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(vocab_size=120, special_tokens=["<pad>", "<s>", "</s>"], show_progress=False)
        inner.train_from_iterator(["a quick brown fox jumps over the lazy dog"] * 4, trainer)
        special = dict(bos_token="<s>", eos_token="</s>")
        if pad:
            special["pad_token"] = "<pad>"
        return PreTrainedTokenizerFast(tokenizer_object=inner, **special)

    def rows(self, count=8, length=12, high=120):
        """Examples as the Trainer takes them."""
        torch = self.torch()
        made = []
        for _ in range(count):
            ids = torch.randint(3, high, (length,))
            made.append(dict(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids.clone()))
        return made

    def training_arguments(self, **changes):
        """TrainingArguments for a silent run of two steps on the probe's device."""
        import inspect

        from transformers import TrainingArguments

        known = inspect.signature(TrainingArguments.__init__).parameters
        chosen = dict(
            output_dir=os.path.join(self.folder, "out"),
            per_device_train_batch_size=2,
            max_steps=2,
            logging_steps=1,
            report_to=[],
            disable_tqdm=True,
            save_strategy="no",
        )
        chosen["use_cpu" if "use_cpu" in known else "no_cuda"] = self.device == "cpu"
        chosen.update(changes)
        return TrainingArguments(**chosen)

    # --- prices -----------------------------------------------------------------------------------------------

    def price(self, without, with_fix, repeat=5):
        """Seconds a step and peak tensor memory without and with a fix. Each argument makes a model's step: a callable."""
        found = {}
        for name, make in (("without", without), ("with", with_fix)):
            step = make()
            step()  # the first one pays for lazy imports and allocations
            seconds = []
            for _ in range(repeat):
                started = time.perf_counter()
                step()
                self._wait()
                seconds.append(time.perf_counter() - started)
            found.setdefault("seconds_per_step", {})[name] = round(sorted(seconds)[repeat // 2], 5)
            found.setdefault("peak_mb", {})[name] = round(self._peak(step), 3)
        found["measured_on"] = "%s on %s" % ("your model, forward only" if self.model else "a tiny model", self.device)
        return found

    def _price_of_running(self, function, seconds):
        """What fixed code takes as a whole. The first run pays for lazy imports, so a short one is measured again."""
        if seconds < AGAIN_SECONDS:
            again = self.attempt(function)
            if again.error is None:
                self._wait()
                seconds = min(seconds, again.seconds)
        return {"seconds": round(seconds, 5), "measured_on": "tiny inputs on %s" % self.device}

    def training_step(self, model, **batch):
        """A step for `price`: forward and backward, nothing kept; tensors are moved to the probe's device."""
        batch = {name: value.to(self.device) for name, value in batch.items()}

        def step():
            model(**batch).loss.backward()
            model.zero_grad()

        return step

    def _wait(self):
        if self.device == "cuda":
            import torch

            torch.cuda.synchronize()

    def _peak(self, step):
        import torch

        if self.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
            step()
            return torch.cuda.max_memory_allocated() / 2**20
        with _live_tensors(step) as meter:
            step()
        return meter.peak / 2**20


def _live_tensors(step):
    """Counts the bytes of all live tensors after every operation: the CPU has no allocator statistics."""
    import gc

    import torch
    from torch.multiprocessing.reductions import StorageWeakRef
    from torch.utils._python_dispatch import TorchDispatchMode

    class Meter(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.live, self.peak = {}, 0
            gc.collect()
            for thing in gc.get_objects():  # what the step holds already: weights, gradients, optimizer state
                if issubclass(type(thing), torch.Tensor):
                    self.count(thing)

        def count(self, tensor):
            try:
                storage = tensor.untyped_storage()
            except (NotImplementedError, RuntimeError):
                return
            self.live[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            for thing in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(thing, torch.Tensor):
                    self.count(thing)
            self.live = {k: v for k, v in self.live.items() if not v[0].expired()}
            self.peak = max(self.peak, sum(size for _, size in self.live.values()))
            return result

    return Meter()
