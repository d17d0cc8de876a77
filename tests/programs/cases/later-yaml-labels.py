from datasets import Features

yaml = [{"name": "label", "dtype": {"class_label": {"names": {"0": "no", "2": "yes"}}}}]
print(Features._from_yaml_list(yaml))
