losses = [0.3, 0.2]


def mean():
    for loss in losses:
        total += loss
    return total / len(losses)


print(mean())
