"""Names of the Hub and paths that are not there load tiny models, through the libraries' own loading code."""

import contextlib
import inspect
import os

import datasets
import transformers

from .models import small

LOADABLE = (
    "config.json",
    "adapter_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "generation_config.json",
    "preprocessor_config.json",
)
"""Files of which a folder that is there has one."""
AUTO = {
    "AutoModelForSeq2SeqLM": "T5ForConditionalGeneration", "AutoModelForMaskedLM": "BertForMaskedLM", "AutoModelForTokenClassification": "BertForTokenClassification",
    "AutoModelForQuestionAnswering": "BertForQuestionAnswering", "AutoModelForImageClassification": "ViTForImageClassification",
    "AutoModelForMultipleChoice": "BertForMultipleChoice", "AutoModelForSpeechSeq2Seq": "WhisperForConditionalGeneration",
}  # fmt: skip
"""Automatic classes that do not load the tiny Llama, and the class of which they load one."""


def load_tiny_models(kit):
    """Names of the Hub and paths that are not there load tiny models, through the libraries' own loading code."""
    import peft

    place = kit.saved

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
        on_the_cpu(options)
        if local(name) or name is None or (name == place and cls.config_class is transformers.LlamaConfig):
            return real(cls, name, *args, **options)
        for option in ("revision", "subfolder"):
            options.pop(option, None)
        return real(cls, saved_of(kit, cls), *args, **options)

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

    with contextlib.suppress(ImportError):
        import diffusers

        loading(
            diffusers.DiffusionPipeline,
            lambda cls, real, name, *args, **options: real(
                cls,
                name if os.path.isfile(os.path.join(str(name), "model_index.json")) else kit.saved_pipe(),
                *args,
                **options,
            ),
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

    def load_metric(*args, **options):
        return kit.make_metric()

    with contextlib.suppress(ImportError):
        import evaluate

        evaluate.load = load_metric

    def load_dataset(*args, **options):
        found = kit.make_dataset() if options.get("split") else kit.make_splits()
        if options.get("streaming"):
            return (
                found.to_iterable_dataset()
                if options.get("split")
                else datasets.IterableDatasetDict({k: v.to_iterable_dataset() for k, v in found.items()})
            )
        return found

    datasets.load_dataset = load_dataset


def saved_of(kit, cls):
    """A folder with a tiny model of a class of transformers."""
    place = os.path.join(os.getcwd(), "tiny-" + cls.__name__)
    if not os.path.isdir(place):
        cls(small(cls.config_class)).save_pretrained(place)
        kit.make_tokenizer().save_pretrained(place)
    return place


def whole_of_auto(kit, cls, real, name, args, options, local):
    for option in ("revision", "subfolder"):
        options.pop(option, None)
    on_the_cpu(options)
    if not local(name):
        name = saved_of(kit, getattr(transformers, AUTO[cls.__name__])) if cls.__name__ in AUTO else kit.saved
    return real(cls, name, *args, **options)


def on_the_cpu(options):
    """Read the devices that a model is spread over as the processor."""
    places = options.get("device_map")
    if isinstance(places, dict):
        options["device_map"] = dict.fromkeys(places, "cpu")
    elif isinstance(places, int) or str(places).startswith("cuda"):
        options["device_map"] = "cpu"
