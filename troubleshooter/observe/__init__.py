"""Observe: lines → observations. Exceptions with frames, metric series, facts of the environment, native messages."""
