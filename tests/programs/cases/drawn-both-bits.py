from accelerate.utils import BnbQuantizationConfig

bits = BnbQuantizationConfig(load_in_8bit=True, load_in_4bit=True, llm_int8_threshold=6)
print(bits)
