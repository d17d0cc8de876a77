"""Does resuming from a checkpoint fail because torch loads only weights ("Weights only load failed", numpy in rng_state)?

torch 2.6 made ``torch.load(weights_only=True)`` the default; the Trainer's random states held numpy objects that it
refuses, until transformers 4.47 allowed them. The probe trains two steps, saves, and resumes.
"""

QUESTION = "Does resuming from a Trainer checkpoint fail on torch's weights-only loading?"
NEEDS = ["torch"]
PARAMETERS = {"what": ["trainer", "object"]}
SETTLED_BY = ["what=trainer"]
PAIRS = [
    ("confirmed", {"transformers": "4.45.2", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.46.3", "accelerate": "1.5.2"}),
    ("not-here", {"transformers": "4.47.1", "accelerate": "1.5.2"}),
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1"}, {"what": "object"}),
]
REPRODUCE = """
import numpy, torch
torch.save({"numpy": numpy.random.get_state()}, "rng_state.pth")   # what the Trainer keeps beside the weights
torch.load("rng_state.pth")            # transformers before 4.47 calls it like this
"""


def run(kit):
    import os

    kit.expects("UnpicklingError", r"Weights only load failed|WeightsUnpickler error|weights_only")
    torch = kit.need("torch")
    if kit.options["what"] == "object":
        an_object(kit, torch)
        return
    transformers = kit.need("transformers")
    kit.need("accelerate")
    rows = kit.rows()
    place = os.path.join(kit.folder, "run")

    def trainer(steps):
        arguments = kit.training_arguments(output_dir=place, save_strategy="steps", save_steps=1, max_steps=steps)
        return transformers.Trainer(model=kit.llama(), args=arguments, train_dataset=rows)

    kit.say("training two steps and saving")
    saved = kit.attempt(lambda: trainer(2).train())
    if saved.error is not None:
        kit.undecided(f"two training steps do not run here: {saved.kind}: {saved.message[:300]}")

    def resume():
        trainer(3).train(resume_from_checkpoint=os.path.join(place, "checkpoint-2"))

    kit.say("resuming")
    if kit.symptom("resume_from_checkpoint", resume):
        allowed(kit, torch, resume)


def an_object(kit, torch):
    """A file that holds more than tensors: here the arguments of the run, as training scripts save them."""
    import argparse
    import os

    place = os.path.join(kit.folder, "checkpoint.pt")
    torch.save({"weight": torch.zeros(2), "args": argparse.Namespace(learning_rate=1e-4)}, place)

    def load(**how):
        return torch.load(place, **how)

    if kit.symptom("torch.load of a file that holds an argparse.Namespace", load):
        kit.fix(
            "full-load",
            "weights_only=False for a file that you trust",
            lambda: load(weights_only=False),
            words=r"weights_only\s*=\s*False",
        )
        allowed(kit, torch, load)

        def named():
            with torch.serialization.safe_globals([argparse.Namespace]):
                load()

        kit.fix("name-the-class", "allow just the named class", named, words=r"add_safe_globals")


def allowed(kit, torch, resume):
    """Two ways round it without another version; the variable trusts the whole file."""
    import os

    def trusted():
        os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
        try:
            resume()
        finally:
            del os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"]

    kit.fix(
        "force-full-load",
        "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1 for checkpoints that you wrote yourself",
        trusted,
        words=r"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD",
    )

    def allowlisted():
        import numpy

        try:
            from numpy._core.multiarray import _reconstruct
        except ImportError:  # numpy 1
            from numpy.core.multiarray import _reconstruct
        names = [_reconstruct, numpy.ndarray, numpy.dtype, type(numpy.dtype(numpy.uint32))]
        with torch.serialization.safe_globals(names):
            resume()

    if kit.options["what"] == "trainer":
        kit.fix(
            "safe-globals",
            "allow numpy's classes with torch.serialization.safe_globals",
            allowlisted,
            words=r"safe_globals",
        )
