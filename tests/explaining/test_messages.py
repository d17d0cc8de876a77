"""Messages that explain their failure without a frame: the pasted last line of a log is often all there is."""

from __future__ import annotations

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.model import Report

TOOL = Diagnoser.of([])


def report(message: str, lang: str = "en") -> Report:
    return TOOL.diagnose(f"{message}\n", lang=lang)


CASES = [
    ("pydantic_core._pydantic_core.ValidationError: 1 validation error for RunConfig\ndata.fake\n  Input should be a valid boolean [type=bool_type, input_value={'a': 1}, input_type=dict]", "data.fake", "fake"),
    ("ValidationError: usage.cached_tokens Field required", "Field required", "cached_tokens"),
    ("AttributeError: module 'gadget.core' has no attribute 'wind_up'", "wind_up", "gadget.core"),
    ("ImportError: cannot import name 'Spring' from 'gadget.core' (/opt/venv/gadget/core.py)", "Spring", "gadget.core"),
    ("TypeError: wind() got multiple values for keyword argument 'turns'", "twice to `wind`", "turns"),
    ("TypeError: sqrt(): argument 'input' (position 1) must be Tensor, not float", "float", "input"),
    ("TypeError: Gadget.wind() missing 1 required positional argument: 'turns'", "needs `turns`", "turns"),
    ("TypeError: Gadget.wind() got an unexpected keyword argument 'colour'", "no parameter", "colour"),
    ("AttributeError: 'tuple' object has no attribute 'contiguous'", "a tensor was expected", "contiguous"),
    ("AttributeError: 'NoneType' object has no attribute 'wind_up'", "None", "wind_up"),
    ("AttributeError: 'str' object has no attribute 'value'", "enum", "value"),
    ("AttributeError: 'SpringConfig' object has no attribute 'turns'", "has no field", "turns"),
    ("NameError: name 'spring' is not defined", "nothing is named", "spring"),
    ("OSError: /opt/venv/gadget/libspring.so: undefined symbol: wind_up", "another build", "/opt/venv/gadget/libspring.so"),
    ("RuntimeError: <Queue at 0x7f1a00331160 maxsize=50000> is bound to a different event loop", "event loop", "Queue"),
    ("TypeError: cannot pickle code objects", "cannot be pickled", "code"),
    ("KeyError: slice(None, 64, None)", "as if it were a list", "slice(None, 64, None)"),
    ("TypeError: unsupported operand type(s) for /: 'int' and 'list'", "not defined", "/"),
    ("AttributeError: 'bool' object has no attribute 'unsqueeze'", "a tensor was expected", "unsqueeze"),
    ("UnboundLocalError: local variable 'spring' referenced before assignment", "before any line", "spring"),
    ("UnboundLocalError: cannot access local variable 'spring' where it is not associated with a value", "before any line", "spring"),
    ("ImportError: cannot import name 'Spring' from", "no `Spring`", "Spring"),
    ("RuntimeError: aten.mul.Tensor got mixed torch.Tensor and DTensor, need to convert all", "DTensors", "aten.mul.Tensor"),
    ("NotImplementedError: Could not run 'gadget::wind' with arguments from the 'CPU' backend. This could be", "on CPU", "gadget::wind"),
    ("RuntimeError: chunk expects `chunks` to be greater than 0, got: 0", "greater than 0", "chunks"),
    ("PermissionError: [Errno 13] Permission denied: '/gadget/spring.bin'", "may not open", "/gadget/spring.bin"),
    ("FileNotFoundError: [Errno 2] No such file or directory: '/gadget/spring.bin'", "no file", "/gadget/spring.bin"),
    ("TypeError: wind() takes from 5 to 9 positional arguments but 10 were", "10 were passed", "wind"),
]  # fmt: skip


NAMELESS = [
    ("TypeError: cannot unpack non-iterable NoneType object", "should have given a tuple"),
    ("ValueError: too many values to unpack (expected 2)", "2 names"),
    ("ValueError: not enough values to unpack (expected 3, got 2)", "only 2 values"),
    ("TypeError: object of type 'NoneType' has no len()", "length of a `NoneType`"),
    ("TypeError: wind() argument after ** must be a mapping, not NoneType", "a `NoneType` was there"),
    ("TypeError: 'NoneType' object is not a mapping", "a `NoneType` was there"),
    ("TypeError: isinstance() arg 2 must be a type, a tuple of types, or a union", "not a class"),
    ("ValueError: all the input arrays must have same number of dimensions, but the array at index 0 has 2 dimension(s) and the array at index 1 has 1 dimension(s)", "that at 0 has 2"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "told"), NAMELESS)
def test_messages_of_python_itself_are_not_taken_for_a_librarys_own(message: str, told: str):
    [found] = report(message).explained
    assert told in found["condition"]
    assert found["package"] == ""
    assert report(message, "zh").explained[0]["condition"] != found["condition"]


@pytest.mark.parametrize(("message", "told", "name"), CASES)
def test_a_message_alone_names_the_argument(message: str, told: str, name: str):
    [found] = report(message).explained
    assert told in found["condition"]
    assert name in {one["name"] for one in found["arguments"]}
    assert found["basis"] == "rule"
    assert report(message).exit_code == 3


