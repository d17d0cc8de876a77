from tiny import tokenizer
from trl.chat_template_utils import get_training_chat_template

turns = "{% for m in messages %}{{ m['role'] }} {% generation %}{{ m['content'] }}{% endgeneration %} {% endfor %}"
tok = tokenizer(chat_template=turns)
print(get_training_chat_template(tok, tokenizer=tok))
