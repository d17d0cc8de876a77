"""The best checkpoint is asked for before anything was evaluated."""


class History:
    def __init__(self):
        self.losses = []

    def last(self):
        return self.losses[-1]


print(History().last())
