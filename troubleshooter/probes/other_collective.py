"""Do two ranks that run different collectives fail with "Detected mismatch between collectives" here?

The ranks are two threads with a gloo group each, wrapped as TORCH_DISTRIBUTED_DEBUG=DETAIL wraps it.
"""

QUESTION = "Does torch stop two ranks that run different collectives here?"
NEEDS = ["torch"]
PARAMETERS = {}
DEVICES = ["cpu"]
LOOPBACK = True
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
# TORCH_DISTRIBUTED_DEBUG=DETAIL torchrun --nproc_per_node 2 this.py
import torch, torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    dist.all_reduce(torch.ones(4))      # rank 1 goes on to the next collective
dist.barrier()
"""


def run(kit):
    kit.expects("RuntimeError", r"Detected mismatch between collectives on ranks")
    torch = kit.need("torch")
    import concurrent.futures
    import datetime

    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    if not dist.is_available() or not dist.is_gloo_available():
        kit.undecided("this torch is built without torch.distributed and gloo")
    limit = datetime.timedelta(seconds=20)

    def rank(number, name, work, store):
        inner = dist.ProcessGroupGloo(dist.PrefixStore(name, store), number, 2, limit)
        work(number, c10d._create_process_group_wrapper(inner, name + "detail", store, number, 2, limit), torch.ones(4))

    def ranks(name, work):
        store = dist.HashStore()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for one in [pool.submit(rank, number, name, work, store) for number in range(2)]:
                one.result()

    def only_first(number, group, values):
        (group.allreduce if number == 0 else group.barrier)(*([[values]] if number == 0 else [])).wait()

    def same_path(number, group, values):
        group.allreduce([values]).wait()

    if kit.symptom("rank 0 in all_reduce, rank 1 in barrier", lambda: ranks("apart", only_first)):
        kit.fix("same-path", "all ranks run it", lambda: ranks("together", same_path), words=r"# wrong: if rank == 0")
