"""Live probes: does the failure happen in *this* training environment, and does each fix remove it there?

``command`` is ``troubleshoot verify``: ``subject`` says what is asked, ``environment`` finds the interpreter and its
versions, ``device`` looks at the GPUs without touching them, ``probe`` reads a probe file without running it,
``runner`` (with ``processes``) runs it in a process of its own, ``verdict`` says what the answer means, ``present``
shows it, ``record`` keeps it. ``matrix`` asks again over many version pairs, in environments that ``overlays`` makes.
"""
