"""What a text asks of the stand-ins: read from its words alone, so that a data set has the columns that it names and a file is there that it reads."""

import ast
import re

from .names import SYNONYMS

ADAPTED = re.compile(
    r"\.(?:peft_config|merge_and_unload|add_weighted_adapter|disable_adapter|set_adapter|delete_adapter|(?:un)?merge_adapter|unload"
    r"|active_adapters?|print_trainable_parameters|get_base_model|add_adapter|load_adapter|base_model_name_or_path)\b|get_peft_model_state_dict|base_model\.model"
)
"""Attributes of a model that has an adapter."""
MAKES_ADAPTER = re.compile(r"get_peft_model\(|PeftModel\w*[.(]|add_adapter\(|FromPretrained|peft_config=")
RAW = re.compile(
    r"tokenizer_object=(\w+)|\b(tokenizer|tok|raw)\.(?:train|train_from_iterator|save|encode_batch|enable_truncation|enable_padding|get_vocab_size|to_str|from_str)\("
)
"""Methods of a tokenizer of the tokenizers library."""
PROCESSES = re.compile(
    r"processor\.(?:tokenizer|image_processor|feature_extractor|image_token|patch_size)\b|processor\([^()\n]*(?:\([^()]*\)[^()\n]*)*\bimages?="
)
HEARS = re.compile(r"processor\.feature_extractor|processor\([^()\n]*(?:audio|sampling_rate)|[Ww]hisper")
"""Uses of a processor of pictures, or of sound, where others mean a tokenizer."""
FILE = re.compile(
    r"^[\w./*-]+\.(?:safetensors|bin|pt|pth|ckpt|jsonl?|csv|tsv|parquet|txt|png|jpe?g|wav|ya?ml|npy|model|jit|index)$"
)
WRITES = re.compile(
    r"(?i)save|write|dump|mkdir|export|upload|download|push|remove|unlink|to_(?:csv|json|parquet|disk)|rename|cached_file|exists|isfile"
)
READERS = {
    "torch.load": "model.pt", "load_file": "model.safetensors", "safe_open": "model.safetensors", "Image.open": "image.png", "np.load": "array.npy",
    "read_csv": "train.csv", "read_json": "train.jsonl", "read_parquet": "train.parquet", "open": "train.jsonl", "sf.read": "audio.wav",
    "Tokenizer.from_file": "tokenizer.json",
}  # fmt: skip
"""The file that a variable names where one of these reads it."""
CHECKPOINT = re.compile(r"checkpoint-\d+")


class TextNeeds:
    """What is wished for by the Python ``code``."""

    def __init__(self, code=""):
        found = re.search(r"\b(\w+)Trainer\(", code)
        self.trainer = found[1] if found else ""
        """``DPO`` where the text makes a ``DPOTrainer``."""
        named = re.findall(r"\[[\"'](\w+)[\"']\]", code)
        for arguments in re.findall(
            r"(?:remove_columns|select_columns|rename_column|cast_column|class_encode_column|sort|unique)\(([^()]*)",
            code,
        ):
            named += re.findall(r"[\"'](\w+)[\"']", arguments)[: 1 if "rename" in code or "cast" in code else None]
        self.columns = [name for name in dict.fromkeys(named) if name not in ("train", "test", "validation")]
        """Columns that the data set has, besides the usual ones."""
        self.without = set(re.findall(r"rename_column\([\"']\w+[\"'],\s*[\"'](\w+)", code)) | set(
            re.findall(r"add_column\([\"'](\w+)", code)
        )
        """Columns that the text makes itself."""
        self.split = set(re.findall(r"\b(\w+)\[[\"'](?:train|test|validation)[\"']\]", code))
        """Names of data sets that have splits."""
        self.out_is_path = bool(re.search(r"[(,]\s*out\s*[),]|os\.path\.join\(out|Path\(out", code)) and not re.search(
            r"\bout[.\[]", code
        )
        self.quantizes = bool(re.search(r"=\s*bnb\b(?!\.)", code))
        self.ids = bool(re.search(r"(?:model|net|unwrapped)\((?:x|value|tensor|hidden)\b", code))
        """Whether an ``x`` is one of token ids."""
        self.adapted = bool(ADAPTED.search(code)) and not MAKES_ADAPTER.search(code) and "active_adapters()" not in code
        raw = RAW.search(code)
        self.raw_tokenizer = (raw[1] or raw[2]) if raw else ""
        """The name of a tokenizer of the tokenizers library."""
        self.processes = bool(PROCESSES.search(code))
        self.hears = bool(HEARS.search(code))
        self.files = read_files(code)
        self.paths = {
            name: file
            for reader, file in READERS.items()
            for name in re.findall(rf"(?<![\w.]){re.escape(reader)}\((?:str\()?(\w+)[,)]", code)
            + (re.findall(rf"\.{reader}\((\w+)[,)]", code) if reader.startswith("read_") else [])
            if SYNONYMS.get(name, name) in ("folder", "name", "adapter", "file")
        }
        """Variables that name a file, and the file."""
        self.checkpoints = CHECKPOINT.findall(code) or (
            ["checkpoint-2"] if re.search(r"resume_from_checkpoint=True|get_last_checkpoint", code) else []
        )
        """Folders of checkpoints that are there, as a trainer names them."""
        self.checkpoint_parents = {
            found.removesuffix("/") for found in re.findall(r"[\"']([\w./-]*?)checkpoint-\d+", code)
        } | {"out", "."}


def read_files(code):
    """The names of files that a text reads: strings with a known ending that are given to nothing that writes."""
    found, passed = [], set()
    for node in ast.walk(ast.parse(code)):
        writes = isinstance(node, ast.Call) and (
            WRITES.search(called := ast.unparse(node.func).rpartition(".")[2])
            or (
                called == "open"
                and any(isinstance(a, ast.Constant) and str(a.value)[:1] in "wa" for a in node.args[1:])
            )
        )
        if writes:
            passed |= {id(inner) for argument in node.args for inner in ast.walk(argument)}
            passed |= {id(inner) for keyword in node.keywords for inner in ast.walk(keyword.value)}
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            name = node.value.removeprefix("./")
            if FILE.match(name) and ".." not in name:
                found.append(name.lstrip("/") if name.count("/") == 1 and name.startswith("/") else name)
    return [name for name in dict.fromkeys(found) if not name.startswith("/")]
