"""Texts that make a line worth reading although it contains no error word."""

ANOMALY_MARKS = (
    "traceback (most recent",
    "': nan", "=nan", ": nan", "'nan'", '"nan"', "': inf", "=inf", ": inf", "'inf'", '"inf"', "'-inf'",
    "'loss': 0.0,", "'loss': '0'", "'grad_norm': 0.0,", "'grad_norm': '0'", "'learning_rate': 0.0,", '"loss": 0.0,',
    "nccl warn",
)  # fmt: skip
"""Tracebacks, anomalies of metrics and warnings of NCCL, in lower case."""
