from tiny import tokenizer

rows = {"prompt": ["the cat sat", "a dog ran"], "answer": [3, 5]}
encode = tokenizer()
prompts = encode(rows["prompt"], padding=True)
answers = encode(rows["answer"], padding=True)
print(len(prompts["input_ids"]), len(answers["input_ids"]))
