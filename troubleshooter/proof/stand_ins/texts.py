"""Tokenizers and what is written in words: texts, chats."""

import contextlib
import json
import os

import transformers

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


class Texts:
    """The tokenizer of 30 words, and texts."""

    def save_tokenizer(self, folder):
        """Save the tokenizer in all the forms that the classes of transformers load: tokenizer.json, SentencePiece, WordPiece, BPE."""
        self.make_tokenizer().save_pretrained(folder)
        with contextlib.suppress(ImportError):
            import sentencepiece

            with open(os.path.join(folder, "tokenizer.model"), "wb") as file:
                sentencepiece.SentencePieceTrainer.train(
                    sentence_iterator=iter([" ".join(WORDS)] * 4), model_writer=file, vocab_size=60, model_type="bpe", minloglevel=2
                )  # fmt: skip
        letters = [chr(code) for code in range(97, 123)]
        forms = {
            "vocab.txt": "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]),
            "vocab.json": json.dumps({piece: i for i, piece in enumerate(["<|endoftext|>", *letters, "th", "the"])}),
            "merges.txt": "#version: 0.2\nt h\nth e\n",
        }
        for name, text in forms.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)

    def make_raw_tokenizer(self):
        return self.make_tokenizer().backend_tokenizer

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

    def make_text(self):
        return "the quick brown fox"

    def make_texts(self):
        return ["the quick", "brown fox jumps"]

    def make_messages(self):
        return [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "world"}]

    def make_column(self):
        return "text"

    def make_columns(self):
        return ["text"]
