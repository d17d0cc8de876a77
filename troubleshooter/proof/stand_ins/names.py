"""The names that excerpts use: where a library's name is looked for, and which stand-in a reader's name means."""

MODULES = (
    "transformers", "peft", "trl", "datasets", "accelerate", "torch", "torch.nn", "torch.utils.data", "torch.optim", "tokenizers",
    "huggingface_hub", "accelerate.utils", "safetensors.torch", "torch.distributed.fsdp", "torch.utils.checkpoint", "torch.distributed.device_mesh",
    "torch.distributed.checkpoint.state_dict", "collections", "pathlib", "functools", "itertools", "typing", "dataclasses", "contextlib",
    "trl.experimental", "transformers.trainer_utils", "PIL", "sklearn.metrics", "torch.nn.parallel", "torch.optim.lr_scheduler", "torch.distributed.tensor.parallel",
    "torch.distributed.tensor", "transformers.utils", "trl.experimental.gold", "transformers.models.llama.modeling_llama", "transformers.models.mixtral.modeling_mixtral",
    "peft.tuners.lora", "diffusers", "sentence_transformers", "sentence_transformers.losses", "sentence_transformers.evaluation", "omegaconf", "opacus",
    "lightning.pytorch.callbacks", "lightning.pytorch.strategies", "lightning.pytorch.loggers", "lightning.pytorch.cli", "deepspeed.pipe",
)  # fmt: skip
"""Where a class or function is looked for that an excerpt uses without an import."""
ABBREVIATED = {
    "pd": "pandas",
    "bnb": "bitsandbytes",
    "pl": "lightning",
    "L": "lightning",
    "wds": "webdataset",
    "gym": "gymnasium",
    "sf": "soundfile",
    "pq": "pyarrow.parquet",
    "pa": "pyarrow",
    "plt": "matplotlib.pyplot",
}
SAME = {
    "model": "base base_model net llm ref_model policy student teacher unwrapped unwrapped_model actor reward_model value_model backbone transformer",
    "peft_model": "lora_model adapted", "module": "layer block inner mlp layers0 wrapper",
    "tokenizer": "tok processing_class base_tokenizer text_tokenizer slow_tokenizer fast_tokenizer processor",
    "dataset": "ds train_dataset eval_dataset train_ds eval_ds val_dataset test_dataset val_ds test_ds dev_ds data raw raw_dataset raw_datasets train val my_dataset "
               "train_data eval_data dataset_train source",
    "tokenized": "tokenized_dataset tokenized_ds tokenized_datasets lm_dataset lm_datasets", "args": "training_args train_args config_args",
    "data_collator": "collator collate_fn collate", "lora_config": "peft_config lora", "config": "cfg model_config",
    "batch": "inputs enc encoding encoded model_inputs tokens", "train_dataloader": "loader dataloader train_loader eval_dataloader val_loader eval_loader dl test_loader",
    "optimizer": "opt optim", "scheduler": "sched lr_scheduler", "outputs": "out output", "input_ids": "generated ids target_ids completion_ids",
    "text": "prompt sentence message question query s line document passage", "messages": "chat conversation conv",
    "texts": "prompts batch_texts sentences questions docs lines", "name": "model_name model_id name_or_path model_path base_path base_name base_id repo repo_id "
               "tokenizer_name checkpoint base_16bit quantized_base model_dir unquantized_id full_precision_id model_base full_precision_base checkpoint_path",
    "folder": "path output_dir out_dir checkpoint_dir save_path save_dir ckpt_dir cache_dir weights_dir directory dst out_path",
    "adapter": "adapter_dir adapter_path lora_path adapter_id adapter_name_or_path peft_path peft_model_id lora_dir", "state_dict": "sd state full_sd weights",
    "labels": "target targets y label_ids", "x": "hidden_states hidden tensor a b features value array v q k h emb t inputs_embeds x1 x2 z noise loss_vec mat embeds",
    "attention_mask": "mask", "pipe": "pipeline pipeline_", "noise_scheduler": "ddpm_scheduler", "metric": "accuracy_metric accuracy", "file": "train_file data_file filename file_path", "bnb_config": "quantization_config quant_config", "row": "example sample item r ex record", "rows": "examples samples records data_list",
    "loss_fn": "criterion loss_fct loss_function", "preds": "predictions", "references": "refs train_labels",     "loss": "eval_loss token_loss train_loss task_loss",
    "zero": "rank local_rank i layer_idx step global_step seed", "two": "num_labels batch_size bsz n per_device_train_batch_size grad_accum gradient_accumulation_steps num_classes k_shot micro_batch_size correct N",
    "four": "seq_len length max_length max_len new_tokens max_new_tokens block_size", "one": "world_size warmup num_gpus n_gpus", "epochs": "num_epochs num_train_epochs",
    "total_steps": "max_train_steps num_training_steps max_steps num_steps total steps", "params": "trainable parameters", "function": "fn tokenize preprocess f preprocess_function tokenize_fn prepare",
    "reward": "my_reward reward_fn reward_func reward_len", "kwargs": "gen_kwargs options extra", "dtype": "compute_dtype torch_dtype", "frame": "df",
    "image": "img", "images": "imgs", "compute_metrics": "metric_fn", "lr": "learning_rate", "losses": "parts all_losses", "logits": "scores",
}  # fmt: skip
"""The stand-in of a name (`StandIns.make_…`), and the other names that excerpts use for the same thing."""
SYNONYMS = {other: name for name, others in SAME.items() for other in others.split()}
FIRM = ("args", "trainer", "tokenizer", "name", "folder", "adapter", "lora_config", "bnb_config", "device", "optimizer", "dtype", "zero", "one", "two", "four", "lr",
        "epochs", "total_steps", "text", "texts", "messages", "data_collator", "generation_config", "reward", "kwargs")  # fmt: skip
"""Stand-ins that are what every reader has: a failure on them alone is the fix's."""
