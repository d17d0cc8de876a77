"""No batch was counted, and the mean is taken all the same."""


def evaluate(batches):
    total, count = 0.0, 0
    for batch in batches:
        total += batch
        count += 1
    total /= count
    return total


print(evaluate([]))
