"""A length that nobody set takes part in a product."""


class Packer:
    def __init__(self, length=None, ratio=3.6, rows=1024):
        self.budget = length * ratio * rows


Packer()
