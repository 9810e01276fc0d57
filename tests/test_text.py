"""Numbers and nouns: one helper decides the form of a word, and everything uses it."""

from __future__ import annotations

import re
from pathlib import Path

from standout.text import agree, article, plural, verdicts

SOURCE = Path(__file__).parents[1] / "src" / "standout"
NOUNS = "arm|outlier|pull|reward|round|row|run|ticket|token|worker|failure|answer"
COUNTED = re.compile(
    rf"\{{(?:len\([^{{}}]*\)|[\w.]+:,|count\([^{{}}]*\))\}} (?:more |told )?(?:{NOUNS})s\b(?! each)"
)
"""A number and a noun that is always in the plural."""
ELSEWHERE = ("study", "service", "paper")
"""Packages with words of their own."""
NEVER_ONE = (
    "MOST",
    "AT_ONCE",
    "BUDGET",
    "FEWEST",
    "n_arms",
    "subset",
    "total = ",
    "before:,",
    "names for",
    "_mean",
    "of the {",
)
"""What is never 1."""


def test_the_helpers() -> None:
    assert [plural(n, "pull") for n in (0, 1, 2, 1000)] == [
        "0 pulls", "1 pull", "2 pulls", "1,000 pulls",
    ]  # fmt: skip
    assert plural(2, "study", "studies") == "2 studies"
    assert [agree(n, "is", "are") for n in (0, 1, 2)] == ["are", "is", "are"]
    assert verdicts(1, 0, 2) == "1 outlier, 0 normal, 2 undecided"
    assert article("owner's token") == "an owner's token"
    assert article("user") == "a user"


def test_no_number_stands_before_a_noun_that_is_always_in_the_plural() -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] in ELSEWHERE:
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            is_wrong = COUNTED.search(line) and not any(word in line for word in NEVER_ONE)
            assert not is_wrong, f"{path.name}: {line.strip()}"
