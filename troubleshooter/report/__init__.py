"""Report: one model of what was read and diagnosed, and its renderers."""

TOP = 3
"""Answers that a report holds at most, unless more are asked for."""
