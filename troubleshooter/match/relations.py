"""Named predicates over captured values, for `relation:` conditions.

Each is one function; the relation's name has ``-`` where the function has ``_``. A predicate returns None if a value is
missing or is no number; the condition is then not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kb import lazy

_UNITS = {
    "": 1.0,
    "b": 1.0,
    "bytes": 1.0,
    "kib": 2.0**10,
    "mib": 2.0**20,
    "gib": 2.0**30,
    "tib": 2.0**40,
    "kb": 1e3,
    "mb": 1e6,
    "gb": 1e9,
}
_SIZE = lazy.compile(r"\s*([-+]?[\d_,]*\.?\d+(?:[eE][-+]?\d+)?)\s*([A-Za-z]*)\s*$")


def number(value: Any) -> float | None:
    """A number, or a size with its unit in bytes ("79.32 GiB"); None when it is neither."""
    if isinstance(value, (int, float)):
        return float(value)
    found = _SIZE.match(str(value))
    if found is None or found[2].lower() not in _UNITS:
        return None
    return float(found[1].replace(",", "").replace("_", "")) * _UNITS[found[2].lower()]


def equal(a: Any, b: Any) -> bool:
    """The same number, or the same text."""
    x, y = number(a), number(b)
    return x == y if x is not None and y is not None else str(a).strip() == str(b).strip()


def different(a: Any, b: Any) -> bool:
    return not equal(a, b)


def less(a: Any, b: Any) -> bool | None:
    x, y = number(a), number(b)
    return None if x is None or y is None else x < y


def greater(a: Any, b: Any) -> bool | None:
    x, y = number(a), number(b)
    return None if x is None or y is None else x > y


def ratio_about(a: Any, b: Any, ratio: Any, within: Any = 0.05) -> bool | None:
    """a / b lies around a ratio, within a relative distance."""
    x, y, r, w = number(a), number(b), number(ratio), number(within)
    if None in (x, y, r, w) or not y:
        return None
    return abs((x or 0.0) / y - (r or 0.0)) <= (w or 0.0) * abs(r or 0.0)


def doubled(a: Any, b: Any) -> bool | None:
    """b is twice a, or a is twice b (a sequence that a cache doubled)."""
    x, y = number(a), number(b)
    return None if x is None or y is None or not x or not y else x == 2 * y or y == 2 * x


def half_of_product(n: Any, a: Any, b: Any) -> bool | None:
    """n is half of a × b: a 4-bit weight, two values a byte, seen as a matrix."""
    x, y, z = number(n), number(a), number(b)
    return None if x is None or y is None or z is None else x * 2 == y * z


def multiple(a: Any, b: Any) -> bool | None:
    """a is a whole multiple of b."""
    x, y = number(a), number(b)
    return None if x is None or not y else x % y == 0


def not_multiple(a: Any, b: Any) -> bool | None:
    found = multiple(a, b)
    return None if found is None else not found


def slightly_less(a: Any, b: Any, within: Any = 0.02) -> bool | None:
    """a lies a little below b (a vocabulary without its padding rows)."""
    x, y, w = number(a), number(b), number(within)
    if x is None or y is None or w is None or not y:
        return None
    return 0 < y - x <= w * y


def far_apart(a: Any, b: Any, within: Any = 0.02) -> bool | None:
    x, y, w = number(a), number(b), number(within)
    if x is None or y is None or w is None or not max(x, y):
        return None
    return abs(x - y) > w * max(x, y)


def far_below(a: Any, b: Any, share: Any = 0.6) -> bool | None:
    """a is less than a share of b (own use far below a GPU's capacity)."""
    x, y, s = number(a), number(b), number(share)
    return None if x is None or y is None or s is None or not y else x < s * y


def share_below(part: Any, whole: Any, share: Any) -> bool | None:
    """part is less than a share of the whole."""
    return far_below(part, whole, share)


def share_above(part: Any, whole: Any, share: Any) -> bool | None:
    """part is more than a share of the whole."""
    x, y, s = number(part), number(whole), number(share)
    return None if x is None or y is None or s is None else x > s * y


def near(a: Any, b: Any, within: Any) -> bool | None:
    """a and b differ by no more than a distance."""
    x, y, w = number(a), number(b), number(within)
    return None if x is None or y is None or w is None else abs(x - y) <= w


def gap_above(a: Any, b: Any, gap: Any) -> bool | None:
    """a is larger than b by more than a gap."""
    x, y, g = number(a), number(b), number(gap)
    return None if x is None or y is None or g is None else x - y > g


def gap_share_above(a: Any, b: Any, whole: Any, share: Any) -> bool | None:
    """a is larger than b by more than a share of a whole."""
    x, y, w, s = number(a), number(b), number(whole), number(share)
    return None if x is None or y is None or w is None or s is None else x - y > s * w


def near_or_above(a: Any, b: Any, share: Any = 0.8) -> bool | None:
    found = far_below(a, b, share)
    return None if found is None else not found


RELATIONS: dict[str, Callable[..., bool | None]] = {
    name.replace("_", "-"): function
    for name, function in (
        ("equal", equal), ("different", different), ("less", less), ("greater", greater), ("ratio_about", ratio_about),
        ("doubled", doubled), ("half_of_product", half_of_product), ("multiple", multiple), ("not_multiple", not_multiple),
        ("slightly_less", slightly_less), ("far_apart", far_apart), ("far_below", far_below), ("near_or_above", near_or_above),
        ("near", near), ("gap_above", gap_above), ("gap_share_above", gap_share_above),
        ("share_below", share_below), ("share_above", share_above),
    )
}  # fmt: skip
