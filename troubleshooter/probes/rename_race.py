"""Does a second rank fail to rename the staging folder of a checkpoint that the first has renamed already?

Two ranks train for one step; the second is made slow where a shared disk makes it slow: it renames after the first.
"""

QUESTION = "Does every rank of this transformers rename tmp-checkpoint-N?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {}
DEVICES = ["cpu"]
LOOPBACK = True
SETTLED_BY = []
PAIRS = [
    ("confirmed", {"transformers": "4.36.0", "accelerate": "0.27.2"}),
    ("not-here", {"transformers": "4.44.2", "accelerate": "1.2.1"}),
]
REPRODUCE = """
# torchrun --nproc_per_node 2 this.py
trainer = transformers.Trainer(model, transformers.TrainingArguments("out", save_steps=1, max_steps=1), train_dataset=rows)
trainer.train()
"""


def run(kit):
    import os
    import signal
    import socket
    import time

    kit.expects("OSError", r"(?:No such file or directory|Directory not empty).{0,400}tmp-checkpoint-\d+")
    torch, transformers, _ = kit.need("torch", "transformers", "accelerate")
    if not hasattr(os, "fork"):
        kit.undecided("the two ranks are made with os.fork, which this system has not")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, WORLD_SIZE="2", GLOO_SOCKET_IFNAME="lo")
    ids = torch.arange(3, 15)
    saved = os.path.join(kit.folder, "out", "checkpoint-1")

    class Slow(transformers.Trainer):
        def _save_rng_state(self, output_dir):
            super()._save_rng_state(output_dir)
            until = time.time() + 20
            while self.args.process_index == 1 and not os.path.isdir(saved) and time.time() < until:
                time.sleep(0.01)

    def train(rank):
        os.environ.update(RANK=rank, LOCAL_RANK=rank)
        how = dict(use_cpu=True, max_steps=1, save_steps=1, ddp_backend="gloo", report_to=[])
        args = transformers.TrainingArguments(os.path.dirname(saved), **how)
        Slow(model=kit.llama(), args=args, train_dataset=[dict(input_ids=ids, labels=ids)] * 32).train()

    first = os.fork()
    if first == 0:
        try:
            train("0")
        finally:
            os._exit(0)
    try:
        kit.symptom("rank 1 saves after rank 0", lambda: train("1"))
    finally:
        os.kill(first, signal.SIGKILL)  # it waits for the rank that failed
        os.waitpid(first, 0)
