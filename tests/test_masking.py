"""Each mask keeps the parts that its callers compare, and drops the parts that differ from run to run."""

from __future__ import annotations

import pytest

from troubleshooter.masking import (
    constant_parts,
    mask_numbers,
    mask_run,
    without_digits,
    without_digits_raw,
    zero_digits,
)
from troubleshooter.paths import below_site_packages, installed_file

MESSAGE = "0x7f00 at /data/run-1/model.bin: rank 3 lost 'layer.12' after 1.5 s (id 8c7dd922-ad47-494f-b9d4-61ad0f3e5a11)"


def test_each_mask_drops_what_its_purpose_says() -> None:
    assert mask_numbers("0x7f00: rank 3 at /data/run-1") == "0: rank 0 at /data/run-0"
    assert mask_run(MESSAGE) == "# at #: rank # lost 'layer.#' after # s (id #)"
    assert "".join(constant_parts(MESSAGE)).startswith(" at : rank  lost  after ")


@pytest.mark.parametrize("line", ["step 9 of 10", "é 12", "no digits"])
def test_the_masks_of_lines_agree(line: str) -> None:
    assert without_digits_raw(line.encode()) == without_digits(line).encode()
    assert len(zero_digits(line.encode())) == len(line.encode())
    assert without_digits_raw(zero_digits(line.encode())) == without_digits_raw(line.encode())


@pytest.mark.parametrize(
    ("path", "package", "below"),
    [
        ("/opt/lib/python3.11/site-packages/torch/nn/modules/module.py", "torch", "torch/nn/modules/module.py"),
        ("/usr/lib/python3/dist-packages/six.py", "six", "six.py"),
        ("C:/env/Lib/site-packages/peft/tuners/lora.py", "peft", "peft/tuners/lora.py"),
        ("/env/site-packages/apex-0.1-py3.8-linux-x86_64.egg/apex/amp.py", "apex", "apex-0.1-py3.8-linux-x86_64.egg/apex/amp.py"),
        ("/a/site-packages/outer/site-packages/inner/x.py", "inner", "inner/x.py"),
        ("/home/user/train.py", None, "/home/user/train.py"),
    ],
)
def test_the_package_of_a_path(path: str, package: str | None, below: str) -> None:
    found = installed_file(path)
    assert (found and found.package) == package
    assert below_site_packages(path) == below
