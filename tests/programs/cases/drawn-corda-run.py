from peft import LoraConfig
from peft.tuners.lora.config import CordaConfig
from peft.tuners.lora.corda import preprocess_corda
from tiny import model, tokenizer

net, row = model(), tokenizer()("the cat sat", return_tensors="pt", return_token_type_ids=False)
lora = LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights="corda", corda_config=CordaConfig(corda_method="kpm"))
preprocess_corda(net, lora, run_model=None)
print(lora.init_lora_weights)
