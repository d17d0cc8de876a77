"""Reading source code: the files that a traceback names, and what names, calls and classes in them stand for."""
