from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=8)
def train(learning_rate):
    print("batch", learning_rate)


train(1e-4)
