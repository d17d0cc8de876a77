"""Which operand of a line can have been at fault: what the line rules out is left out, and what it does not show is not told."""

from __future__ import annotations

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.parts import Explained

TOOL = Diagnoser.of([])


def log(line: str, message: str, path: str = "/home/me/train.py") -> str:
    return f'Traceback (most recent call last):\n  File "{path}", line 7, in run\n    {line}\n{message}\n'


def explained(line: str, message: str, lang: str = "en") -> Explained:
    [found] = TOOL.diagnose(log(line, message), lang=lang).explained
    return found


TOLD = [
    ("self.room = length * ratio * rows", "TypeError: unsupported operand type(s) for *: 'NoneType' and 'float'", "`length` is of type NoneType", "length"),
    ("if not 0.0 <= eps:", "TypeError: '<=' not supported between instances of 'float' and 'tuple'", "`eps` of type tuple", "eps"),
    ("x = a + 'b' + c", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'str'", "`a` is of type NoneType", "a"),
    ("total /= count", "ZeroDivisionError: float division by zero", "`count` is 0", "count"),
    ("rate = done / 60 / seconds", "ZeroDivisionError: division by zero", "`seconds` is 0", "seconds"),
    ("f.write(word.encode('utf-8') + ' ' + label)", "TypeError: can't concat str to bytes", "`' '` is of type str", "word.encode('utf-8')"),
    ("a, b = pair", "ValueError: not enough values to unpack (expected 2, got 1)", "`pair` has fewer parts", "pair"),
    ("for a, b in rows:", "ValueError: too many values to unpack (expected 2)", "an item of `rows` has more parts", "rows"),
    ("(a, b), c = [x for x in rows]", "ValueError: too many values to unpack (expected 2)", "`[x for x in rows]` has more parts", "[x for x in rows]"),
    ("last = self.losses[-1]", "IndexError: list index out of range", "`self.losses` is empty", "self.losses"),
    ("label = parts[2]", "IndexError: list index out of range", "`parts` has no element `2`", "parts"),
    ("step = parts[-3]", "IndexError: list index out of range", "`parts` has no element `-3`", "parts"),
    ("row = queue.pop()", "IndexError: pop from empty list", "`queue` is empty", "queue"),
    ("and state['seen'] == 0", "KeyError: 'seen'", "`state` has no key 'seen'", "state"),
    ("(names[id(k)] if k else k): v", "KeyError: 140", "`names` has no key 140", "names"),
    ("}, table['name'] % step)", "KeyError: 'name'", "`table` has no key 'name'", "table"),
    ("place = names.index('tower')", "ValueError: 'tower' is not in list", "`names` does not hold 'tower'", "names"),
    ("names.remove(word)", "ValueError: list.remove(x): x not in list", "`names` does not hold word", "names"),
    ("row = random.choice(rows)", "IndexError: Cannot choose from an empty sequence", "`rows` is empty", "rows"),
    ("some = random.sample(rows, 10)", "ValueError: Sample larger than population or is negative", "fewer elements than the 10", "rows"),
    ("table = dict(rows)", "ValueError: dictionary update sequence element #0 has length 3; 2 is required", "element 0 of `rows` has 3 parts", "rows"),
    ("y = math.log(loss)", "ValueError: math domain error", "`math.log` is not defined", "loss"),
    ("batch = next(loader)", "StopIteration", "`loader` has no more items", "loader"),
    ("n = len(loss)", "TypeError: len() of a 0-d tensor", "`loss` is a single number", "loss"),
    ("logits = outputs['logits']", "TypeError: tuple indices must be integers or slices, not str", "`outputs` is a `tuple`", "outputs"),
    ("score = rows[0][key]", "TypeError: list indices must be integers or slices, not str", "asks it for `key`", "rows[0]"),
    ("name = row['name']", "TypeError: string indices must be integers, not 'str'", "`row` is still text", "row"),
    ("assert len(rows) == len(", "AssertionError", "begins with `len(rows) == len(`", "rows"),
    ("assert rows > 0 and \\", "AssertionError", "begins with `rows > 0 and`", "rows"),
    ("assert rows > least, \\", "AssertionError: too few", "the check `rows > least` was false", "rows"),
    ("assert rows > least, (", "AssertionError: too few", "the check `rows > least` was false", "rows"),
    ("with open(path) as file:", "IsADirectoryError: [Errno 21] Is a directory: 'data/'", "`data/` is a folder", "data/"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message", "told", "name"), TOLD)
def test_the_operand_is_named_in_both_languages(line: str, message: str, told: str, name: str):
    found = explained(line, message)
    assert told in found["condition"]
    assert name in {one["name"] for one in found["arguments"]}
    chinese = explained(line, message, "zh")["condition"]
    assert chinese != found["condition"]
    assert any("一" <= char <= "鿿" for char in chinese)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = a * b + c * d", "TypeError: unsupported operand type(s) for *: 'NoneType' and 'float'"),
        ("ok = a < b and c < d", "TypeError: '<' not supported between instances of 'str' and 'int'"),
    ],
)
def test_of_several_operators_that_fit_none_is_picked(line: str, message: str):
    found = explained(line, message)
    assert found["condition"].startswith("in one of ")
    assert found["suggestions"] == []


def test_two_unpackings_of_one_line_are_not_guessed_between():
    assert "names" not in str(
        TOOL.diagnose(
            log("a, b = [x for x, y in rows]", "ValueError: too many values to unpack (expected 2)")
        ).explained[0]["arguments"]
    )


def test_a_check_of_which_nothing_is_shown_is_not_told():
    assert TOOL.diagnose(log("assert (", "AssertionError: too few")).explained == []


def test_of_several_items_none_is_picked():
    found = explained("x = a['k'] + b['k']", "TypeError: list indices must be integers or slices, not str")
    assert found["arguments"] == []


def test_an_iterator_at_its_end_is_told_of_own_lines_only():
    site = "/opt/venv/lib/python3.11/site-packages/gadget/core.py"
    assert TOOL.diagnose(log("row = next(self.rows)", "StopIteration", site)).explained == []


ARRAYS = [
    ("z = t * np.log(y)", "ValueError: operands could not be broadcast together with shapes (100,10) (100,2) ", "(100,10) and (100,2)", {"t", "np.log(y)"}),
    ("z = np.dot(a, w)", "ValueError: shapes (3,4) and (5,) not aligned: 4 (dim 1) != 5 (dim 0)", "(3,4) and (5,)", {"a", "w"}),
    ("z = a @ w", "ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size 5 is different from 4)", "4 and 5 elements", {"a", "w"}),
    ("x = x.reshape(3, 4)", "ValueError: cannot reshape array of size 12000 into shape (3,5)", "12000 values", {"x"}),
    ("v = x[i]", "IndexError: index 5 is out of bounds for axis 0 with size 5", "numbered 0 to 4", {"x"}),
    ("v = x.argmax(axis=2)", "numpy.exceptions.AxisError: axis 2 is out of bounds for array of dimension 2", "they run from -2 to 1", {"x", "axis"}),
    ("v = x.mean(1)", "numpy.AxisError: axis 1 is out of bounds for array of dimension 0", "asked for its dimension 1", {"x"}),
    ("x = np.stack(rows)", "ValueError: all input arrays must have the same shape", "those of `rows` have several", {"rows"}),
    ("v = x['a']", "IndexError: only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices", "`x` is an array", {"x"}),
    ("v = out['loss']", "IndexError: too many indices for tensor of dimension 2", "`out` is a tensor of 2 dimensions", {"out"}),
    ("v = x[0, 1, 2]", "IndexError: too many indices for array: array is 2-dimensional, but 3 were indexed", "`x` has 2 dimensions", {"x"}),
    ("y = norm(x)", "RuntimeError: running_mean should contain 64 elements not 32", "64 channels", {"x", "num_features"}),
    ("y = norm(x)", "ValueError: expected 4D input (got 3D input)", "an input of 4D", {"x"}),
    ("y = rnn(x)", "RuntimeError: input.size(-1) must be equal to input_size. Expected 10, got 5", "takes 10 values", {"x", "input_size"}),
    ("x = torch.einsum('bi,ij->bj', a, w)", "RuntimeError: einsum(): subscript i has size 4 for operand 1 which does not broadcast with previously seen size 5", "the size 4 in operand 1", {"w"}),
    ("x = torch.zeros(2, n)", "TypeError: zeros(): argument 'size' failed to unpack the object at pos 2 with error \"type must be tuple of ints,but got float\"", "one is a float", {"n"}),
    ("x = torch.stack(rows)", "TypeError: expected Tensor as element 0 in argument 0, but got Image", "`rows` must be a list of tensors", {"rows"}),
    ("x = torch.stack(rows, 0)", "RuntimeError: Sizes of tensors must match except in dimension 0. Got 427 and 436 in dimension 2", "stacked tensors need one shape", {"rows"}),
    ("loss = criterion(out, y)", "IndexError: dimension specified as 0 but tensor has no dimensions", "a single number, without dimensions", {"out", "y"}),
    ("if row == stored[0]:", "RuntimeError: The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 0", "one operand has 5", {"row", "stored[0]"}),
    ("rows += more", "RuntimeError: The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 0", "one operand has 5", {"rows", "more"}),
    ("loss = F.nll_loss(out, y)", "TypeError: nll_loss(): argument 'input' (position 1) must be Tensor, not NoneType", "was given None", {"input"}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message", "told", "names"), ARRAYS)
def test_an_array_operation_names_its_operands(line: str, message: str, told: str, names: set[str]):
    found = explained(line, message)
    assert told in found["condition"]
    assert {one["name"] for one in found["arguments"]} == names
    assert explained(line, message, "zh")["condition"] != found["condition"]


def test_numpy_is_known_in_a_library_too_and_nothing_is_suggested_there():
    site = "/opt/venv/lib/python3.11/site-packages/gadget/core.py"
    message = "IndexError: index 563 is out of bounds for axis 0 with size 560"
    [found] = TOOL.diagnose(log("rows = rows[np.argsort(self.sizes[rows])]", message, site)).explained
    assert "numbered 0 to 559" in found["condition"]
    assert found["suggestions"] == []


def test_what_cannot_become_a_tensor_is_not_converted():
    for kind, codes in (("Image", 1), ("list", 1), ("Picture", 0)):
        found = explained(
            "x = torch.stack(rows)", f"TypeError: expected Tensor as element 0 in argument 0, but got {kind}"
        )
        assert len(found["suggestions"]) == codes


def test_no_dimension_is_added_where_the_numbers_of_rows_differ():
    message = "RuntimeError: The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension {}"
    assert "unsqueeze" not in str(explained("x = a + b", message.format(0))["suggestions"])
    assert "unsqueeze" in str(explained("x = a + b", message.format(1))["suggestions"])


@pytest.mark.parametrize(
    ("line", "message", "codes"),
    [
        (
            "x = torch.einsum('bi, ij -> bj', a, w)",
            "subscript i has size 4 for operand 1 which does not broadcast with previously seen size 5",
            ["print(w.shape)", '"bi, ji -> bj"'],
        ),
        (
            "x = torch.einsum(FORM, a, w)",
            "subscript i has size 4 for operand 1 which does not broadcast with previously seen size 5",
            ["print(w.shape)"],
        ),
        (
            "x = torch.einsum('bth,h->bt', a, w).relu()",
            "the number of subscripts in the equation (1) does not match the number of dimensions (2) for operand 1 and no "
            "ellipsis was given",
            ["print(w.shape)", "w.squeeze(-1)"],
        ),
        (
            "x = torch.einsum('bth,h->bt', a, w)",
            "the number of subscripts in the equation (3) does not match the number of dimensions (2) for operand 0 and no "
            "ellipsis was given",
            ["print(a.shape)", "a.unsqueeze(0)"],
        ),
    ],
)
def test_the_letters_of_an_equation(line: str, message: str, codes: list[str]):
    found = explained(line, f"RuntimeError: einsum(): {message}")
    assert [one["code"] for one in found["suggestions"]] == codes


@pytest.mark.parametrize(
    ("line", "message", "names"),
    [
        (
            "hits = predictions[kept] == labels",
            "IndexError: too many indices for array: array is 1-dimensional, but 2 were indexed",
            {"predictions", "kept"},
        ),
        (
            "np.add.at(table, (labels, predicted), 1)",
            "IndexError: shape mismatch: indexing arrays could not be broadcast together with shapes (24,) (21,) ",
            {"labels", "predicted"},
        ),
        (
            "table = counts[labels, predicted]",
            "IndexError: shape mismatch: indexing tensors could not be broadcast together with shapes [24], [21]",
            {"labels", "predicted"},
        ),
    ],
)
def test_arrays_of_indices(line: str, message: str, names: set[str]):
    found = explained(line, message)
    assert {one["name"] for one in found["arguments"]} == names
    assert found["suggestions"][0]["do"].startswith("Compare")


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("x = x.view(2, -1, 4)", ["x.view(2, -1, 3)", "x.view(1, -1, 4)"]),
        ("x = x.view(2, -1, args.hidden_size)", ["x.view(1, -1, 4)"]),
        ("x = x.view(batch, -1, args.hidden_size)", ["x.view(2, -1, 3)", "x.view(1, -1, 4)"]),
    ],
)
def test_a_size_that_the_line_writes_is_changed_first(line: str, codes: list[str]):
    found = explained(line, "RuntimeError: shape '[2, -1, 4]' is invalid for input of size 12")
    assert [one["code"] for one in found["suggestions"]] == codes


def test_arrays_that_are_joined():
    message = "all the input array dimensions except for the concatenation axis must match exactly, but along dimension 1, the array at index 0 has size 3 and the array at index 1 has size 4"
    found = explained("x = np.concatenate(parts, axis=0)", f"ValueError: {message}")
    assert "array 0 has the size 3 and array 1 the size 4" in found["condition"]
    assert found["suggestions"][0]["code"] == "print([x.shape for x in parts])"
