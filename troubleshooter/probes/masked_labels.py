"""What does training on labels that are all masked (-100) look like here: loss 0 and gradient norm 0, no NaN?"""

QUESTION = "Does training on fully masked labels print loss 0 and grad_norm 0 here?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {}
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
labels = dataset[0]["labels"]
print(sum(label != -100 for label in labels), "of", len(labels), "labels count for the loss")   # 0: nothing to learn
"""


def run(kit):
    kit.need("torch")
    transformers = kit.need("transformers")

    def train(masked):
        rows = kit.rows()
        if masked:
            for row in rows:
                row["labels"][:] = -100
        trainer = transformers.Trainer(model=kit.llama(), args=kit.training_arguments(), train_dataset=rows)
        trainer.train()
        logs = [entry for entry in trainer.state.log_history if "grad_norm" in entry]
        return [(float(entry["loss"]), float(entry["grad_norm"])) for entry in logs]

    attempt = kit.attempt(lambda: train(True))
    if attempt.error is not None:
        kit.undecided(f"two training steps do not run here: {attempt.kind}: {attempt.message[:300]}")
    points = attempt.value
    zero = bool(points) and all(loss == 0.0 and norm == 0.0 for loss, norm in points)
    kit.measured("all labels -100", zero, f"(loss, grad_norm) of the steps: {points}")
    if zero:
        good = train(False)
        kit.fix(
            "labels",
            "labels that are not all masked",
            removed=all(norm > 0 for _, norm in good),
            text=f"(loss, grad_norm) of the steps: {good}",
            words=r"label|mask|template|truncat|max_(?:seq_)?length",
        )
