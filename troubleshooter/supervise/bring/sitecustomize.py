"""Installs the hook in each Python that `troubleshoot run` starts, then runs the user's own ``sitecustomize``.

It runs in the training's Python (3.8 and newer), before anything else: it imports nothing of ours by name, leaves no trace in
``sys.path``, and never raises.
"""

import os
import sys


def _bring_hook(here: str) -> None:
    try:
        try:  # where `importlib.util` has them from, which imports much more
            from _frozen_importlib import module_from_spec
            from _frozen_importlib_external import spec_from_file_location
        except ImportError:
            from importlib.util import module_from_spec, spec_from_file_location

        path = os.path.join(os.path.dirname(os.path.dirname(here)), "hook.py")
        spec = spec_from_file_location("troubleshoot_hook", path)
        if spec is None or spec.loader is None:
            return
        module = module_from_spec(spec)
        sys.modules["troubleshoot_hook"] = module
        spec.loader.exec_module(module)
        module.install()
    except Exception:
        pass  # a run must not suffer from what watches it


def _run_own() -> None:
    """Import the ``sitecustomize`` that would have been found without us. It raises what it raises."""
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if "sitecustomize" not in sys.modules and ours is not None:
            sys.modules["sitecustomize"] = ours


_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [_place for _place in sys.path if not _place or os.path.abspath(_place) != _here]
_bring_hook(_here)
_run_own()
