"""Tiny stand-ins for what a fix's reader has: models, tokenizers, data sets, trainers, made by the libraries' own code.

Imported by `bench` only, in the Python of an environment. Everything is made once it is asked for, by name, and is real: a model of
two layers from its configuration class, a tokenizer of 40 words, a data set of eight rows. A name of the Hub, or a path that is not
there, loads such a model through the libraries' own ``from_pretrained``; ``load_dataset`` gives the eight rows.
"""

import argparse
import contextlib
import importlib
import inspect
import json
import os
import re

import datasets
import numpy
import torch
import torch.distributed.checkpoint
import torch.nn.functional
import transformers

MODULES = (
    "transformers", "peft", "trl", "datasets", "accelerate", "torch", "torch.nn", "torch.utils.data", "torch.optim", "tokenizers",
    "huggingface_hub", "accelerate.utils", "safetensors.torch", "torch.distributed.fsdp", "torch.utils.checkpoint", "torch.distributed.device_mesh",
    "torch.distributed.checkpoint.state_dict", "collections", "pathlib", "functools", "itertools", "typing", "dataclasses", "contextlib",
    "trl.experimental", "transformers.trainer_utils", "PIL", "sklearn.metrics",
)  # fmt: skip
"""Where a class or function is looked for that an excerpt uses without an import."""
ALIASES = {
    "torch": torch, "np": numpy, "nn": torch.nn, "F": torch.nn.functional, "transformers": transformers, "datasets": datasets,
    "dist": torch.distributed, "dcp": torch.distributed.checkpoint,
}  # fmt: skip
ABBREVIATED = {
    "pd": "pandas",
    "bnb": "bitsandbytes",
    "pl": "lightning",
    "sf": "soundfile",
    "pq": "pyarrow.parquet",
    "pa": "pyarrow",
    "plt": "matplotlib.pyplot",
}
WORDS = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "a",
    "lazy",
    "dog",
    "while",
    "seven",
    "wizards",
    "vex",
    "bold",
    "models",
    ";",
    "yes",
    "no",
    "user",
    "assistant",
    "system",
    "hello",
    "world",
]
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }} {{ m['content'] }} <|im_end|> {% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant {% endif %}"
)
SAME = {
    "model": "base base_model net llm ref_model policy student teacher unwrapped unwrapped_model actor reward_model value_model backbone transformer",
    "peft_model": "lora_model adapted", "module": "layer block inner mlp layers0 wrapper",
    "tokenizer": "tok processing_class base_tokenizer text_tokenizer slow_tokenizer fast_tokenizer processor",
    "dataset": "ds train_dataset eval_dataset train_ds eval_ds val_dataset test_dataset val_ds test_ds dev_ds data raw raw_dataset raw_datasets train val my_dataset "
               "train_data eval_data dataset_train source",
    "tokenized": "tokenized_dataset tokenized_ds tokenized_datasets lm_dataset lm_datasets", "args": "training_args train_args config_args",
    "data_collator": "collator collate_fn collate", "lora_config": "peft_config lora", "config": "cfg model_config",
    "batch": "inputs enc encoding encoded model_inputs tokens", "train_dataloader": "loader dataloader train_loader eval_dataloader val_loader eval_loader dl test_loader",
    "optimizer": "opt optim", "scheduler": "sched lr_scheduler", "outputs": "out output", "input_ids": "generated ids target_ids completion_ids",
    "text": "prompt sentence message question query s line document passage", "messages": "chat conversation conv",
    "texts": "prompts batch_texts sentences questions docs lines", "name": "model_name model_id name_or_path model_path base_path base_name base_id repo repo_id "
               "tokenizer_name checkpoint base_16bit quantized_base model_dir unquantized_id full_precision_id model_base full_precision_base checkpoint_path",
    "folder": "path output_dir out_dir checkpoint_dir save_path save_dir ckpt_dir cache_dir weights_dir directory dst out_path",
    "adapter": "adapter_dir adapter_path lora_path adapter_id adapter_name_or_path peft_path peft_model_id lora_dir", "state_dict": "sd state full_sd weights",
    "labels": "target targets y label_ids", "x": "hidden_states hidden tensor a b features value array v q k h emb t inputs_embeds x1 x2 z noise loss_vec mat embeds",
    "attention_mask": "mask", "bnb_config": "quantization_config quant_config", "row": "example sample item r ex record", "rows": "examples samples records data_list",
    "loss_fn": "criterion loss_fct loss_function", "preds": "predictions", "references": "refs train_labels",     "loss": "eval_loss token_loss train_loss task_loss",
    "zero": "rank local_rank i layer_idx step global_step seed", "two": "num_labels batch_size bsz n per_device_train_batch_size grad_accum gradient_accumulation_steps num_classes k_shot micro_batch_size correct N",
    "four": "seq_len length max_length max_len new_tokens max_new_tokens block_size", "one": "world_size warmup num_gpus n_gpus", "epochs": "num_epochs num_train_epochs",
    "total_steps": "max_train_steps num_training_steps max_steps num_steps total steps", "params": "trainable parameters", "function": "fn tokenize preprocess f preprocess_function tokenize_fn prepare",
    "reward": "my_reward reward_fn reward_func reward_len", "kwargs": "gen_kwargs options extra", "dtype": "compute_dtype torch_dtype", "frame": "df",
    "image": "img", "images": "imgs", "compute_metrics": "metric_fn", "lr": "learning_rate", "losses": "parts all_losses", "logits": "scores",
}  # fmt: skip
"""The stand-in of a name (`StandIns.make_…`), and the other names that excerpts use for the same thing."""
SYNONYMS = {other: name for name, others in SAME.items() for other in others.split()}
SMALL = {
    "vocab_size": 64, "hidden_size": 16, "d_model": 16, "n_embd": 16, "dim": 16, "intermediate_size": 32, "d_ff": 32, "ffn_dim": 32, "num_hidden_layers": 2,
    "num_layers": 2, "n_layer": 2, "num_attention_heads": 2, "num_heads": 2, "n_head": 2, "num_key_value_heads": 2, "max_position_embeddings": 128,
    "n_positions": 128, "pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 3, "d_kv": 8, "head_dim": 8, "decoder_start_token_id": 1,
    "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32,
    "image_size": 32, "patch_size": 16, "num_experts": 4, "num_local_experts": 4, "moe_intermediate_size": 16,
}  # fmt: skip


