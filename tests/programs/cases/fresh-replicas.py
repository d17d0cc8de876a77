from accelerate import ParallelismConfig

shape = ParallelismConfig(dp_replicate_size=0)
