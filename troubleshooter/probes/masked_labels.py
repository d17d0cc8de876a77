"""What does training on labels that are all masked (-100) look like here: loss 0 and gradient norm 0, no NaN?"""

QUESTION = "Does training on fully masked labels print loss 0 and grad_norm 0 here?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {"rows": ["all", "some"]}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}, {"rows": "some"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1"}, {"rows": "some"}),
]
REPRODUCE = """
labels = dataset[0]["labels"]
print(sum(label != -100 for label in labels), "of", len(labels), "labels count for the loss")   # 0: nothing to learn
"""


def run(kit):
    kit.need("torch")
    transformers = kit.need("transformers")

    some = kit.options["rows"] == "some"

    def train(masked):
        rows = kit.rows()
        for number, row in enumerate(rows):
            if masked and (not some or number % 2):
                row["labels"][:] = -100
        arguments = kit.training_arguments(max_steps=6 if some else 2, per_device_train_batch_size=1 if some else 2)
        trainer = transformers.Trainer(model=kit.llama(), args=arguments, train_dataset=rows)
        trainer.train()
        logs = [entry for entry in trainer.state.log_history if "grad_norm" in entry]
        return [(round(float(entry["loss"]), 4), round(float(entry["grad_norm"]), 4)) for entry in logs]

    def labelled(masked):
        ids = kit.rows(1)[0]["input_ids"][None]
        return kit.training_step(kit.llama(), input_ids=ids, labels=ids * 0 - 100 if masked else ids)

    attempt = kit.attempt(lambda: train(True))
    if attempt.error is not None:
        kit.undecided(f"training steps do not run here: {attempt.kind}: {attempt.message[:300]}")
    points = attempt.value
    zeros = sum(loss == 0.0 and norm == 0.0 for loss, norm in points)
    seen = 0 < zeros < len(points) if some else 0 < zeros == len(points)
    kit.measured(f"{kit.options['rows']} labels -100", seen, f"(loss, grad_norm) of the steps: {points}")
    if seen:
        good = train(False)
        kit.fix(
            "labels",
            "labels that are not all masked",
            removed=all(norm > 0 for _, norm in good),
            text=f"(loss, grad_norm) of the steps: {good}",
            words=r"ds\.filter|label|mask|template|truncat|max_(?:seq_)?length",
            price=(lambda: labelled(True), lambda: labelled(False)),
        )
