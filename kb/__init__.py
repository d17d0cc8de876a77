"""What an entry is: its form, loading, checking, searching, rendering. Knows nothing of the program that uses it."""
