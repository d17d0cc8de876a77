"""A dictionary of the user's own that holds a model's names from before the model changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from troubleshooter.report.model import Report

Run = Callable[..., Report]
LIBRARY = """class Model:
    def __init__(self):
        self.parts = {'body.weight': 1}
    def named_parameters(self):
        return list(self.parts.items())
    def add_head(self):
        self.parts['head.weight'] = 2
    def train(self):
        pass
def wrap(model):
    model.parts = {'module.' + name: part for name, part in model.parts.items()}
    return model
"""
AVERAGE = """from widget import Model, wrap
class Average:
    def __init__(self, model):
        {fill}
    def update(self, model):
        for name, part in model.named_parameters():
            self.shadow[name] *= part
def main():
    model = Model()
    {first}
    model.train()
    {second}
    average.update(model)
main()
"""
LOOP = "self.shadow = {}\n        for name, part in model.named_parameters():\n            self.shadow[name] = part"
DICT = "self.shadow = {name: part for name, part in model.named_parameters()}"


@pytest.mark.parametrize("fill", [LOOP, DICT])
@pytest.mark.parametrize("change", ["model.add_head()", "model = wrap(model)"])
def test_the_line_that_changed_the_model_is_named(of_run: Run, fill: str, change: str):
    report = of_run(LIBRARY, AVERAGE.format(fill=fill, first="average = Average(model)", second=change))
    found = report.explained[0]
    assert found["suggestions"][0]["do"] == f"Put `Average(model)` below `{change}`"
    assert found["arguments"][0]["name"] == "self.shadow"


def test_without_a_line_that_changes_the_model_nothing_is_said(of_run: Run):
    program = AVERAGE.format(
        fill="self.shadow = {'a.b': 1}", first="average = Average(model)", second="model.add_head()"
    )
    assert "below" not in of_run(LIBRARY, program).explained[0]["suggestions"][0]["do"]  # its names are not the model's
    fill = "self.shadow = {name[1:]: part for name, part in model.named_parameters()}"
    program = AVERAGE.format(fill=fill, first="average = Average(model)", second="pass")
    assert "below" not in of_run(LIBRARY, program).explained[0]["suggestions"][0]["do"]
