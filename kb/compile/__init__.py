"""Typed entries → the compiled form (`kb.compiled`): one unit an entry (`entry`), linked into one file (`link`).

`folder` compiles a folder and takes from its last pack what did not change; `state` tells what changed.
"""
