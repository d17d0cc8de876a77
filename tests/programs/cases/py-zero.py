rows, batch_size, accumulation = list(range(6)), 4, 2
steps_per_epoch = len(rows) // (batch_size * accumulation)
warmup = 10 / steps_per_epoch
print(warmup)
