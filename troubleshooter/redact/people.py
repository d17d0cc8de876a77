"""Patterns for who ran a job and where: user names, host names, mail and network addresses."""
# ruff: noqa: SIM905 (tables of words, which a line for each word would make unreadable)

from __future__ import annotations

import re

GENERIC = frozenset(
    "user root ubuntu runner jovyan ec2-user sagemaker-user coder vscode azureuser admin administrator ray app "
    "appuser nobody docker work workspace kaggle colab public default shared all guest test tests data share common "
    "opt local home debian centos fedora gitpod codespace jenkins builder build conda anaconda miniconda mambauser "
    "node hadoop spark airflow me you username name project projects model models train training runs scratch tmp "
    "temp users root-user my-user your-user someone desktop downloads documents owner login git x".split()
)
"""Names of accounts and folders that identify nobody."""

PLAIN = frozenset(
    "torch transformers accelerate peft trl datasets unsloth deepspeed python numpy pandas loss error cuda nccl "
    "eval step epoch rank true false none main file line self config trainer adapter llama qwen gemma mistral phi "
    "mixtral falcon bert gpt lora qlora dev lib env job jobs out log logs run lab web api src bin core base lite "
    "fast mini deep data info date time size code note next last list dict text word token tokens batch cache graph "
    "layer layers model open read write load save start stop image video audio localhost host hostname master "
    "worker head server client gpu cpu node0 node1 auto static etcd c10d info warning debug expected argument "
    "invalid required missing unknown not must cannot could failed name address unset value option string key found "
    "given kernel version release server ami".split()
)
"""Ordinary words of logs. Even if one of them is also somebody's name, it is replaced only where a pattern found it."""

_N = r"[A-Za-z][\w.-]{0,62}\w"
_HOME = r"(?:/(?:home|Users|users|u)/|[A-Za-z]:(?:\\{1,2}|/)(?:Users|Documents and Settings)(?:\\{1,2}|/))"
HOME = re.compile(rf"(?P<kept>{_HOME})(?P<user>[^/\\\s:\"'<>|,;)*?]{{1,64}})")
SCRATCH = re.compile(
    r"(?P<kept>/scratch/(?:users?/)?|/(?:gpfs|lustre|beegfs|cephfs|fsx|nfs)\d{0,2}/(?:users?|work|scratch)/)"
    r"(?P<user>[A-Za-z][\w.-]{2,31})(?=/)"
)
"""A user's folder on a file system of a cluster."""
TILDE = re.compile(r"(?P<kept>(?<![\w/~.])~)(?P<user>[a-z][\w.-]{2,31})(?=/)")
USER = re.compile(
    r"(?P<kept>(?<![A-Za-z])(?:USER|LOGNAME|USERNAME|SUDO_USER|username|user_name)\\?['\"]?\s{0,2}[=:]\s{0,2}\\?['\"]?)(?P<user>[A-Za-z_][\w.-]{1,31})"
)
ACCOUNT = re.compile(
    r"(?P<kept>(?<![\w.])wandb\.ai/)(?!site/|home/|settings/|articles/|fully-connected/)(?P<user>[A-Za-z][\w-]{2,63})(?=/[\w.-])"
)
"""The owner in the address of a run at Weights & Biases. The name is replaced only there."""
LOGIN = re.compile(r"(?P<kept>\bCurrently logged in as: )(?P<user>[A-Za-z][\w-]{2,63})")
TEAM = re.compile(r"(?P<kept>\bCurrently logged in as: [\w.-]{1,64} \()(?P<user>[A-Za-z][\w-]{2,63})(?=\))")
PROMPT = re.compile(
    rf"(?<![\w./:@-])(?P<user>[a-zA-Z_][\w.-]{{0,31}})@(?P<host>{_N})(?=:[~/]|[\s:]?[#$%>]\s| [~/\w.-]{{1,80}}\][#$])"
)
SSH = re.compile(rf"(?P<kept>\b(?:ssh|scp|sftp|rsync|mosh)\b[^\n@]{{0,80}}?\s)(?P<user>[\w.-]{{1,32}})@(?P<host>{_N})")
HOSTS = (
    re.compile(r"(?i)(?P<kept>(?<![a-z])(?:hostname|master_addr|master-addr|rdzv[_-]endpoint|nodename|node_name|head_node|computername|servername|slurmd_nodename|slurm_(?:job_|step_)?nodelist|slurm_launch_node_ipaddr|host)\\?['\"]?\s{0,8}[=:]\s{0,3}\\?['\"]?|--(?:master|main|rdzv|head|node|host)[\w-]{0,16}\s{1,2})(?P<host>[a-z][\w-]{0,62}\w(?:\.[\w-]{1,63}){0,6})(?![\w-]|:[0-9a-f]{0,4}:)"),
    re.compile(rf"(?m)(?P<kept>^(?:\[[^\]\n]{{1,40}}\]:?\s{{0,2}})?)(?P<host>{_N})(?=:\d{{1,8}}:\d{{1,8}} \[\d{{1,3}}\])"),
    re.compile(rf"(?P<kept>\[)(?P<host>{_N})(?=:\d{{1,8}}\] (?:\*\*\*|\[ ?\d|mca|PMIX|pmix|prterun|orte))"),
    re.compile(rf"(?P<kept>\b(?:srun|slurmstepd|slurmd|sbatch|salloc): error: )(?P<host>{_N})(?=: task)"),
    re.compile(rf"(?P<kept>\bLinux )(?P<host>{_N})(?= \d{{1,2}}\.\d{{1,3}}\.\d)"),
    re.compile(rf"(?P<kept>\buname_result\([^\n]{{0,40}}?\bnode(?:name)?=['\"])(?P<host>{_N})"),
    re.compile(r"(?P<kept>\b(?:on (?:node|host)|slurmstepd: error: \*\*\* [^\n]{1,40} ON) )(?P<host>[a-z][a-z-]{0,40}\d[\w.-]{0,40})"),
)  # fmt: skip
MAIL = re.compile(r"(?<![\w.+%/-])[\w.+%-]{1,64}@(?P<domain>(?:[^\W_][\w-]{0,62}\.){1,6}[^\W\d_]{2,12})\b(?!\()")
KEPT_MAIL = frozenset(["git@github.com", "git@gitlab.com", "git@huggingface.co", "git@hf.co", "user@example.org"])
NUMBERS = re.compile(r"(?<![\w.@/-])(?P<mail>[\w.-]+)@(?P<host>\d{1,3}(?:\.\d{1,3}){3})")

