"""Read: bytes → lines. Decodes anything, takes prefixes and decoration off, keeps each line's place in the raw input."""
