from tiny import tokenizer

tok = tokenizer()
template = {"start_anchor": "assistant", "fields": {"content": {"close": "<eos>"}}}
print(tok.parse_response("the cat sat<eos>", template))
