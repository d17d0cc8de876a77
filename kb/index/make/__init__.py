"""Builds the index of messages from releases. A tool of the checkout, not part of the wheel."""
