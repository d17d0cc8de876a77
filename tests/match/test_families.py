"""A name without a row of its own is found by the row of its family."""

from __future__ import annotations

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

SAID = "ImportError: cannot import name '{}' from 'transformers' (/opt/venv/lib/python3.12/site-packages/transformers/__init__.py)"


def title(tool: Diagnoser, name: str) -> str:
    return tool.report([from_text(SAID.format(name))]).diagnoses[0].title


@pytest.mark.parametrize("name", ["CLIPFeatureExtractor", "TFBertModel", "FlaxBertModel"])
def test_a_member_of_a_family_is_named_itself_with_the_release_of_most(tool: Diagnoser, name: str) -> None:
    assert title(tool, name) == f"`{name}` is gone from transformers since transformers 5.0.0"


def test_a_name_with_a_row_of_its_own_is_no_member(tool: Diagnoser) -> None:
    assert title(tool, "TFTrainer") == "`TFTrainer` is gone from transformers since transformers 4.37.0"


def test_a_name_outside_of_the_pattern_has_no_row(tool: Diagnoser) -> None:
    assert title(tool, "XTFBertModel") == "`XTFBertModel` is not in the installed transformers"
