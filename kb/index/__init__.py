"""The index of messages: which place of which library prints which words, under which conditions, in which releases.

``places`` reads one source file as text. ``store`` looks a message up in the shipped index. The other modules build the
index from releases (``python -m kb.index build``) and stay in the checkout.
"""
