"""Compiles typed entries (`kb.compiled` describes the result): `entry` makes one unit of each entry, and `link` joins
them in one file.

`folder` compiles a folder and reuses everything in its last pack that did not change; `state` finds out what changed.
"""
