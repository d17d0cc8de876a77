from trl.experimental.iw_opd import IWOPDConfig

args = IWOPDConfig("out", use_teacher_server=True, teacher_model_server_url="http://localhost:8000", beta=0.0, loss_top_k=0,
                   use_cpu=True, bf16=False)
print(args.loss_top_k)
