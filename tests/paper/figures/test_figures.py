"""A miniature of each figure from end to end, with fixed seeds."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from standout.cli.main import app
from standout.core.typing import Floats
from standout.paper.claims import Verdict
from standout.paper.figures import anytime, fig1, fig2, fig3, fig4
from standout.paper.reproduce import Reproduction, reproduce
from standout.paper.settings import Settings
from standout.simulation import workers

PICTURES = {
    "fig1": ("fig1a", "fig1b"),
    "fig2": ("fig2",),
    "fig3": ("fig3",),
    "fig4": ("fig4",),
    "fig5": ("fig5a", "fig5b"),
}
RUNS = {"fig1": 4, "fig2": 40, "fig3": 40, "fig4": 20, "fig5": 20}


Made = Callable[[str], tuple[Path, Reproduction]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A figure with few runs, made when first asked for; Fig. 1 with three of its ten gaps."""

    @cache
    def make(name: str) -> tuple[Path, Reproduction]:
        out = tmp_path_factory.mktemp(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fig1, "GAPS", (0.6, 0.4, 0.2))
            return out, reproduce([name], Settings(out=out, runs=RUNS[name], seed=1))

    return make


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def verdicts(found: Reproduction) -> dict[str, Verdict]:
    return {claim.id: claim.verdict for claim in found.claims}


@pytest.mark.parametrize("name", PICTURES)
def test_all_files_are_there(made: Made, name: str) -> None:
    out, found = made(name)
    for picture in PICTURES[name]:
        assert (out / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / f"{picture}.pdf").read_bytes().startswith(b"%PDF")
    assert {path.name for path in found.files} == {
        path.name for path in out.iterdir() if path.is_file()
    }
    claims = json.loads((out / "claims.json").read_text())
    names = {"id", "figure", "claim", "measured", "verdict", "provisional"}
    assert all(set(claim) == names for claim in claims)
    assert all(claim["provisional"] for claim in claims), "these are few runs"
    assert {claim["verdict"] for claim in claims} <= {"holds", "partly", "fails"}
    assert {claim["figure"] for claim in claims} == {name}


@pytest.mark.parametrize("name", PICTURES)
def test_report_needs_no_other_file(made: Made, name: str) -> None:
    out, found = made(name)
    page = (out / "report.html").read_text()
    assert page.count('src="data:image/png;base64,') == len(PICTURES[name])
    assert page.count('src="') == len(PICTURES[name])
    assert "http" not in page
    assert f"standout reproduce {name} --runs {RUNS[name]} --seed 1" in page
    assert all(f'class="verdict {claim.verdict}"' in page for claim in found.claims)


@pytest.mark.parametrize("name", PICTURES)
def test_numbers_agree_with_the_authors_code(made: Made, name: str) -> None:
    assert all(abs(each.errors_away) < 4 for each in made(name)[1].comparisons)


def test_fig1_orderings(made: Made) -> None:
    out, found = made("fig1")
    pulls = {
        (row["version"], row["method"], float(row["gap"])): float(row["pulls"])
        for row in read(out / "fig1b.csv")
    }
    for version in ("published", "released"):
        for gap in (0.6, 0.4, 0.2):
            assert pulls[version, "LUCB", gap] < pulls["either", "Random", gap] / 1.8
        for gap in (0.4, 0.2):
            assert pulls[version, "Elim", gap] < pulls["either", "Random", gap]
    for method in ("LUCB", "Elim"):
        assert pulls["released", method, 0.6] < pulls["released", method, 0.4]
        assert pulls["released", method, 0.4] < pulls["released", method, 0.2]
    judged = verdicts(found)
    assert judged["fig1-threshold"] == judged["fig1-linear"] == judged["fig1-guarantee"] == "holds"


def test_fig2_orderings(made: Made) -> None:
    out, found = made("fig2")
    rows = read(out / "fig2.csv")
    deviation = {(row["threshold"], int(row["outliers"])): float(row["deviation"]) for row in rows}
    assert deviation["mean-std", 0] < deviation["ROAI-n", 0]
    for outliers in (3, 5, 11, 21):
        for name in fig2.NAMES[1:]:
            assert deviation[name, outliers] < deviation["mean-std", outliers] / 1.5
    assert verdicts(found)["fig2-robust"] in ("holds", "partly")


