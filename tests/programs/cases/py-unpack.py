batches = [("ids", "mask", "labels"), ("ids", "mask", "labels")]
for ids, labels in batches:
    print(ids, labels)
