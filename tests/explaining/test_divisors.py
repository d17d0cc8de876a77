from hypothesis import given
from hypothesis import strategies as st

from troubleshooter.explaining.divisors import MAX_TRIED, largest_divisor, nearest_divisor

SMALL = st.integers(1, 2000)


@given(SMALL, SMALL)
def test_the_same_divisors_as_by_trying_all(number: int, wanted: int) -> None:
    divisors = [one for one in range(1, number + 1) if number % one == 0]
    assert largest_divisor(number, wanted) == max(one for one in divisors if one <= wanted)
    assert nearest_divisor(number, wanted) == min(divisors, key=lambda one: (abs(one - wanted), one))


def test_numbers_of_any_size_end_in_time() -> None:
    prime = 2**61 - 1
    assert largest_divisor(prime, prime - 1) is None
    assert nearest_divisor(prime, prime // 2) is None
    assert largest_divisor(prime, MAX_TRIED) == 1
    assert nearest_divisor(10**18, 96) == 100
