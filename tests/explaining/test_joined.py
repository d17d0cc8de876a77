"""What is suggested where two types do not go together, or a tuple is asked for what a tensor has."""

from __future__ import annotations

import pytest

from troubleshooter.pipeline import Diagnoser

TOOL = Diagnoser.of([])


def codes(line: str, message: str) -> list[str | None]:
    log = f'Traceback (most recent call last):\n  File "/home/me/train.py", line 7, in run\n    {line}\n{message}\n'
    [found] = TOOL.diagnose(log).explained
    return [step["code"] for step in found["suggestions"]]


PLUS = "TypeError: unsupported operand type(s) for +: "


@pytest.mark.parametrize(
    ("line", "message", "code"),
    [
        ("target = args.output_dir + '/adapter'", PLUS + "'PosixPath' and 'str'", "args.output_dir / 'adapter'"),
        ("target = root + f'/step-{n}'", PLUS + "'PosixPath' and 'str'", "root / f'step-{n}'"),
        ("target = root + '.json'", PLUS + "'PosixPath' and 'str'", "str(root) + '.json'"),
        ("target = root + name", PLUS + "'WindowsPath' and 'str'", "root / name"),
        ("target = 'runs' + name", PLUS + "'str' and 'PosixPath'", None),
        ("target = root + name", PLUS + "'PosixPath' and 'PosixPath'", "root / name"),
        ("target = root / name", "TypeError: unsupported operand type(s) for /: 'str' and 'str'", "Path(root) / name"),
        ("text = count + ' rows'", PLUS + "'int' and 'str'", "str(count) + ' rows'"),
        ("total = count + read", PLUS + "'int' and 'str'", "float(read)"),
        ("total = count + '5'", PLUS + "'int' and 'str'", "float('5')"),
        ("rows = rows + name", 'TypeError: can only concatenate list (not "str") to list', "[name]"),
        ("rows = rows + more", 'TypeError: can only concatenate list (not "tuple") to list', "list(more)"),
        ("sizes = sizes + n", 'TypeError: can only concatenate tuple (not "int") to tuple', "(n,)"),
    ],
)
def test_two_types_are_joined_in_a_way_that_fits_them(line: str, message: str, code: str | None):
    first = codes(line, message)[0]
    assert first == (code or "Path('runs') / name")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = scale * ' rows'", "TypeError: unsupported operand type(s) for *: 'float' and 'str'"),
        ("x = table - 'rows'", "TypeError: unsupported operand type(s) for -: 'dict' and 'str'"),
        ("x = table - name", "TypeError: unsupported operand type(s) for -: 'dict' and 'str'"),
    ],
)
def test_a_text_that_is_no_number_is_not_turned_into_one(line: str, message: str):
    assert not any("float" in (code or "") for code in codes(line, message))


@pytest.mark.parametrize(
    ("line", "kind", "name", "code"),
    [
        ("activation = output.detach()", "tuple", "detach", "output[0].detach()"),
        ("size = output.shape[-1]", "tuple", "shape", "output[0].shape"),
        ("x = out.hidden_states.mean(dim=1)", "tuple", "mean", "out.hidden_states[-1].mean(dim=1)"),
        ("losses.backward()", "list", "backward", "sum(losses).backward()"),
        ("x = ids.to(device)", "list", "to", "torch.tensor(ids)"),
        ("x = scores.astype(float)", "list", "astype", "np.asarray(scores)"),
    ],
)
def test_a_part_of_a_tuple_is_taken(line: str, kind: str, name: str, code: str):
    assert codes(line, f"AttributeError: '{kind}' object has no attribute '{name}'")[0] == code


@pytest.mark.parametrize(("kind", "name"), [("tuple", "items"), ("Output", "detach"), ("tuple", "sum")])
def test_what_no_tensor_has_is_not_looked_for_in_a_part(kind: str, name: str):
    assert "[0]" not in str(codes(f"x = rows.{name}()", f"AttributeError: '{kind}' object has no attribute '{name}'"))


def test_a_shape_has_no_part_that_is_a_tensor():
    assert "[0]" not in str(codes("n = x.shape.size()", "AttributeError: 'tuple' object has no attribute 'size'"))
