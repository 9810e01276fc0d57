"""Whatever happens to a study, what it certifies is right while every interval holds its mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack.walks import Walk
from tests.attack.watching import Count


@pytest.mark.parametrize("seed", range(2))
def test_studies_driven_at_random(folder: Path, seed: int) -> None:
    count = Count()
    for number in range(52):
        Walk(str(folder / "walks.db"), seed, number).play(count)
    assert not count.faults, "\n".join(count.faults[:5])
    assert count.share_held() > 0.8
    assert sum(count.verdicts.values()) > 40
