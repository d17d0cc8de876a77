from trl import DistillationConfig

args = DistillationConfig("out", use_cpu=True, bf16=False, beta=1.5)