DEEPSPEED = {
    "zero_optimization": {"stage": 2}, "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto", "train_batch_size": "auto",
    "bf16": {"enabled": "auto"}, "fp16": {"enabled": "auto"}, "gradient_clipping": "auto",
}  # fmt: skip
"""What a file of the reader's DeepSpeed settings holds."""
LOADABLE = (
    "config.json",
    "adapter_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "generation_config.json",
    "preprocessor_config.json",
)
FIRM = ("args", "trainer", "tokenizer", "name", "folder", "adapter", "lora_config", "bnb_config", "device", "optimizer", "dtype", "zero", "one", "two", "four", "lr",
        "epochs", "total_steps", "text", "texts", "messages", "data_collator", "generation_config", "reward", "kwargs")  # fmt: skip
"""Stand-ins that are what every reader has: a failure on them alone is the fix's."""


class StandIns:
    """Stand-ins by name. ``used``: the names that were asked for, apart from modules and classes of libraries."""

    def __init__(self, home):
        self.made = {}
        self.used = []
        self.trainer = ""
        self.columns = []
        self.without: set[str] = set()
        self.ids = self.quantizes = self.out_is_path = False
        self.saved = os.path.join(home, "saved")
        self.saved_adapter = os.path.join(home, "adapter")
        torch.manual_seed(0)
        torch.set_num_threads(1)  # a forked process has none of the threads of its parent
        for heavy in (
            *MODULES,
            "trl.trainer.sft_trainer",
            "trl.trainer.dpo_trainer",
            "trl.trainer.grpo_trainer",
            "transformers.trainer",
            "torch._dynamo",
        ):
            with contextlib.suppress(ImportError, RuntimeError):
                importlib.import_module(heavy)
        self.named("tokenizer").save_pretrained(self.saved)
        self.named("model").save_pretrained(self.saved)
        self.make_peft_model().save_pretrained(self.saved_adapter)
        self.made.clear()
        self.used.clear()
        self._load_tiny_models()

    def named(self, name):
        """What a name stands for. Raises LookupError for a name that only the reader knows."""
        if name in ALIASES:
            return ALIASES[name]
        if name == "bnb" and self.quantizes:
            return self.named("bnb_config")
        wanted = "folder" if name == "out" and self.out_is_path else SYNONYMS.get(name, name)
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

    def fit_to(self, code):
        """Make the stand-ins fit a text: ``args`` become those of the trainer that it names (`trl.DPOConfig` for a ``DPOTrainer``), rows
        have the columns that it names, and an ``x`` that is given to a model is one of token ids."""
        found = re.search(r"\b(\w+)Trainer\(", code)
        self.trainer = found[1] if found else ""
        for file in re.findall(r"[\"']([\w.-]*(?:ds|zero|deepspeed)[\w.-]*\.json)[\"']", code):
            with open(file, "w", encoding="utf-8") as configuration:
                json.dump(DEEPSPEED, configuration)
        named = re.findall(r"\[[\"'](\w+)[\"']\]", code)
        for arguments in re.findall(
            r"(?:remove_columns|select_columns|rename_column|cast_column|class_encode_column|sort|unique)\(([^()]*)",
            code,
        ):
            named += re.findall(r"[\"'](\w+)[\"']", arguments)[: 1 if "rename" in code or "cast" in code else None]
        self.columns = [name for name in dict.fromkeys(named) if name not in ("train", "test", "validation")]
        self.without = set(re.findall(r"rename_column\([\"']\w+[\"'],\s*[\"'](\w+)", code)) | set(
            re.findall(r"add_column\([\"'](\w+)", code)
        )
        self.out_is_path = bool(re.search(r"[(,]\s*out\s*[),]|os\.path\.join\(out|Path\(out", code)) and not re.search(
            r"\bout[.\[]", code
        )
        self.quantizes = bool(re.search(r"=\s*bnb\b(?!\.)", code))
        self.ids = bool(re.search(r"(?:model|net|unwrapped)\((?:x|value|tensor|hidden)\b", code))

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
        self.ready_for_cpu(function, given)
        if inspect.ismethod(function) and function.__name__ == "generate" and not args and "input_ids" not in given:
            given.update(self.named("batch"))
        return function(*args, **given)

    @staticmethod
    def ready_for_cpu(function, given):
        """Arguments of a trainer that only say where it runs."""
        if inspect.isclass(function) and issubclass(function, transformers.TrainingArguments):
            given.setdefault("report_to", [])
            if not given.get("fp16"):
                given.setdefault("use_cpu", True)

    def argument(self, name, function):
        """The value of an argument that an excerpt left out."""
        owner = getattr(function, "__name__", "")
        if name == "args" and owner.endswith("Trainer"):
            maker = (
                getattr(importlib.import_module("trl"), owner.replace("Trainer", "Config"), None)
                if owner != "Trainer"
                else None
            )
            return maker(output_dir=self.named("folder"), report_to=[], use_cpu=True) if maker else self.named("args")
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

    # --- the stand-ins ------------------------------------------------------------------------------------------------

    def make_tokenizer(self):
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel
        from tokenizers.pre_tokenizers import Whitespace

        special = ["<unk>", "<pad>", "<s>", "</s>", "<mask>", "<|im_start|>", "<|im_end|>"]
        raw = Tokenizer(
            WordLevel({word: i for i, word in enumerate([*special, *dict.fromkeys(WORDS)])}, unk_token="<unk>")
        )
        raw.pre_tokenizer = Whitespace()
        made = transformers.PreTrainedTokenizerFast(
            tokenizer_object=raw, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>", mask_token="<mask>",
            model_max_length=64,
        )  # fmt: skip
        made.chat_template = CHAT_TEMPLATE
        return made

    def make_config(self):
        return small(transformers.LlamaConfig)

    def make_model(self):
        return transformers.LlamaForCausalLM(self.named("config"))

    def make_peft_model(self):
        import peft

        return peft.get_peft_model(self.make_model(), self.named("lora_config"))

    def make_lora_config(self):
        import peft

        return peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")

    def make_adapter(self):
        return self.saved_adapter

    def make_bnb_config(self):
        return transformers.BitsAndBytesConfig(load_in_4bit=True)

    def make_module(self):
        return torch.nn.Linear(16, 16)

    def make_folder(self):
        os.makedirs("out", exist_ok=True)
        return "out"

    def make_name(self):
        return self.saved

    def make_args(self):
        import trl

        with contextlib.suppress(AttributeError, ImportError, RuntimeError):
            return getattr(trl, f"{self.trainer}Config")(
                output_dir=self.named("folder"), report_to=[], max_steps=2, use_cpu=True, bf16=False
            )
        return transformers.TrainingArguments(output_dir=self.named("folder"), report_to=[], max_steps=2, use_cpu=True)

    def make_dataset(self):
        rows = [
            {"text": "the quick brown fox", "prompt": "hello", "completion": " world", "chosen": "yes", "rejected": "no", "label": i % 2,
             "question": "hello", "answer": "world", "instruction": "hello", "input": "the", "output": "world", "labels": [4, 5, 6, 7],
             "input_ids": [4, 5, 6, 7], "attention_mask": [1, 1, 1, 1], "response": "world", "query": "hello",
             "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "world"}],
             "conversations": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "world"}]}
            for i in range(8)
        ]  # fmt: skip
        columns = [name for name in dict.fromkeys([*rows[0], *self.columns]) if name not in self.without]
        return datasets.Dataset.from_list([{name: row.get(name, "hello") for name in columns} for row in rows])

    def make_tokenized(self):
        rows = [{"input_ids": [4, 5, 6, 7], "attention_mask": [1, 1, 1, 1], "labels": [4, 5, 6, 7]} for _ in range(8)]
        return datasets.Dataset.from_list(rows)

    def make_rows(self):
        return self.named("dataset").to_list()

    def make_row(self):
        return dict(self.named("dataset")[0])

    def make_frame(self):
        return self.named("dataset").to_pandas()

    def make_data_collator(self):
        return transformers.DataCollatorForLanguageModeling(self.named("tokenizer"), mlm=False)

    def make_train_dataloader(self):
        return torch.utils.data.DataLoader(
            self.named("tokenized"), batch_size=2, collate_fn=transformers.default_data_collator
        )

    def make_trainer(self):
        return transformers.Trainer(model=self.named("model"), args=self.named("args"), train_dataset=self.named("tokenized"),
                                    eval_dataset=self.named("tokenized"), data_collator=self.named("data_collator"))  # fmt: skip

    def make_optimizer(self):
        return torch.optim.AdamW(self.named("model").parameters(), lr=1e-3)

    def make_scheduler(self):
        return transformers.get_constant_schedule(self.named("optimizer"))

    def make_accelerator(self):
        import accelerate

        return accelerate.Accelerator(cpu=True)

    def make_scaler(self):
        made = torch.amp.GradScaler("cpu")
        made.scale(torch.tensor(1.0))  # as in the step before: it has its first factor
        return made

    def make_batch(self):
        made = self.named("tokenizer")(["the quick", "brown fox"], return_tensors="pt", padding=True)
        made["labels"] = made["input_ids"].clone()
        return made

    def make_input_ids(self):
        return torch.tensor([[4, 5, 6, 7], [5, 6, 7, 8]])

    def make_attention_mask(self):
        return torch.ones(2, 4, dtype=torch.long)

    def make_labels(self):
        return torch.tensor([[4, 5, 6, 7], [5, 6, 7, 8]])

    def make_logits(self):
        return torch.randn(2, 4, 64)

    def make_preds(self):
        return numpy.array([0, 1, 1, 0])

    def make_references(self):
        return numpy.array([0, 1, 0, 0])

    def make_loss(self):
        return self.named("model")(input_ids=self.named("input_ids"), labels=self.named("labels")).loss

    def make_losses(self):
        return [torch.tensor(1.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)]

    def make_loss_a(self):
        return torch.tensor(1.0, requires_grad=True)

    def make_loss_b(self):
        return torch.tensor(2.0, requires_grad=True)

    def make_outputs(self):
        return self.named("model")(input_ids=self.named("input_ids"), labels=self.named("labels"))

    def make_x(self):
        return self.make_input_ids() if self.ids else torch.randn(2, 16)

    def make_state_dict(self):
        return self.named("model").state_dict()

    def make_params(self):
        return [parameter for parameter in self.named("model").parameters() if parameter.requires_grad]

    def make_text(self):
        return "the quick brown fox"

    def make_texts(self):
        return ["the quick", "brown fox jumps"]

    def make_messages(self):
        return [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "world"}]

    def make_device(self):
        return torch.device("cpu")

    def make_loss_fn(self):
        return torch.nn.CrossEntropyLoss()

    def make_zero(self):
        return 0

    def make_one(self):
        return 1

    def make_two(self):
        return 2

    def make_four(self):
        return 4

    def make_epochs(self):
        return 1

    def make_total_steps(self):
        return 2

    def make_lr(self):
        return 1e-3

    def make_kwargs(self):
        return {}

    def make_dtype(self):
        return torch.bfloat16

    def make_image(self):
        from PIL import Image

        return Image.new("RGB", (32, 32))

    def make_images(self):
        return [self.make_image(), self.make_image()]

    def make_function(self):
        tokenizer = self.named("tokenizer")
        return lambda row: tokenizer(row["text"])

    def make_reward(self):
        def my_reward(completions, **kwargs):
            return [float(len(str(completion))) for completion in completions]

        return my_reward

    def make_compute_metrics(self):
        return lambda p: {"accuracy": 1.0}

    def make_generation_config(self):
        return transformers.GenerationConfig()

    def make_sixteen(self):
        return 16

    def make_column(self):
        return "text"

    def make_columns(self):
        return ["text"]

    def make_main(self):
        return lambda *args: None

    def make_values(self):
        return [1.0, 2.0]

    def make_probs(self):
        return self.named("logits").softmax(-1)

    def make_pixel_values(self):
        return torch.randn(2, 3, 32, 32)

    def make_audio(self):
        return numpy.zeros(16_000, dtype=numpy.float32)

    def make_sampling_rate(self):
        return 16_000

    def make_past_key_values(self):
        return transformers.DynamicCache()

    def make_parser(self):
        return argparse.ArgumentParser()

    def make_ds_config(self):
        return dict(DEEPSPEED)

    def make_files(self):
        with open("train.jsonl", "w", encoding="utf-8") as file:
            file.write('{"text": "hello"}\n')
        return ["train.jsonl"]

    # --- loading -------------------------------------------------------------------------------------------------------

    def _load_tiny_models(self):
        """Names of the Hub and paths that are not there load tiny models, through the libraries' own loading code."""
        import peft

        kit, place = self, self.saved

        def local(name):
            name = str(name)
            return name != place and (
                os.path.isfile(name) or any(os.path.isfile(os.path.join(name, file)) for file in LOADABLE)
            )

        def loading(owner, adapt):
            real = owner.from_pretrained.__func__

            def instead(cls, *args, _real=real, **options):
                return adapt(cls, _real, *args, **options)

            owner.from_pretrained = classmethod(instead)

        def whole(cls, real, name, *args, **options):
            for option in ("revision", "subfolder"):
                options.pop(option, None)
            return real(cls, name if local(name) else place, *args, **options)

        def of_class(cls, real, name, *args, **options):
            if local(name) or name is None or (name == place and cls.config_class is transformers.LlamaConfig):
                return real(cls, name, *args, **options)
            for option in ("revision", "subfolder"):
                options.pop(option, None)
            return real(cls, kit.saved_of(cls), *args, **options)

        auto = [
            value
            for name, value in vars(transformers.models.auto.modeling_auto).items()
            if name.startswith("AutoModel") and inspect.isclass(value)
        ]
        for owner in auto:
            loading(
                owner,
                lambda cls, real, name, *args, **options: whole_of_auto(kit, cls, real, name, args, options, local),
            )
        for owner in (
            transformers.AutoTokenizer,
            transformers.AutoConfig,
            transformers.AutoProcessor,
            transformers.GenerationConfig,
        ):
            loading(owner, whole)
        loading(transformers.PreTrainedModel, of_class)
        loading(
            transformers.PreTrainedTokenizerBase,
            lambda cls, real, name, *args, **options: real(cls, name if local(name) else place, *args, **options),
        )

        def adapted(cls, real, model, name, *args, **options):
            return real(cls, model, name if local(name) else kit.saved_adapter, *args, **options)

        loading(peft.PeftModel, adapted)
        loading(
            peft.PeftConfig,
            lambda cls, real, name, *args, **options: real(
                cls, name if local(name) else kit.saved_adapter, *args, **options
            ),
        )
        for owner in (value for name, value in vars(peft).items() if name.startswith("AutoPeftModel")):
            loading(
                owner,
                lambda cls, real, name, *args, **options: real(
                    cls, name if local(name) else kit.saved_adapter, *args, **options
                ),
            )

        def load_dataset(*args, **options):
            found = kit.make_dataset()
            found = found if options.get("split") else datasets.DatasetDict(train=found, test=found, validation=found)
            if options.get("streaming"):
                return (
                    found.to_iterable_dataset()
                    if options.get("split")
                    else datasets.IterableDatasetDict({k: v.to_iterable_dataset() for k, v in found.items()})
                )
            return found

        datasets.load_dataset = load_dataset

    def saved_of(self, cls):
        """A folder with a tiny model of a class of transformers."""
        place = os.path.join(os.getcwd(), "tiny-" + cls.__name__)
        if not os.path.isdir(place):
            cls(small(cls.config_class)).save_pretrained(place)
            self.make_tokenizer().save_pretrained(place)
        return place


AUTO = {
    "AutoModelForSeq2SeqLM": "T5ForConditionalGeneration", "AutoModelForMaskedLM": "BertForMaskedLM", "AutoModelForTokenClassification": "BertForTokenClassification",
    "AutoModelForQuestionAnswering": "BertForQuestionAnswering", "AutoModelForImageClassification": "ViTForImageClassification",
    "AutoModelForMultipleChoice": "BertForMultipleChoice", "AutoModelForSpeechSeq2Seq": "WhisperForConditionalGeneration",
}  # fmt: skip
"""Automatic classes that do not load the tiny Llama, and the class of which they load one."""


def whole_of_auto(kit, cls, real, name, args, options, local):
    for option in ("revision", "subfolder"):
        options.pop(option, None)
    if not local(name):
        name = kit.saved_of(getattr(transformers, AUTO[cls.__name__])) if cls.__name__ in AUTO else kit.saved
    return real(cls, name, *args, **options)


def small(config_class):
    """A configuration of a class with small sizes."""
    made = config_class()
    taken = set(made.to_dict())
    given = {
        name: value for name, value in SMALL.items() if name in taken or name in getattr(made, "attribute_map", {})
    }
    return config_class(**given)
