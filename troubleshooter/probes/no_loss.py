"""Does the Trainer stop because the batch holds no labels ("did not return a loss from the inputs")?"""

QUESTION = "Does training without labels stop with a missing loss here?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
print(dataset.column_names)     # the Trainer drops columns that forward() does not take; without `labels` there is no loss
"""


def run(kit):
    kit.expects("ValueError", r"[Tt]he model did not return a loss from the inputs")
    kit.need("torch")
    transformers = kit.need("transformers")

    def train(labelled):
        rows = kit.rows(2)
        if not labelled:
            for row in rows:
                del row["labels"]
        trainer = transformers.Trainer(model=kit.llama(), args=kit.training_arguments(max_steps=1), train_dataset=rows)
        trainer.train()

    kit.say("one step without labels")
    if kit.symptom("rows without labels", lambda: train(False)):
        kit.fix("labels", "rows with labels", lambda: train(True), words=r"labels|DataCollatorForLanguageModeling")