def test_fig3_orderings(made: Made) -> None:
    out, found = made("fig3")
    bounds = {(r["algorithm"], float(r["x"])): float(r["bound"]) for r in read(out / "fig3.csv")}
    for x in fig3.LOWEST:
        assert bounds["WRR", x] < bounds["RR", x]
        assert bounds["ROAI-n", x] < bounds["WRR", x] / 10
        assert bounds["ROAI-2nε", x] < bounds["ROAI-n", x]
    assert verdicts(found)["fig3-orders"] == "holds"


@pytest.mark.parametrize("name", ["fig4", "fig5"])
def test_anytime_orderings(made: Made, name: str) -> None:
    out, found = made(name)
    area: dict[tuple[str, str], float] = {}
    for row in read(out / f"{name}_curves.csv"):
        key = row["version"], row["method"]
        area[key] = area.get(key, 0.0) + float(row["error_rate"]) / len(anytime.CHECKPOINTS)
    for version in ("published", "released"):
        assert area[version, "LUCB"] < area["either", "Random"]
        assert area[version, "LUCB"] < area[version, "Elim"]
    assert area["either", "Random"] < area["either", "RR"]
    assert area["either", "Random"] < area["either", "WRR"]
    judged = verdicts(found)
    assert judged[f"{name}-rr-worse"] == "holds"
    assert judged[f"{name}-five-times"] in ("holds", "partly")


def test_instances_of_fig4_and_fig5(made: Made) -> None:
    assert verdicts(made("fig4")[1])["fig4-min-gaps"] in ("holds", "partly")
    assert verdicts(made("fig5")[1])["fig5-data"] == "holds"


def test_same_seed_gives_the_same_bytes_whatever_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_WORTH_A_POOL", 0.0)
    monkeypatch.setattr(anytime, "BUDGET", 600)
    monkeypatch.setattr(anytime, "CHECKPOINTS", (200, 400, 600))
    monkeypatch.setattr(fig4, "comparisons", lambda tables: [])
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        reproduce(["fig4"], Settings(out=out, runs=5, seed=3, jobs=jobs))
    files = sorted(path.name for path in (tmp_path / "1").glob("*.csv"))
    assert "fig4_curves.csv" in files
    for name in files:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name


def test_pictures_are_the_same_bytes_each_time(
    made: Made,
) -> None:
    out, _ = made("fig2")
    before = (out / "fig2.png").read_bytes(), (out / "fig2.pdf").read_bytes()
    reproduce(["fig2"], Settings(out=out, runs=RUNS["fig2"], seed=1))
    assert before == ((out / "fig2.png").read_bytes(), (out / "fig2.pdf").read_bytes())


# The command line


def test_json_holds_claims_and_files_only(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app,
        ["reproduce", "fig2", "--runs", "20", "--seed", "1", "--out", str(tmp_path), "--json"],
    )
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert set(content) == {"claims", "files"}
    assert str(tmp_path / "report.html") in content["files"]


def test_command_prints_the_verdicts(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["reproduce", "fig3", "--runs", "20", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "holds" in result.stdout
    assert "report.html" in result.stdout


def test_interrupt_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> Floats:
        raise KeyboardInterrupt

    monkeypatch.setattr(fig2, "compute", interrupted)
    result = CliRunner().invoke(app, ["reproduce", "fig2", "--runs", "20", "--out", str(tmp_path)])
    assert result.exit_code == 130
    assert "run the same command to continue" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fig9"], "no figure 'fig9'; choose from fig1"),
        (["fig2", "--runs", "1"], "runs must be at least 2, not 1"),
        (["fig2", "--out", "/dev/null/paper"], "cannot write to '/dev/null/paper'"),
    ],
)
def test_mistakes_end_in_one_line(words: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["reproduce", *words])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"standout: error: {message}")
    assert result.stderr.count("\n") == 1
