"""How rare it is that a condition holds: the rarest required condition of a symptom finds its entry."""

WORDS = 6
EXCEPTION = 5
END = 4
ODD_METRIC = 3
METRIC = 2
NAME = 1
ANYTHING = 0
