"""Secrets to plant: formats of many services, made up from random characters, each in the contexts where logs show them.

Every value is put together at run time, so that no text of this repository looks like a key to a scanner of a host.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


@dataclass(frozen=True)
class Planted:
    """A text with secrets in it. ``secrets`` may not be left in what is shared, not even eight characters of one."""

    name: str
    text: str
    secrets: tuple[str, ...]

    def leaks(self, shared: str) -> list[str]:
        """The secrets of which a part is left. Line breaks and quotes inside a secret do not hide it."""
        flat = shared.replace("\n", "")
        around = self.text.replace("\n", "").replace("\x1b[0m\x1b[32m", "")
        for secret in self.secrets:
            around = around.replace(secret, "")  # the text around it (GITHUB_PAT) is not part of the secret
        return [
            secret
            for secret in self.secrets
            if any(
                (part := secret[i : i + 8]) in flat and part.lower() not in around.lower()
                for i in range(max(1, len(secret) - 7))
            )
        ]


def take(pick: random.Random, characters: str, count: int) -> str:
    """Random characters with a digit and a letter in each eight, as a random key nearly always has."""
    out = ""
    while len(out) < count:
        block = "".join(pick.choice(characters) for _ in range(min(8, count - len(out))))
        plain = set(characters) <= set(string.digits) or len(block) < 8
        if plain or (any(c.isdigit() for c in block) and any(c.isalpha() for c in block)):
            out += block
    return out


def parts(*given: str | tuple[str, int]) -> Callable[[random.Random], str]:
    """A maker of values: fixed texts, and (characters, count) for random ones."""
    return lambda pick: "".join(part if isinstance(part, str) else take(pick, *part) for part in given)


# Service: the variable that holds its key, and how the key is made. Prefixes are cut in two for the same reason as above.
TOKENS: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "huggingface": ("HF_TOKEN", parts("h" + "f_", (ALNUM, 34))),
    "huggingface-org": ("HUGGINGFACEHUB_API_TOKEN", parts("api_" + "org_", (ALNUM, 34))),
    "huggingface-hub": ("HUGGING_FACE_HUB_TOKEN", parts("h" + "f_", (ALNUM, 37))),
    "wandb": ("WANDB_API_KEY", parts((HEX, 40))),
    "wandb-v1": ("WANDB_API_KEY", parts("wandb" + "_v1_", (URL_SAFE, 77))),
    "openai": ("OPENAI_API_KEY", parts("s" + "k-", (ALNUM, 48))),
    "openai-project": ("OPENAI_API_KEY", parts("sk-" + "proj-", (URL_SAFE, 120))),
    "openai-service": ("OPENAI_API_KEY", parts("sk-" + "svcacct-", (URL_SAFE, 100))),
    "openai-admin": ("OPENAI_ADMIN_KEY", parts("sk-" + "admin-", (URL_SAFE, 100))),
    "anthropic": ("ANTHROPIC_API_KEY", parts("sk-" + "ant-api03-", (URL_SAFE, 93), "AA")),
    "anthropic-admin": ("ANTHROPIC_ADMIN_KEY", parts("sk-" + "ant-admin01-", (URL_SAFE, 93), "AA")),
    "openrouter": ("OPENROUTER_API_KEY", parts("sk-" + "or-v1-", (HEX, 64))),
    "deepseek": ("DEEPSEEK_API_KEY", parts("s" + "k-", (HEX, 32))),
    "moonshot": ("MOONSHOT_API_KEY", parts("s" + "k-", (ALNUM, 48))),
    "dashscope": ("DASHSCOPE_API_KEY", parts("s" + "k-", (HEX, 32))),
    "siliconflow": ("SILICONFLOW_API_KEY", parts("s" + "k-", (LOWER, 48))),
    "stepfun": ("STEPFUN_API_KEY", parts((ALNUM, 50))),
    "minimax": ("MINIMAX_API_KEY", parts((ALNUM, 60))),
    "zhipu": ("ZHIPUAI_API_KEY", parts((HEX, 32), ".", (ALNUM, 16))),
    "mistral": ("MISTRAL_API_KEY", parts((ALNUM, 32))),
    "cohere": ("COHERE_API_KEY", parts((ALNUM, 40))),
    "cohere-co": ("CO_API_KEY", parts((ALNUM, 40))),
    "together": ("TOGETHER_API_KEY", parts((HEX, 64))),
    "together-v1": ("TOGETHER_API_KEY", parts("tgp" + "_v1_", (URL_SAFE, 43))),
    "groq": ("GROQ_API_KEY", parts("gs" + "k_", (ALNUM, 52))),
    "replicate": ("REPLICATE_API_TOKEN", parts("r" + "8_", (ALNUM, 37))),
    "fireworks": ("FIREWORKS_API_KEY", parts("f" + "w_", (ALNUM, 22))),
    "perplexity": ("PERPLEXITY_API_KEY", parts("pp" + "lx-", (ALNUM, 48))),
    "xai": ("XAI_API_KEY", parts("xa" + "i-", (ALNUM, 80))),
    "cerebras": ("CEREBRAS_API_KEY", parts("cs" + "k-", (LOWER, 48))),
    "nvidia": ("NVIDIA_API_KEY", parts("nv" + "api-", (URL_SAFE, 64))),
    "ngc": ("NGC_API_KEY", parts((BASE64[:62], 84))),
    "elevenlabs": ("ELEVEN_API_KEY", parts("s" + "k_", (HEX, 48))),
    "voyage": ("VOYAGE_API_KEY", parts("p" + "a-", (URL_SAFE, 43))),
    "jina": ("JINA_API_KEY", parts("ji" + "na_", (ALNUM, 60))),
    "pinecone": ("PINECONE_API_KEY", parts("pc" + "sk_", (ALNUM, 6), "_", (ALNUM, 60))),
    "qdrant": ("QDRANT_API_KEY", parts((URL_SAFE, 54))),
    "weaviate": ("WEAVIATE_API_KEY", parts((ALNUM, 38))),
    "langsmith": ("LANGSMITH_API_KEY", parts("lsv2" + "_pt_", (HEX, 32), "_", (HEX, 10))),
    "langfuse": ("LANGFUSE_SECRET_KEY", parts("sk-" + "lf-", (HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12))),
    "comet": ("COMET_API_KEY", parts((ALNUM, 25))),
    "neptune": ("NEPTUNE_API_TOKEN", lambda pick: base64.b64encode(json.dumps({"api_key": take(pick, HEX, 40), "n": 17}).encode()).decode()),
    "clearml": ("CLEARML_API_SECRET_KEY", parts((ALNUM, 50))),
    "clearml-access": ("CLEARML_API_ACCESS_KEY", parts((UPPER, 30))),
    "mlflow": ("MLFLOW_TRACKING_TOKEN", parts((URL_SAFE, 44))),
    "mlflow-password": ("MLFLOW_TRACKING_PASSWORD", parts((ALNUM, 18))),
    "swanlab": ("SWANLAB_API_KEY", parts((ALNUM, 21))),
    "lightning": ("LIGHTNING_API_KEY", parts((HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12))),
    "modal": ("MODAL_TOKEN_SECRET", parts("a" + "s-", (ALNUM, 22))),
    "modal-id": ("MODAL_TOKEN_ID", parts("a" + "k-", (ALNUM, 22))),
    "runpod": ("RUNPOD_API_KEY", parts("rp" + "a_", (UPPER, 44))),
    "vast": ("VAST_API_KEY", parts((HEX, 64))),
    "lambda": ("LAMBDA_API_KEY", parts("secret" + "_", (LOWER, 20), "_", (HEX, 32), ".", (ALNUM, 32))),
    "kaggle": ("KAGGLE_KEY", parts((HEX, 32))),
    "kaggle-token": ("KAGGLE_API_TOKEN", parts("KG" + "AT_", (HEX, 32))),
    "aws-id": ("AWS_ACCESS_KEY_ID", parts("AK" + "IA", (UPPER[:26] + "234567", 16))),
    "aws-session-id": ("AWS_ACCESS_KEY_ID", parts("AS" + "IA", (UPPER[:26] + "234567", 16))),
    "aws-secret": ("AWS_SECRET_ACCESS_KEY", parts((BASE64, 40))),
    "aws-session": ("AWS_SESSION_TOKEN", parts("IQoJb3JpZ2lu", (BASE64, 300), "==")),
    "aws-bedrock": ("AWS_BEARER_TOKEN_BEDROCK", parts("AB" + "SK", (BASE64, 110))),
    "minio": ("MINIO_SECRET_KEY", parts((ALNUM, 40))),
    "gcp": ("GOOGLE_API_KEY", parts("AI" + "za", (URL_SAFE, 35))),
    "gcp-gemini": ("GEMINI_API_KEY", parts("AI" + "za", (URL_SAFE, 35))),
    "gcp-oauth": ("GOOGLE_OAUTH_ACCESS_TOKEN", parts("ya" + "29.", (URL_SAFE, 120))),
    "gcp-refresh": ("GOOGLE_REFRESH_TOKEN", parts("1/" + "/0", (URL_SAFE, 80))),
    "gcp-client-secret": ("GOOGLE_CLIENT_SECRET", parts("GOC" + "SPX-", (URL_SAFE, 28))),
    "azure-storage": ("AZURE_STORAGE_KEY", parts((BASE64, 86), "==")),
    "azure-openai": ("AZURE_OPENAI_API_KEY", parts((HEX, 32))),
    "azure-client-secret": ("AZURE_CLIENT_SECRET", parts((ALNUM, 3), "8Q~", (URL_SAFE, 34))),
    "azure-devops": ("AZURE_DEVOPS_EXT_PAT", parts((LOWER, 52))),
    "github": ("GITHUB_TOKEN", parts("gh" + "p_", (ALNUM, 36))),
    "github-oauth": ("GH_TOKEN", parts("gh" + "o_", (ALNUM, 36))),
    "github-server": ("GITHUB_TOKEN", parts("gh" + "s_", (ALNUM, 36))),
    "github-refresh": ("GITHUB_REFRESH_TOKEN", parts("gh" + "r_", (ALNUM, 76))),
    "github-fine": ("GITHUB_PAT", parts("github" + "_pat_", (ALNUM, 22), "_", (ALNUM, 59))),
    "gitlab": ("GITLAB_TOKEN", parts("gl" + "pat-", (URL_SAFE, 20))),
    "gitlab-deploy": ("CI_DEPLOY_PASSWORD", parts("gl" + "dt-", (URL_SAFE, 20))),
    "gitlab-runner": ("RUNNER_TOKEN", parts("gl" + "rt-", (URL_SAFE, 20))),
    "gitlab-job": ("CI_JOB_TOKEN", parts("glc" + "bt-64_", (URL_SAFE, 20))),
    "bitbucket": ("BITBUCKET_APP_PASSWORD", parts("AT" + "BB", (ALNUM, 32))),
    "gitee": ("GITEE_ACCESS_TOKEN", parts((HEX, 32))),
    "gitea": ("GITEA_TOKEN", parts((HEX, 40))),
    "atlassian": ("JIRA_API_TOKEN", parts("AT" + "ATT3xFfGF0", (URL_SAFE, 170))),
    "slack-bot": ("SLACK_BOT_TOKEN", parts("xo" + "xb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24))),
    "slack-user": ("SLACK_TOKEN", parts("xo" + "xp-", (string.digits, 12), "-", (string.digits, 12), "-", (HEX, 32))),
    "slack-app": ("SLACK_APP_TOKEN", parts("xa" + "pp-1-A", (UPPER, 10), "-", (string.digits, 13), "-", (HEX, 64))),
    "discord": ("DISCORD_BOT_TOKEN", parts("MT", (ALNUM, 24), ".G", (ALNUM, 5), ".", (URL_SAFE, 38))),
    "telegram": ("TELEGRAM_BOT_TOKEN", parts((string.digits, 10), ":AA", (URL_SAFE, 33))),
    "stripe": ("STRIPE_SECRET_KEY", parts("sk" + "_live_", (ALNUM, 24))),
    "stripe-test": ("STRIPE_API_KEY", parts("sk" + "_test_", (ALNUM, 99))),
    "stripe-restricted": ("STRIPE_API_KEY", parts("rk" + "_live_", (ALNUM, 24))),
    "stripe-webhook": ("STRIPE_WEBHOOK_SECRET", parts("wh" + "sec_", (ALNUM, 32))),
    "twilio": ("TWILIO_AUTH_TOKEN", parts((HEX, 32))),
    "twilio-key": ("TWILIO_API_KEY", parts("S" + "K", (HEX, 32))),
    "sendgrid": ("SENDGRID_API_KEY", parts("S" + "G.", (URL_SAFE, 22), ".", (URL_SAFE, 43))),
    "mailgun": ("MAILGUN_API_KEY", parts("key" + "-", (HEX, 32))),
    "mailchimp": ("MAILCHIMP_API_KEY", parts((HEX, 32), "-us" + "12")),
    "postmark": ("POSTMARK_SERVER_TOKEN", parts((HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12))),
    "resend": ("RESEND_API_KEY", parts("r" + "e_", (ALNUM, 8), "_", (ALNUM, 24))),
    "databricks": ("DATABRICKS_TOKEN", parts("da" + "pi", (HEX, 32))),
    "snowflake": ("SNOWFLAKE_PASSWORD", parts((ALNUM, 16))),
    "vault": ("VAULT_TOKEN", parts("hv" + "s.", (URL_SAFE, 92))),
    "vault-old": ("VAULT_TOKEN", parts("s.", (ALNUM, 24))),
    "terraform": ("TFE_TOKEN", parts((ALNUM, 14), ".atlas" + "v1.", (ALNUM, 67))),
    "pulumi": ("PULUMI_ACCESS_TOKEN", parts("pu" + "l-", (HEX, 40))),
    "supabase": ("SUPABASE_ACCESS_TOKEN", parts("sb" + "p_", (HEX, 40))),
    "supabase-secret": ("SUPABASE_SECRET_KEY", parts("sb_" + "secret_", (URL_SAFE, 31))),
    "vercel": ("VERCEL_TOKEN", parts((ALNUM, 24))),
    "netlify": ("NETLIFY_AUTH_TOKEN", parts("nf" + "p_", (ALNUM, 36))),
    "cloudflare": ("CLOUDFLARE_API_TOKEN", parts((URL_SAFE, 40))),
    "digitalocean": ("DIGITALOCEAN_TOKEN", parts("dop" + "_v1_", (HEX, 64))),
    "heroku": ("HEROKU_API_KEY", parts("HR" + "KU-", (URL_SAFE, 60))),
    "fly": ("FLY_API_TOKEN", parts("fo" + "1_", (URL_SAFE, 43))),
    "npm": ("NPM_TOKEN", parts("np" + "m_", (ALNUM, 36))),
    "pypi": ("PYPI_TOKEN", parts("py" + "pi-AgEIcHlwaS5vcmc", (URL_SAFE, 150))),
    "docker": ("DOCKER_TOKEN", parts("dckr" + "_pat_", (URL_SAFE, 27))),
    "conda": ("ANACONDA_API_TOKEN", parts((HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12))),
    "artifactory": ("ARTIFACTORY_API_KEY", parts("AK" + "Cp", (ALNUM, 69))),
    "sonar": ("SONAR_TOKEN", parts("sq" + "u_", (HEX, 40))),
    "sentry": ("SENTRY_AUTH_TOKEN", parts("sntry" + "u_", (HEX, 64))),
    "datadog": ("DD_API_KEY", parts((HEX, 32))),
    "newrelic": ("NEW_RELIC_LICENSE_KEY", parts((HEX, 36), "NRAL")),
    "grafana": ("GRAFANA_TOKEN", parts("gl" + "sa_", (ALNUM, 32), "_", (HEX, 8))),
    "honeycomb": ("HONEYCOMB_API_KEY", parts((ALNUM, 22))),
    "linear": ("LINEAR_API_KEY", parts("lin" + "_api_", (ALNUM, 40))),
    "notion": ("NOTION_TOKEN", parts("nt" + "n_", (ALNUM, 46))),
    "airtable": ("AIRTABLE_API_KEY", parts("pat", (ALNUM, 14), ".", (HEX, 64))),
    "figma": ("FIGMA_TOKEN", parts("fig" + "d_", (URL_SAFE, 40))),
    "shopify": ("SHOPIFY_TOKEN", parts("shp" + "at_", (HEX, 32))),
    "square": ("SQUARE_ACCESS_TOKEN", parts("EAA" + "A", (URL_SAFE, 60))),
    "age": ("SOPS_AGE_KEY", parts("AGE-SECRET" + "-KEY-1", (UPPER, 58))),
    "ibm": ("IBM_CLOUD_API_KEY", parts((URL_SAFE, 44))),
    "aliyun-id": ("ALIBABA_CLOUD_ACCESS_KEY_ID", parts("LT" + "AI5t", (ALNUM, 18))),
    "aliyun-secret": ("ALIBABA_CLOUD_ACCESS_KEY_SECRET", parts((ALNUM, 30))),
    "oss-secret": ("OSS_ACCESS_KEY_SECRET", parts((ALNUM, 30))),
    "tencent-id": ("TENCENTCLOUD_SECRET_ID", parts("AK" + "ID", (ALNUM, 32))),
    "tencent-secret": ("TENCENTCLOUD_SECRET_KEY", parts((ALNUM, 32))),
    "volcengine-id": ("VOLC_ACCESSKEY", parts("AK" + "LT", (ALNUM, 43))),
    "volcengine-secret": ("VOLC_SECRETKEY", parts((BASE64[:62], 58), "==")),
    "ark": ("ARK_API_KEY", parts((HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12))),
    "baidu-ak": ("QIANFAN_ACCESS_KEY", parts("ALT" + "AK", (ALNUM, 21))),
    "baidu-sk": ("QIANFAN_SECRET_KEY", parts((HEX, 32))),
    "modelscope": ("MODELSCOPE_API_TOKEN", parts("ms" + "-", (HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12))),
    "modelscope-old": ("MODELSCOPE_SDK_TOKEN", parts((HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12))),
    "openxlab": ("OPENXLAB_SK", parts((LOWER, 34))),
    "jwt": ("ACCESS_TOKEN", parts("ey" + "JhbGciOiJIUzI1NiJ9.ey" + "J", (URL_SAFE, 60), ".", (URL_SAFE, 43))),
    "password": ("DB_PASSWORD", parts((ALNUM + "!#%*", 14))),
    "passphrase": ("SSH_PASSPHRASE", parts((ALNUM, 20))),
    "session-key": ("FLASK_SECRET_KEY", parts((HEX, 64))),
    "encryption-key": ("ENCRYPTION_KEY", parts((URL_SAFE, 43), "=")),
    "unknown-service": ("ZORBLAX_API_KEY", parts((ALNUM, 28))),
    "unknown-service-token": ("QUUXHUB_TOKEN", parts((ALNUM, 24))),
}  # fmt: skip

CONTEXTS: dict[str, Callable[[str, str], str]] = {
    "environment": lambda name, value: f"{name}={value}",
    "export": lambda name, value: f'+ export {name}="{value}"',
    "environ-repr": lambda name, value: f"environ({{'HOME': '/root', '{name}': '{value}', 'LANG': 'C'}})",
    "json": lambda name, value: f'{{"step": 3, "{name.lower()}": "{value}"}}',
    "json-compact": lambda name, value: f'{{"{name.lower()}":"{value}","step":3}}',
    "json-escaped": lambda name, value: f'"{{\\"{name.lower()}\\": \\"{value}\\"}}"',
    "yaml": lambda name, value: f"  {name.lower()}: {value}",
    "call": lambda name, value: f'    client = login({name.lower()}="{value}", timeout=3)',
    "call-repr": lambda name, value: f"Config(lr=0.1, {name.lower()}='{value}')",
    "flag": lambda name, value: f"python train.py --{name.lower()} {value} --fp16",
    "flag-equals": lambda name, value: f"python train.py --{name.lower().replace('_', '-')}={value} --fp16",
    "list-repr": lambda name, value: f"args: ['--lr', '1', '--{name.lower()}', '{value}', '--fp16']",
    "url": lambda name, value: f"GET https://api.quux.dev/v1/run?{name.lower()}={value}&page=2",
    "header": lambda name, value: f"{{'Authorization': 'Bearer {value}', 'Accept': '*/*'}}",
    "header-line": lambda name, value: f"> Authorization: Bearer {value}",
    "own-header": lambda name, value: f"> X-{name.title().replace('_', '-')}: {value}",
    "quoted": lambda name, value: f'the {name} "{value}" was refused',
    "dot": lambda name, value: f"401 for the {name} {value}.",
    "line-end": lambda name, value: f"ERROR auth failed, {name} was {value}",
    "ansi": lambda name, value: f"{name}=\x1b[1;32m{value[:7]}\x1b[0m\x1b[32m{value[7:]}\x1b[0m",
    "wrapped": lambda name, value: f"2026-01-02 12:00:01 INFO start {name}={value[: len(value) // 2]}\n{value[len(value) // 2 :]} next",
    "wrapped-last": lambda name, value: f"{name}={value[: len(value) // 2]}\n{value[len(value) // 2 :]}\nTraceback (most recent call last):",
    "rank": lambda name, value: f"[rank1]: {name}={value}",
    "exception": lambda name, value: f"ValueError: bad {name}: {value!r}",
}


def tokens(seed: int = 0) -> Iterator[Planted]:
    """Every format of `TOKENS` in every context."""
    for name, (variable, make) in TOKENS.items():
        value = make(random.Random(f"{name} {seed}"))
        for context, say in CONTEXTS.items():
            yield Planted(f"{name} in {context}", say(variable, value), (value,))


def _pem(pick: random.Random, kind: str) -> str:
    body = "\n".join(take(pick, BASE64, 64) for _ in range(12))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


def special(seed: int = 0) -> Iterator[Planted]:
    """Secrets that bring their own surroundings: blocks, URLs, files of credentials, people and machines."""
    pick = random.Random(f"special {seed}")

    def new(characters: str = ALNUM, count: int = 24) -> str:
        return take(pick, characters, count)

    for kind in ("PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"):
        block = _pem(pick, kind)
        lines = tuple(block.split("\n")[1:-1])
        yield Planted(f"pem {kind}", f"key:\n{block}\nafter", lines)
        yield Planted(f"pem {kind} in json", json.dumps({"private_key": block + "\n", "type": "service_account"}), lines)
        yield Planted(f"pem {kind} cut", "\n".join(block.split("\n")[:8]), lines[:7])
        yield Planted(f"pem {kind} with prefix", "\n".join(f"[rank0]: {line}" for line in block.split("\n")), lines)
        yield Planted(f"pem {kind} without its head", "\n".join(block.split("\n")[3:]), lines[2:])
    secret = new()
    yield Planted("basic auth url", f"cloning https://bob:{secret}@git.quux.dev/x.git", (secret,))
    secret = new()
    yield Planted("token as user", f"fatal: could not read from 'https://{secret}@git.quux.dev/x.git'", (secret,))
    for scheme in ("redis", "rediss", "postgresql", "postgresql+psycopg2", "mysql", "mongodb+srv", "amqp", "ssh", "ftp", "socks5", "http", "clickhouse", "sftp"):
        secret = new()
        yield Planted(f"{scheme} connection", f"connect {scheme}://svc:{secret}@db.quux.dev:5432/runs failed", (secret,))
    secret = new()
    yield Planted("redis without user", f"redis://:{secret}@10.1.2.3:6379/0", (secret,))
    secret = new()
    yield Planted("odbc", f"Driver={{ODBC}};Server=db;Uid=svc;Pwd={secret};Encrypt=yes", (secret,))
    secret = new(BASE64, 86) + "=="
    yield Planted("azure connection string", f"DefaultEndpointsProtocol=https;AccountName=quux;AccountKey={secret};EndpointSuffix=core.windows.net", (secret,))
    secret = new(BASE64, 43) + "="
    yield Planted("azure service bus", f"Endpoint=sb://quux.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={secret}", (secret,))
    secret = new(ALNUM, 40) + "%3D"
    yield Planted("azure sas", f"https://quux.blob.core.windows.net/c/m.bin?sv=2024-01-01&se=2026-01-01&sr=b&sp=r&sig={secret}", (secret,))
    secret = new(HEX, 64)
    yield Planted("aws signed url", f"https://quux.s3.amazonaws.com/m.bin?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature={secret}&X-Amz-SignedHeaders=host", (secret,))
    secret = new(BASE64[:62], 200)
    yield Planted("aws signed url token", f"https://quux.s3.amazonaws.com/m.bin?X-Amz-Security-Token={secret}&X-Amz-Date=2026", (secret,))
    secret = new(URL_SAFE, 300)
    yield Planted("cloudfront url", f"https://cdn-lfs.hf.co/x/y?Expires=1767&Policy={secret}&Key-Pair-Id=K24J24Z295AEI9", (secret,))
    secret = new(HEX, 128)
    yield Planted("gcs signed url", f"https://storage.googleapis.com/b/o?X-Goog-Algorithm=G&X-Goog-Signature={secret}", (secret,))
    secret = new()
    yield Planted("oss signed url", f"https://b.oss-cn-beijing.aliyuncs.com/o?Expires=1&OSSAccessKeyId=TMP&Signature={secret}%3D", (secret,))
    secret = "h" + "f_" + new(ALNUM, 34)
    yield Planted("hf url", f"https://user:{secret}@huggingface.co/org/model", (secret,))
    yield Planted("git remote", f"origin\thttps://x-access-token:{secret}@github.com/org/repo.git (push)", (secret,))
    slack = (f"T{new(UPPER, 9)}", f"B{new(UPPER, 9)}", new(ALNUM, 24))
    yield Planted("slack hook", "POST https://hooks.slack.com/" + "services/" + "/".join(slack), (slack[2],))
    secret = new(URL_SAFE, 68)
    yield Planted("discord hook", "https://discord.com/api/" + f"webhooks/{new(string.digits, 18)}/{secret}", (secret,))
    secret = new(HEX, 32)
    yield Planted("teams hook", f"https://quux.webhook.office.com/webhookb2/{new(HEX, 8)}-aaaa-bbbb-cccc-{new(HEX, 12)}@x/IncomingWebhook/{secret}/y", (secret,))
    secret = new(URL_SAFE, 35)
    yield Planted("telegram url", f"https://api.telegram.org/bot{new(string.digits, 10)}:{secret}/sendMessage", (secret,))
    secret = new(HEX, 64)
    yield Planted("dingtalk hook", f"https://oapi.dingtalk.com/robot/send?access_token={secret}", (secret,))
    secret = f"{new(HEX, 8)}-{new(HEX, 4)}-{new(HEX, 4)}-{new(HEX, 4)}-{new(HEX, 12)}"
    yield Planted("feishu hook", f"https://open.feishu.cn/open-apis/bot/v2/hook/{secret}", (secret,))
    yield Planted("wecom hook", f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={secret}", (secret,))
    secret = new(HEX, 40)
    yield Planted("wandb call", f'wandb.login("{secret}")', (secret,))
    yield Planted("wandb call with key", f"wandb.login(key='{secret}', relogin=True)", (secret,))
    yield Planted("wandb command", f"$ wandb login {secret}", (secret,))
    yield Planted("wandb command relogin", f"!wandb login --relogin {secret}", (secret,))
    yield Planted("netrc", f"machine api.wandb.ai\n  login user\n  password {secret}\n", (secret,))
    yield Planted("netrc on a line", f"machine api.wandb.ai login user password {secret}", (secret,))
    yield Planted("wandb prompt", f"wandb: Paste an API key from your profile and hit enter: {secret}", (secret,))
    secret = "h" + "f_" + new(ALNUM, 34)
    yield Planted("hf command", f"huggingface-cli login --token {secret} --add-to-git-credential", (secret,))
    yield Planted("hf prompt", f"Enter your token (input will not be visible): {secret}", (secret,))
    yield Planted("notebook_login", f"from huggingface_hub import login; login('{secret}')", (secret,))
    secret = new(HEX, 32)
    yield Planted("kaggle json", f'{{"username":"alicegrey","key":"{secret}"}}', (secret, "alicegrey"))
    secret = base64.b64encode(f"alice:{new()}".encode()).decode()
    yield Planted("docker config", f'{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{secret}"}}}}}}', (secret,))
    yield Planted("basic header", f"Authorization: Basic {secret}", (secret,))
    yield Planted("npmrc", f"//registry.quux.dev/:_authToken={secret}\n_auth={secret}", (secret,))
    secret = new()
    yield Planted("pypirc", f"[pypi]\nusername = __token__\npassword = {secret}", (secret,))
    yield Planted("pip index", f"Looking in indexes: https://svc:{secret}@nexus.quux.dev/simple", (secret,))
    yield Planted("curl user", f"+ curl -u svc:{secret} https://api.quux.dev", (secret,))
    yield Planted("curl long user", f"curl --user 'svc:{secret}' https://api.quux.dev", (secret,))
    yield Planted("mysql password", f"mysql -h db --password={secret} runs", (secret,))
    yield Planted("sshpass", f"sshpass -p {secret} ssh svc@node", (secret,))
    yield Planted("pgpass", f"PGPASSWORD={secret} psql", (secret,))
    yield Planted("docker login", f"docker login -u svc -p {secret} registry.quux.dev", (secret,))
    yield Planted("password prompt", f"Password: {secret}", (secret,))
    yield Planted("chinese password", f"密码：{secret}", (secret,))
    yield Planted("chinese key", f"API 密钥: {secret}", (secret,))
    yield Planted("dsn", f"https://{new(HEX, 32)}:{secret}@o1.ingest.sentry.io/2", (secret,))
    secret = new(HEX, 32)
    yield Planted("sentry dsn", f"SENTRY_DSN=https://{secret}@o1.ingest.sentry.io/2", (secret,))
    yield Planted("cookie", f"Cookie: sessionid={secret}; csrftoken=abc", (secret,))
    yield Planted("set-cookie", f"< Set-Cookie: sid={secret}; Path=/; HttpOnly", (secret,))
    yield Planted("cookie in a dict", f"headers={{'Cookie': 'sid={secret}; a=b', 'Accept': '*/*'}}", (secret,))
    yield Planted("jupyter", f"http://127.0.0.1:8888/lab?token={secret}", (secret,))
    yield Planted("ray", f"ray start --redis-password={secret}", (secret,))
    yield Planted("spread over attributes", f"Namespace(lr=0.1, hub_token='{secret}', fp16=True)", (secret,))
    yield Planted("dataclass", f"TrainingArguments(\nhub_token={secret},\nseed=42,\n)", (secret,))
    yield Planted("python bytes", f"headers = [(b'authorization', b'Bearer {secret}')]", (secret,))
    yield Planted("tuple", f"('api_key', '{secret}')", (secret,))
    yield Planted("assert", f"AssertionError: assert 'x' == '{secret}' (api key)", (secret,))
    yield Planted("xml", f"<password>{secret}</password>", (secret,))
    yield Planted("powershell", f"$env:HF_TOKEN = '{secret}'", (secret,))
    yield Planted("windows set", f"set OPENAI_API_KEY={secret}", (secret,))
    yield Planted("colab magic", f"%env HF_TOKEN={secret}", (secret,))
    yield Planted("dockerfile", f"ENV API_TOKEN {secret}", (secret,))
    yield Planted("terraform", f'  access_key = "{secret}"', (secret,))
    yield Planted("toml", f'[hub]\ntoken = "{secret}"', (secret,))
    secret = new(ALNUM, 40)
    yield Planted("ssh key of a person", f"ssh-rsa AAAAB3NzaC1yc2E{secret}{new(BASE64, 300)} alicegrey@workstation", (secret, "alicegrey", "workstation"))
    secret = new(ALNUM, 42)
    yield Planted("ed25519 key", f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{secret} alicegrey", (secret,))


def people(seed: int = 0) -> Iterator[Planted]:
    """Names of people and machines, addresses."""
    pick = random.Random(f"people {seed}")
    user, host = "alicegrey", "dgx-omega17"
    fqdn = f"{host}.hpc.quuxcorp.com"
    yield Planted("mail", f"contact {user}@quuxcorp.com for help", (user, "quuxcorp"))
    yield Planted("mail quoted", f"author='{user}.smith@mail.quuxcorp.co.uk'.", (user, "quuxcorp"))
    yield Planted("linux home", f'  File "/home/{user}/proj/train.py", line 3, in main', (user,))
    yield Planted("macos home", f"/Users/{user}/proj/train.py:3", (user,))
    yield Planted("windows home", f"C:\\Users\\{user}\\proj\\train.py", (user,))
    yield Planted("windows home escaped", f"'C:\\\\Users\\\\{user}\\\\proj\\\\train.py'", (user,))
    yield Planted("windows home with slashes", f"C:/Users/{user}/proj/train.py", (user,))
    yield Planted("wsl home", f"/mnt/c/Users/{user}/proj/train.py", (user,))
    yield Planted("cluster home", f"/nfs/cluster/home/{user}/proj/train.py", (user,))
    yield Planted("cluster users", f"/lustre/users/{user}/proj/train.py", (user,))
    yield Planted("scratch", f"/scratch/{user}/runs/out", (user,))
    yield Planted("tilde", f"~{user}/proj", (user,))
    yield Planted("environment user", f"USER={user}\n/mnt/data/{user}/runs/model.bin is missing", (user,))
    yield Planted("logname", f"LOGNAME={user}\nsaved to /data/{user}/x", (user,))
    yield Planted("environ repr", f"{{'USER': '{user}', 'PWD': '/work/{user}/x'}}", (user,))
    yield Planted("home then elsewhere", f"HOME=/home/{user}\nOSError: /data/checkpoints/{user}-llama/model.bin", (user,))
    yield Planted("prompt", f"{user}@{host}:~/proj$ python train.py", (user, host))
    yield Planted("prompt with environment", f"(venv) {user}@{host}:/data$ ls", (user, host))
    yield Planted("prompt in brackets", f"[{user}@{host} run]$ sbatch x.sh", (user, host))
    yield Planted("root prompt", f"root@{host}:/workspace# python train.py", (host,))
    yield Planted("ssh", f"ssh {user}@{host}", (user, host))
    yield Planted("hostname", f"HOSTNAME={host}", (host,))
    yield Planted("hostname said", f"hostname: {host}", (host,))
    yield Planted("elastic table", f"  host      : {fqdn}\n  rank      : 3 (local_rank: 3)", (host, "quuxcorp"))
    yield Planted("nccl line", f"{host}:1234:1260 [0] NCCL INFO Bootstrap : Using eth0", (host,))
    yield Planted("signal line", f"[{host}:12345] *** Process received signal ***", (host,))
    yield Planted("slurm line", f"srun: error: {host}: task 3: Exited with exit code 1", (host,))
    yield Planted("slurm list", f"SLURM_JOB_NODELIST={host}", (host,))
    yield Planted("master", f"MASTER_ADDR={host} MASTER_PORT=29500", (host,))
    yield Planted("rendezvous", f"--rdzv_endpoint={fqdn}:29500", (host, "quuxcorp"))
    yield Planted("fqdn", f"connect to {fqdn} failed", (host, "quuxcorp"))
    yield Planted("url of a company", f"GET https://gitlab.quuxcorp.com/{user}/x", ("quuxcorp",))
    yield Planted("mdns", f"{host}.local: unreachable", (host,))
    yield Planted("internal name", f"ip-10-11-12-13.ec2.internal and {host}.corp.internal", (host, "10-11-12-13"))
    for name, text in {
        "ipv4": "connect to {} failed", "ipv4 port": "{}:29500", "ipv4 quoted": "host='{}'", "ipv4 dot": "refused by {}.",
        "ipv4 list": "[{}, 1]", "ipv4 url": "http://{}/x", "ipv4 equals": "MASTER_ADDR={}",
    }.items():  # fmt: skip
        for start in ("34.120", "10.88", "100.64", "172.19", "192.168"):
            number = f"{start}.{pick.randrange(101, 250)}.{pick.randrange(101, 250)}"
            yield Planted(f"{name} {start}", text.format(number), (".".join(number.split(".")[2:]),))
    for number in ("2a02:8109:9ec0:2f3c::1f3a", "fe80::42:acff:fe11:2b1c", "2001:0db7:85a3:0000:0000:8a2e:0370:7334"):
        yield Planted("ipv6", f"connect to [{number}]:29500 failed", (number,))
        yield Planted("ipv6 bare", f"listening on {number}", (number,))
        yield Planted("ipv6 quoted", f"host='{number}'", (number,))
    yield Planted("mac", "link/ether 02:42:9c:1f:3a:7b brd", ("02:42:9c:1f:3a:7b",))


def everything(seed: int = 0) -> Iterator[Planted]:
    yield from tokens(seed)
    yield from special(seed)
    yield from people(seed)
