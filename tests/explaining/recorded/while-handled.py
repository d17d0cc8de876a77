"""A second failure while the first one is handled: the message of the second is told, and the first stands above it."""

import torch


def load(path):
    try:
        return torch.load(path)
    except FileNotFoundError:
        return fallback(None)


def fallback(state):
    return state["model"]


load("missing.pt")
