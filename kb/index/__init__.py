"""The index of messages: which place of which library prints which words, under which conditions, in which releases.

``places`` reads one source file as text. ``store`` looks a message up in the shipped index (``kb/data/messages.sqlite``).
``make`` builds the index from releases; it stays in the checkout.
"""
