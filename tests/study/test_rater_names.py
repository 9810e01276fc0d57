"""What people read for raters, and how far raters agree."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout import Problem, Study
from standout.analysis.checks.sources import agreement_of
from standout.report.facts import gather
from standout.study.names import readable_names
from standout.study.storage.store import open_store
from standout.study.storage.tokens import create


def test_a_label_names_one_rater_and_numbers_tell_several_apart() -> None:
    workers = ["rater:a:1", "lab", "rater:b:1", "rater:b:2", "rater:c:1", "rater:local:9"]
    assert readable_names(workers, {"a": "Ada", "b": "office", "c": ""}) == {
        "rater:a:1": "Ada",
        "rater:b:1": "rater 2 (office)",
        "rater:b:2": "rater 3 (office)",
        "rater:c:1": "rater 4",
        "rater:local:9": "rater 5",
    }


def test_the_page_and_the_report_read_them(tmp_path: Path) -> None:
    place = tmp_path / "s.db"
    rng = np.random.default_rng(0)
    with Study.create(place, ["a", "b", "c"], Problem(noise="bernoulli")) as study:
        store = open_store(place)
        link = create(store, "rater", None, "Ada", by="")[0].id
        store.close()
        for number, worker in enumerate([f"rater:{link}:x", "rater:local:y", "rater:local:z"]):
            for arm in study.arms:
                ticket = next(t for t in study.ask(9, worker=worker) if t.arm == arm)
                study.tell(ticket, float(rng.random() < 0.5 or number == 0), worker=worker)
                study.release(study.pending()[i].ticket for i in range(len(study.pending())))
        history = study.arm_history(0)
        assert {one.worker for one in history.workers} == {"Ada", "rater 2", "rater 3"}
        assert {one.worker for one in history.latest} == {"Ada", "rater 2", "rater 3"}
        study.ask(worker=f"rater:{link}:x")
        assert "Ada" in {one.worker for one in study.pending()}
        (found,) = [each for each in gather(study).findings if each.key == "agreement"]
        assert found.text.startswith("Agreement ")
        assert "9 answers to 3 items" in found.text


def alpha_by_pairs(arm: list[int], reward: list[float]) -> float:
    """Krippendorff's alpha by its definition: pairs of answers, those of an item and all."""
    items = [[r for a, r in zip(arm, reward, strict=True) if a == item] for item in set(arm)]
    items = [answers for answers in items if len(answers) > 1]
    every = [one for answers in items for one in answers]
    n = len(every)
    within = sum(
        2 * (a - b) ** 2 / (len(answers) - 1)
        for answers in items
        for a, b in combinations(answers, 2)
    )
    apart = sum(2 * (a - b) ** 2 for a, b in combinations(every, 2)) / (n * (n - 1))
    return 1 - within / n / apart


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=4, max_size=40))
def test_agreement_is_krippendorffs_alpha(answers: list[tuple[int, int]]) -> None:
    arm, reward = [a for a, _ in answers], [float(r) for _, r in answers]
    found = agreement_of(np.array(arm), np.array(reward), np.ones(len(arm), dtype=bool))
    if found is None:
        shared = {r for a, r in zip(arm, reward, strict=True) if arm.count(a) > 1}
        assert len(shared) < 2
    else:
        assert math.isclose(found.alpha, alpha_by_pairs(arm, reward), abs_tol=1e-9)


def test_agreement_at_its_ends() -> None:
    arm = np.repeat(np.arange(50), 4)
    everyone = np.ones(200, dtype=bool)
    alike = agreement_of(arm, (arm % 2).astype(float), everyone)
    chance = agreement_of(arm, np.random.default_rng(0).random(200), everyone)
    assert alike is not None
    assert chance is not None
    assert alike.alpha == 1
    assert chance.alpha == pytest.approx(0, abs=0.15)
    assert agreement_of(np.arange(3), np.ones(3), np.ones(3, dtype=bool)) is None
