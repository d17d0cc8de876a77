from transformers import GenerationConfig

generation = GenerationConfig(max_new_tokens=8, do_sample=False, temperature=0.3)
generation.save_pretrained("gen")
