"""Proofs of what entries claim: each is a rule that a program checks, so that nobody has to remember it."""
