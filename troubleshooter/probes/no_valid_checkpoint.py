"""Does resuming fail because the output folder holds no checkpoint?"""

QUESTION = "Does resume_from_checkpoint=True fail on a folder without a checkpoint here?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from transformers.trainer_utils import get_last_checkpoint
print(get_last_checkpoint("output"))        # None: there is nothing to resume from
"""


def run(kit):
    import os

    kit.expects("ValueError", r"No valid checkpoint found in output directory")
    kit.need("torch")
    transformers = kit.need("transformers")
    os.makedirs(os.path.join(kit.folder, "out"), exist_ok=True)

    def train(resume, **changes):
        arguments = kit.training_arguments(max_steps=1, **changes)
        transformers.Trainer(model=kit.llama(), args=arguments, train_dataset=kit.rows(2)).train(
            resume_from_checkpoint=resume
        )

    if kit.symptom("resume_from_checkpoint=True, an empty folder", lambda: train(True)):
        from transformers.trainer_utils import get_last_checkpoint

        kit.fix(
            "only-if-any",
            "pass it only when the folder holds a checkpoint",
            lambda: train(get_last_checkpoint(os.path.join(kit.folder, "out"))),
            words=r"only when the output directory holds|get_last_checkpoint",
        )
