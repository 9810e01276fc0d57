"""Answers as people use them: frames, words, pictures."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas
import polars
import pytest

from standout import Identification, Problem, Study, analyse, simulate
from standout.errors import MissingExtraError, StandoutError
from standout.results import display

mpl.use("Agg")


def some_answer(n_arms: int = 6, noise: str = "bernoulli") -> Any:
    rng = np.random.default_rng(0)
    rates = [*np.linspace(0.1, 0.3, n_arms - 1), 0.95]
    table = {f"<arm {i}>": rng.random(80) < rate for i, rate in enumerate(rates)}
    return analyse(table, Problem(noise=noise, k=2))


def test_an_answer_as_a_frame() -> None:
    said = some_answer()
    frame = said.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["arm", "verdict", "mean", "lower", "upper", "pulls", "chance"]
    assert frame["arm"].tolist() == list(said.found.arms)
    assert frame["pulls"].sum() == said.rewards
    assert said.found.to_frame().equals(frame)
    plain = said.found.to_dict()
    assert [len(plain[name]) for name in ("means", "lower", "upper", "pulls_by_arm")] == [6] * 4


def test_frames_of_whichever_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "find_spec", lambda name: name == "polars" or None)
    found = some_answer().to_frame()
    assert isinstance(found, polars.DataFrame)
    assert len(found["arm"]) == 6
    monkeypatch.setattr(display, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="pandas or polars"):
        some_answer().to_frame()
    with pytest.raises(StandoutError, match="no data frames of 'excel'"):
        some_answer().to_frame("excel")


@pytest.mark.parametrize("n_arms", [6, 100])
def test_a_picture_for_notebooks(n_arms: int) -> None:
    page = some_answer(n_arms)._repr_html_()
    assert "<script" not in page
    assert "&lt;arm " in page
    drawn = page[page.index("<svg") : page.index("</svg>") + 6]
    assert ElementTree.fromstring(drawn).get("role") == "img"
    assert page != some_answer(n_arms)._repr_html_(), "names in pictures must differ"


def test_a_plot_on_given_axes() -> None:
    from matplotlib import pyplot

    _, ax = pyplot.subplots()
    assert some_answer().plot(ax) is ax
    assert ax.get_yticklabels()[0].get_text() == "<arm 5>"
    assert len(some_answer(100).found.plot().get_yticks()) <= 60
    pyplot.close("all")


def test_short_words(tmp_path: Any) -> None:
    said = some_answer()
    assert repr(said).startswith("<Analysis of 480 rewards of 6 arms: ")
    assert repr(said.found).startswith("<Identification: ")
    with Study.create(tmp_path / "a.db", ["a", "b", "c"], Problem(noise="bernoulli")) as study:
        now = study.status()
        assert (
            repr(now) == "<Status of 'main': 0 outliers, 0 normal, 3 undecided; 0 pulls; running>"
        )
        assert "3 arms, 0 pulls" in now.summary()
        assert now.to_frame()["verdict"].tolist() == ["undecided"] * 3
        assert "<pre" in now._repr_html_()
        assert study.identification()._repr_html_().startswith("<pre")
        with pytest.raises(StandoutError, match="nothing to draw"):
            study.identification().plot()


def test_a_status_has_its_picture(tmp_path: Any) -> None:
    from matplotlib import pyplot

    with Study.create(tmp_path / "a.db", ["a", "b", "c"], Problem(noise="bernoulli")) as study:
        study.tell_many([(arm, reward) for arm in "abc" for reward in (0, 1)])
        now = study.status()
        assert "<svg" in now._repr_html_()
        _, ax = pyplot.subplots()
        assert now.plot(ax) is ax
        pyplot.close("all")
        assert now.to_frame().equals(study.identification().to_frame())
        plain = now.to_dict()
        assert "found" not in plain, "what is sent did not grow"
        sent = type(now).from_dict(plain)
        assert sent == now
        assert sent.to_frame()["verdict"].tolist() == ["undecided"] * 3
        assert "<svg" not in sent._repr_html_()
        with pytest.raises(StandoutError, match=r"study\.identification\(\) has them"):
            sent.plot()


def test_an_answer_from_json_has_its_picture() -> None:
    found = some_answer().found
    again = Identification.from_dict(found.to_dict())
    assert "<svg" in again._repr_html_()
    assert again.summary() == found.summary()


def test_a_simulation_as_a_frame_and_a_picture() -> None:
    from matplotlib import pyplot

    found = simulate("fig4", ["focus", "random"], runs=2, budget=30)
    frame = found.to_frame()
    assert frame["method"].tolist() == ["focus", "focus", "random", "random"]
    assert frame["pulls"].tolist() == [30] * 4
    assert "focus: 0 of 2 runs stopped" in found.summary()
    assert repr(found) == "<Simulation of fig4: focus, random; 2 runs each>"
    page = found._repr_html_()
    drawn = ElementTree.fromstring(page[page.index("<svg") :])
    assert len(drawn.findall("circle")) == 4
    assert "2 unfinished" in page
    ax = found.plot()
    assert [each.get_text() for each in ax.get_yticklabels()] == [
        "focus: 2 unfinished",
        "random: 2 unfinished",
    ]
    assert found.plot(ax) is ax
    pyplot.close("all")


def test_every_answer_speaks_the_same_words(tmp_path: Any) -> None:
    """`summary`, `to_frame`, `plot`, `report` and the picture for a notebook."""
    from matplotlib import pyplot

    rng = np.random.default_rng(0)
    table = {"ash": [0, 1] * 9, "elm": [1, 0] * 9, "fir": [0] * 18}
    said = analyse(table, "bernoulli")
    assert said.found.chances is not None
    simulation = simulate("fig4", "focus", runs=2, budget=30)
    with Study.create(tmp_path / "s.db", list(table), Problem(noise="bernoulli")) as study:
        for arm in table:
            study.tell(arm, float(rng.integers(2)))
        for answer in (said.found, said, said.found.chances, simulation, study, study.status()):
            name = type(answer).__name__
            assert len(answer.summary().splitlines()) > 0, name
            assert len(answer.to_frame()) > 0, name
            assert answer._repr_html_().startswith("<pre"), name
            assert answer.plot().has_data(), name
            page = answer.report(tmp_path / f"{name}.html").read_text("utf-8")
            assert page.startswith("<!doctype html>"), name
            assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")
            assert "fir" in page or name == "Simulation"
    pyplot.close("all")


def test_a_page_escapes_what_arms_are_called(tmp_path: Any) -> None:
    table = {"<b>ash": [0, 1], "elm&": [1, 0], "</pre><script>": [0, 0]}
    page = analyse(table, "bernoulli").report(tmp_path / "a.html").read_text("utf-8")
    assert "<script" not in page
    assert "&lt;b&gt;ash" in page
