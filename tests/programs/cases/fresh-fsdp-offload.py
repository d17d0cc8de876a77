from accelerate import FullyShardedDataParallelPlugin

plugin = FullyShardedDataParallelPlugin(fsdp_version=1, cpu_offload="params")
