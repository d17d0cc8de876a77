"""Match: observations × entries → candidates. Every symptom is a statement about observations; each hit keeps its evidence."""
