"""The command line: what the user typed → the functions of the package."""
