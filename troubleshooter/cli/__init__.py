"""The command line: parse what the user typed and call the functions of the package."""
