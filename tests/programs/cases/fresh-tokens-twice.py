from peft import TrainableTokensConfig, get_peft_model
from tiny import model

tuned = get_peft_model(model(), TrainableTokensConfig(token_indices=[4, 5]))
tuned.add_adapter("second", TrainableTokensConfig(token_indices=[5, 6]))
tuned.base_model.set_adapter(["default", "second"])
tuned(input_ids=__import__("torch").tensor([[4, 5]]))
