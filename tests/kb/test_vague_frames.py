"""A frame names a folder or a file that only one program has."""

from __future__ import annotations

import pytest

from kb.conditions.frame import FrameForm
from kb.proof.frames import vague


@pytest.mark.parametrize("part", ["transformers", "trainer.py", "modeling_clip.py", "/trainer.py", "/utils.py"])
def test_a_word_that_other_paths_hold_is_refused(part: str) -> None:
    [said] = vague(FrameForm(frame=["trl/trainer", part]))
    assert repr(part) in said


@pytest.mark.parametrize("part", ["/trl/", "transformers/trainer.py", "/modeling_clip.py", "<template>", ".py"])
def test_a_place_is_accepted(part: str) -> None:
    assert not list(vague(FrameForm(frame=part)))


def test_a_function_makes_a_common_file_a_place() -> None:
    assert not list(vague(FrameForm(frame="/utils.py", function="make_supervised_data_module")))
