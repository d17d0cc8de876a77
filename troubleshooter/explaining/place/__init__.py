"""The place in a library's source that raised: its condition, what the condition depends on, and what would make it false."""
