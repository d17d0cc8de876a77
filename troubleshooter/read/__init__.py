"""Read: turns bytes into lines. It decodes any input, removes prefixes and decoration, and keeps each line's place in
the raw input."""
