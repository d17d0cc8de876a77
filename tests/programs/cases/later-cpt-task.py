from peft import CPTConfig

config = CPTConfig(task_type="SEQ_CLS", num_virtual_tokens=2, cpt_token_ids=[1, 2], cpt_mask=[1, 1], cpt_tokens_type_mask=[1, 1])
