"""Diagnose a hang: which rank did not arrive, where the others wait for it, and what kind of cause it has.

``stacks`` reads where processes stand, ``family`` finds the ranks among them, ``judge`` compares them, ``flight`` reads the
Flight Recorder's dumps, ``notice`` sees that a run stands still, ``tell`` says it.
"""
