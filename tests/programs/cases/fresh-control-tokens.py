from tiny import CHAT, tokenizer

text = tokenizer(chat_template=CHAT)
text.apply_chat_template([{"role": "user", "content": "who"}], tokenize=False, sanitize_control_tokens=True)
