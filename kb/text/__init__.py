"""What the program says to people, in every language that it speaks."""
