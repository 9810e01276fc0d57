"""Which steps of older versions can be worked out anew."""

from __future__ import annotations

import pytest

from standout.study.log.chain import ENGINE, is_worked_out_alike


@pytest.mark.parametrize("engine", range(7))
@pytest.mark.parametrize("samples", [False, True])
@pytest.mark.parametrize("promises", [False, True])
def test_what_rests_on_numbers_that_have_changed_is_believed(
    engine: int, samples: bool, promises: bool
) -> None:
    """Chances have changed since, and so have the thresholds of samples; nothing else has."""
    is_known = 1 <= engine <= ENGINE
    expected = is_known and (engine == ENGINE or not (samples or promises))
    assert is_worked_out_alike(engine, samples=samples, promises=promises) is expected
