"""Report: one model of what was read and diagnosed, and its renderers."""
