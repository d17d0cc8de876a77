"""Probes: one small program a file, run by the *training* interpreter in a process of its own, never by the tool.

A probe module (parsed, never imported, by the tool) holds literals and one function:

``QUESTION``    one sentence: what is asked of this environment
``NEEDS``       installed packages without which nothing can be said
``PARAMETERS``  what an entry may ask ``with:``: a name and its list of allowed values (the first is the default), or a
                pattern (no default), or bounds of a whole number ``{"least", "most", "default"}``
``SETTLED_BY``  what must be known before an answer is about the run of a log, and not about this kind of failure: names of
                parameters that the log filled in, ``name=value`` of one that has this value, ``--model`` for the user's own
                model; ``[]``: the installed versions (and the machine) alone decide; ``None``: the run's own code or data
                decide, which no log holds. One line
``PAIRS``       version sets and the verdict that a run over them gave when the probe was written (the matrix runs them again)
``REPRODUCE``   the lines that a person can run by hand, with ``{parameter}`` filled in
``DEVICES``     where the question makes sense (default: cpu and cuda); ``auto`` takes a GPU only where cpu is not named
``USES_MODEL``  whether the user's own ``--model`` folder is of use
``LOOPBACK``    whether it needs TCP on this machine; ``SHARED_MEMORY``: whether it needs files in /dev/shm
``run(kit)``    builds something tiny, watches what happens, reports through ``kit`` (see ``_kit.py``)

Everything here parses under Python 3.8 and imports torch and friends inside functions only.
"""
