from tiny import CHAT, tokenizer
from trl import apply_chat_template

example = {"question": [{"role": "user", "content": "who"}], "answer": [{"role": "assistant", "content": "the cat"}]}
print(apply_chat_template(example, tokenizer(chat_template=CHAT)))