IPV4 = re.compile(
    r"(?<![\w.])(?<!-)(?P<ip>(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d))(?![\w-])(?!\.\d)"
)
VERSIONS = re.compile(
    r"(?i)(?:[=<>!~]=\s{0,2}|\bv|so\.|version[^\n]{0,24}|driver[^\n]{0,24}|release[^\n]{0,16}|nvidia-[\w-]{1,40}[^\n]{0,24}|cud(?:nn|art|a)[^\n]{0,16}|nccl[ -][^\n]{0,8}|\b(?:cublas|cufft|curand|cusolver|cusparse|tensorrt|trt)[^\n]{0,16}|(?m:^)[A-Za-z][\w.-]{1,40}[ \t]{2,40})$"
)
"""Text in front of four numbers that are a version and not an address: ``nvidia-cublas-cu12 12.4.5.8``."""
IPV6 = re.compile(
    r"(?<![\w:.])(?P<ip>(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f])(?::[0-9a-f]{0,4}){2,7}|::ffff:\d{1,3}(?:\.\d{1,3}){3})(?![\w:])",
    re.IGNORECASE,
)
MAC = re.compile(r"(?<![\w:])(?P<mac>[0-9a-f]{2}(?::[0-9a-f]{2}){5})(?![\w:])", re.IGNORECASE)
CLOUD_HOST = re.compile(r"\bip-\d{1,3}(?:-\d{1,3}){3}(?:\.[\w-]+){0,4}")

NAMED = re.compile(
    r"(?P<scheme>(?:[a-z][a-z0-9+.-]{1,20}://(?:[^\s/@'\"]{0,400}@)?)?)(?<![\w@\\])(?<![\w]\.)(?P<host>(?:[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\.){1,6}(?P<end>[A-Za-z]{2,12}))(?![\w-])(?!\.\w)(?!\()"
)
ALONE = frozenset(["lan", "corp", "intranet", "localdomain"])
"""A name with one of these ends is always a host. Other ends need a further sign: ``google.protobuf.internal`` is a module."""
INSIDE = frozenset("local internal lan corp intranet localdomain cluster private home".split())
ENDS = frozenset("com net org edu gov mil cn".split()) | INSIDE
PUBLIC = tuple(
    "github.com githubusercontent.com github.io huggingface.co hf.co hf-mirror.com pytorch.org python.org pypi.org "
    "pythonhosted.org nvidia.com nvidia.cn google.com googleapis.com googlesource.com gstatic.com wandb.ai "
    "amazonaws.com microsoft.com azure.com windows.net aka.ms readthedocs.io readthedocs.org stackoverflow.com "
    "kaggle.com kaggleusercontent.com modelscope.cn modelscope.com aliyun.com aliyuncs.com tencent.com "
    "tuna.tsinghua.edu.cn tsinghua.edu.cn ustc.edu.cn anaconda.org anaconda.com conda.io docker.com docker.io "
    "gitlab.com gitee.com bitbucket.org openai.com anthropic.com cloudflare.com cloudfront.net ubuntu.com "
    "debian.org kernel.org gnu.org intel.com amd.com apple.com meta.com facebook.com fb.com mlflow.org comet.com "
    "comet.ml neptune.ai clear.ml lightning.ai ray.io databricks.com tensorflow.org keras.io numpy.org scipy.org "
    "pandas.pydata.org pydata.org scikit-learn.org apache.org mozilla.org wikipedia.org arxiv.org discord.com "
    "slack.com telegram.org sentry.io npmjs.org npmjs.com nodejs.org rust-lang.org crates.io golang.org maven.org "
    "oracle.com ibm.com redhat.com fedoraproject.org archlinux.org unsloth.ai vllm.ai sklearn.org pydantic.dev "
    "typer.tiangolo.com jupyter.org colab.research.google.com xethub.hf.co cdn-lfs.huggingface.co swanlab.cn "
    "baidu.com bcebos.com volces.com volcengine.com example.org example.com example.net w3.org json-schema.org "
    "yaml.org sqlalche.me sqlalchemy.org matplotlib.org opencv.org ffmpeg.org llvm.org cmake.org ietf.org "
    "ollama.com replicate.com together.xyz mistral.ai deepspeed.ai jax.dev openmpi.org open-mpi.org schedmd.com "
    "kubernetes.io k8s.io storage.googleapis.com".split()
)
"""Well-known hosts, with their subdomains. They identify nobody, and a diagnosis may need them."""
