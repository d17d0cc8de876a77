"""Everything that verification does on a GPU, tried in one run: ``python -m troubleshooter.verify.matrix --device cuda --all``."""
