"""Does a second rendezvous on a port that is held fail here?"""

QUESTION = "Does a rendezvous on a port that another process holds fail here?"
NEEDS = ["torch"]
PARAMETERS = {}
DEVICES = ["cpu"]
LOOPBACK = True
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch.distributed as dist

first = dist.TCPStore("127.0.0.1", 0, is_master=True)           # any free port, as --standalone takes it
dist.TCPStore("127.0.0.1", first.port, is_master=True)          # a second run on the same port
"""


def run(kit):
    kit.expects(
        ("RuntimeError", "DistNetworkError"), r"server socket has failed to (?:listen|bind)|[Aa]ddress already in use"
    )
    kit.need("torch")
    import torch.distributed as dist

    if not dist.is_available():
        kit.undecided("this torch is built without torch.distributed")
    runs = [dist.TCPStore("127.0.0.1", 0, is_master=True)]

    def rendezvous(port):
        runs.append(dist.TCPStore("127.0.0.1", port, is_master=True))

    if kit.symptom("a second run on the port of the first", lambda: rendezvous(runs[0].port)):
        kit.fix("free-port", "a port that is free", lambda: rendezvous(0), words=r"--standalone")
        port = runs.pop(0).port
        kit.fix("ended", "the first run is ended", lambda: rendezvous(port), words=r"kill PID")
