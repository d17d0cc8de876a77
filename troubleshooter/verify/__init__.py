"""Live probes: does the failure happen in *this* training environment, and does each fix remove it there?

``environment`` finds the interpreter and asks for its versions, ``device`` looks at the GPUs without touching them,
``probe`` reads a probe file without running it, ``runner`` runs it in a process of its own, ``verdict`` says what the
answer means, ``record`` keeps it, ``matrix`` asks again over many version pairs, ``command`` is ``troubleshoot verify``.
"""
