"""``troubleshoot bisect``: which release of a package broke something, and which one repaired it."""
