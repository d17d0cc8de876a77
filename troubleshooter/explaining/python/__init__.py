"""Python's own exceptions, explained by the one line that raised them."""
