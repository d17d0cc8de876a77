"""What a message tells by itself, whatever line raised it. Nothing here reads source code."""
