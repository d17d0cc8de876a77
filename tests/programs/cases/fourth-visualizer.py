from tiny import TEXTS, tokenizer
from tokenizers.tools import EncodingVisualizer

show = EncodingVisualizer(tokenizer().backend_tokenizer, default_to_notebook=True)
page = show(TEXTS[0])
