import re

names = ["checkpoint-100", "checkpoint-last"]
steps = [int(re.search(r"-(\d+)$", name).group(1)) for name in names]
print(max(steps))
