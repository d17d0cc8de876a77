"""Observe: turns lines into observations, such as exceptions with frames, metric series and facts of the environment."""
