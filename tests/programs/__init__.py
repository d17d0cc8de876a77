"""Small real programs that fail, what each of them printed, and the repair that was run."""