@pytest.mark.parametrize("message", [message for message, *_ in CASES])
def test_it_is_said_in_chinese_too(message: str):
    assert report(message, "zh").explained[0]["condition"] != report(message).explained[0]["condition"]


def test_a_message_that_names_an_attribute_only_tells_its_kind_and_place():
    text = "  File \"/opt/venv/lib/python3.11/site-packages/gadget/core.py\", line 3, in wind\n    spring.wind_up()\nAttributeError: 'Gadget' object has no attribute 'wind_up'"
    [found] = report(text).explained
    assert "of type Gadget" in found["condition"]
    assert "wind_up" not in {one["name"] for one in found["arguments"]}  # an attribute is nothing that a user passes


def test_the_refused_value_of_a_field_is_shown_and_an_allowed_one_suggested():
    text = "pydantic_core._pydantic_core.ValidationError: 1 validation error for RunConfig\noptim.name\n  Input should be one of 'adamw', 'sgd' [type=literal_error, input_value='adam', input_type=str]"
    [found] = report(text).explained
    assert found["arguments"][0]["value"] == "'adam'"
    assert found["suggestions"][0]["code"] == "name='adamw'"


def test_without_a_line_operands_have_no_names_and_nothing_is_suggested_for_them():
    [found] = report(
        "RuntimeError: Sizes of tensors must match except in dimension 2. Expected size 512 but got size 1"
    ).explained
    assert "512" in found["condition"]
    assert not found["arguments"]
    assert not found["suggestions"]


@pytest.mark.parametrize(
    "message",
    [
        "KeyError: 'a'",
        "AttributeError: 'Gadget' object has no attribute 'a'",
        "ValueError: no",
        "ZeroDivisionError: division by zero",
    ],
)
def test_a_message_that_says_nothing_more_stays_unexplained(message: str):
    assert not report(message).explained


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("TypeError: Strings must be encoded before hashing", "bytes"),
        ("ValueError: substring not found", "not there"),
        ("torch.fx.proxy.TraceError: symbolically traced variables cannot be used as inputs to control flow", "traced"),
        ("RuntimeError: narrow() cannot be applied to a 0-dim tensor.", "single number"),
        ("RuntimeError: CUDA NVRTC error: NVRTC_ERROR_COMPILATION", "NVRTC"),
        ("RuntimeError: CUDA driver error: a PTX JIT compilation failed", "driver"),
        ("RuntimeError: cannot resize variables that require grad", "resized"),
    ],
)
def test_a_message_without_a_name_still_tells_what_was_wrong(message: str, told: str):
    [found] = report(message).explained
    assert told in found["condition"]
    assert found["condition"] != report(message, "zh").explained[0]["condition"]


def test_an_attribute_that_is_no_tensors_says_nothing_of_a_tensor():
    assert not report("AttributeError: 'tuple' object has no attribute 'wind_up'").explained


@pytest.mark.parametrize(
    ("message", "told", "name"),
    [
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "cuBLAS gave", "cublasCreate"),
        (
            "CUDA error: internal error when calling `cusparseSpMM( handle, a)`",
            "cuSPARSE gave internal error",
            "cusparseSpMM",
        ),
        (
            "cusolver error: CUSOLVER_STATUS_INVALID_VALUE, when calling `cusolverDnXgeev( handle)`",
            "is not allowed",
            "cusolverDnXgeev",
        ),
    ],
)
def test_a_status_of_a_cuda_library_is_told_with_its_meaning(message: str, told: str, name: str):
    [found] = report(f"RuntimeError: {message}").explained
    assert told in found["condition"]
    assert name in {one["name"] for one in found["arguments"]}


SOLVER = [
    ("NOT_INITIALIZED", "could not be started"), ("ALLOC_FAILED", "no memory"), ("INVALID_VALUE", "not allowed"), ("ARCH_MISMATCH", "feature"),
    ("MAPPING_ERROR", "reach the GPU's memory"), ("EXECUTION_FAILED", "kernel failed"), ("INTERNAL_ERROR", "inside of it"),
    ("MATRIX_TYPE_NOT_SUPPORTED", "does not know"), ("NOT_SUPPORTED", "does not know"), ("ZERO_PIVOT", "singular"), ("INVALID_LICENSE", "license"),
    ("IRS_PARAMS_NOT_INITIALIZED", "refinement"), ("IRS_PARAMS_INVALID_PREC", "refinement"), ("IRS_INFOS_NOT_DESTROYED", "refinement"),
    ("IRS_OUT_OF_RANGE", "not allowed"), ("IRS_MATRIX_SINGULAR", "singular"), ("INVALID_WORKSPACE", "not allowed"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "told"), SOLVER)
def test_each_status_of_cusolvers_header_has_its_own_meaning(status: str, told: str):
    message = f"RuntimeError: cusolver error: CUSOLVER_STATUS_{status}, when calling `cusolverDnXgeev( handle)`"
    [found] = report(message).explained
    assert told in found["condition"]


def test_a_kernel_that_failed_is_run_again_so_that_the_failing_call_is_shown():
    [found] = report(
        "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle)`"
    ).explained
    assert "CUDA_LAUNCH_BLOCKING=1" in (found["suggestions"][0]["code"] or "")
