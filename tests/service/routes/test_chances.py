"""Chances over HTTP: the same as a study's, apart from what is certain."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from standout import Client, StopReason, Study
from standout.errors import ProblemError
from tests.patience import HANGS
from tests.service.live import serving

ARMS = ["ash", "elm", "fir", "=oak", "yew"]


def tell_some(study: Study) -> None:
    rng = np.random.default_rng(0)
    rewards = [(arm, rng.normal(2.0 * (arm == "yew"), 0.3)) for arm in ARMS for _ in range(8)]
    study.tell_many(rewards)


def test_a_client_sees_what_a_study_says(tmp_path: Path) -> None:
    file = str(tmp_path / "x.db")
    with serving(file) as url, Client(url, patience=HANGS) as client:
        remote = client.create("beans", ARMS, "gaussian:0.3", k=2.0)
        assert remote.chances().note is not None
        with Study.open(file, "beans") as study:
            tell_some(study)
            ours = study.chances(false_share=0.2, seed=3)
        theirs = remote.chances(false_share=0.2, seed=3)
        assert theirs.to_dict() == ours.to_dict()
        assert theirs.leaders(1)[0][0] == "yew"
        # What is probable is nowhere among what is certain.
        assert remote.status().outliers == ()
        assert remote.chances(false_share=0.2, seed=3).to_dict() == ours.to_dict()


def test_a_csv_that_a_spreadsheet_may_open(tmp_path: Path) -> None:
    import urllib.request

    file = str(tmp_path / "x.db")
    with serving(file) as url, Client(url, patience=HANGS) as client:
        client.create("beans", ARMS, "gaussian:0.3", k=2.0)
        with Study.open(file, "beans") as study:
            tell_some(study)
            chance = study.chances().chance
        address = f"{url}/api/v1/studies/beans/chances?form=csv"
        with urllib.request.urlopen(address) as answer:
            assert "attachment" in answer.headers["Content-Disposition"]
            rows = list(csv.DictReader(io.StringIO(answer.read().decode())))
    assert [row["arm"] for row in rows] == ["ash", "elm", "fir", "'=oak", "yew"]
    np.testing.assert_allclose([float(row["chance"]) for row in rows], chance, atol=1e-6)


def test_a_promise_over_http(tmp_path: Path) -> None:
    with serving(str(tmp_path / "x.db")) as url, Client(url, patience=HANGS) as client:
        with pytest.raises(ProblemError, match="until"):
            client.create("bad", ARMS, "gaussian:0.3", until="luck=1")
        study = client.create("beans", ARMS, "gaussian:0.1", k=2.0, until="errors=0.9")
        means = dict(zip(ARMS, (0.0, 0.1, 0.2, 0.3, 3.0), strict=True))
        rng = np.random.default_rng(0)
        while tickets := study.ask(20):
            study.tell_many([(one, rng.normal(means[one.arm], 0.1)) for one in tickets])
        now = study.status()
    assert now.until == "errors=0.9"
    assert now.reason in (StopReason.ESTIMATE, StopReason.DECIDED)
    assert (now.reason is StopReason.ESTIMATE) == bool(now.undecided)
