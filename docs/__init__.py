"""The documentation. Pages that a program can write are written by ``python -m docs.make``."""
