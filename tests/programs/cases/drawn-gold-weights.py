from trl.experimental.gold import GOLDConfig

args = GOLDConfig("out", use_uld_loss=True, uld_use_hybrid_loss=True, uld_hybrid_matched_weight=0.7, use_cpu=True, bf16=False)
print(args.uld_hybrid_matched_weight)
