"""A warning that an entry knows, above an exception that no entry knows: the exception ended the run."""

from __future__ import annotations

from troubleshooter import diagnose

WARNING = (
    "/v/site-packages/pytorch_lightning/callbacks/early_stopping.py:88: RuntimeWarning: Early stopping conditioned on metric "
    "`val_loss` which is not available. Pass in or modify your `EarlyStopping` callback to use any of the following: `train_loss`\n"
)
CRASH = (
    "Traceback (most recent call last):\n"
    '  File "/home/u/proj/train.py", line 88, in <module>\n    main()\n'
    '  File "/home/u/proj/gadget.py", line 12, in main\n    gadget.wind(springs["left"])\n'
    "KeyError: 'left'\n"
)


def test_the_warning_is_at_most_possible_and_the_exception_is_told_too():
    alone, both = diagnose(WARNING), diagnose(WARNING + CRASH)
    assert [(one.id, one.confidence) for one in alone.diagnoses] == [("lightning-monitored-metric-missing", "certain")]
    assert [(one.id, one.confidence) for one in both.diagnoses] == [("lightning-monitored-metric-missing", "possible")]
    [explained] = both.explained
    assert explained["exception"] == "KeyError"


def test_a_crash_above_the_warning_changes_nothing():
    assert diagnose(CRASH + WARNING).diagnoses[0].confidence == "certain"


def test_nccl_tells_its_errors_as_warnings():
    error = "node1:9:9 [0] include/shm.h:28 NCCL WARN Error while creating shared memory segment nccl-shm-recv (size 9637888)\n"
    log = error.replace("include", "misc/shmutils.cc:72 NCCL WARN Call to posix_fallocate failed : No space left on device\ninclude")
    assert diagnose(log + CRASH).diagnoses[0].confidence in ("certain", "likely")
