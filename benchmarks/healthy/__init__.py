"""Healthy runs that are silent for a while: five sets of kinds, each written before its first run, and `script`, which runs one of them.

Each kind is a function that works until a time: ``work(end, folder, chance)``. The order of a set's ``KINDS`` says which seed is which kind.
"""
