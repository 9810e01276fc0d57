from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import standout
from standout.cli.demo import same_but_uniform
from standout.cli.options import read_checkpoints
from standout.core.methods import DEFAULT_METHOD, METHODS
from standout.core.noise import Bernoulli
from standout.core.problem import Problem
from standout.core.threshold import _RANGES
from standout.errors import ProblemError
from standout.simulation.instances import FixedFamily, make_instance
from standout.study import Study
from tests.cli.command_line import FIVE, run

ROOT = Path(__file__).resolve().parents[2]


def imported(names: set[str], words: list[str]) -> str:
    """Which of some modules a command has imported when it ends."""
    check = (
        "import sys\n"
        "from standout.cli.main import main\n"
        "try:\n    main()\n"
        f"finally:\n    print(sorted({names!r} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", check, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[-1]


class TestHelp:
    @pytest.mark.parametrize("words", [[], ["study"], ["token"]])
    def test_no_summary_is_cut(self, words: list[str]) -> None:
        code, out, _ = run(*words, "--help")
        assert (code, "..." in out.split("Commands:")[1]) == (0, False)

    @pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
    def test_names_every_command(self, words: list[str]) -> None:
        code, out, _ = run(*words)
        assert code == 0
        for name in ("demo", "run", "study", "plan", "simulate", "methods", "reproduce"):
            assert name in out

    @pytest.mark.parametrize("command", ["demo", "plan", "simulate", "methods"])
    def test_has_examples(self, command: str) -> None:
        code, out, _ = run(command, "--help")
        assert code == 0
        assert len(re.findall(r"^    standout ", out, re.MULTILINE)) >= 2

    def test_imports_nothing_heavy(self) -> None:
        heavy = {"numpy", "numba", "scipy", "matplotlib", "fastapi", "rich"}
        for words in (["--help"], ["simulate", "--help"], ["--version"]):
            assert imported(heavy, words) == "[]"

    def test_a_study_in_a_file_imports_what_it_uses(self, tmp_path: Path) -> None:
        place = str(tmp_path / "x.db")
        Study.create(place, ["a", "b", "c"], Problem(noise="bernoulli")).close()
        unused = {"scipy.linalg", "psycopg", "fastapi"}
        assert imported(unused, ["study", "status", place]) == "[]"
        assert imported(unused | {"rich"}, ["study", "ask", place]) == "[]"

    def test_version(self) -> None:
        assert run("--version") == (0, f"standout {standout.__version__}\n", "")

    def test_the_page_in_the_docs_is_current(self) -> None:
        made = runpy.run_path(str(ROOT / "tools" / "make_cli_docs.py"))["render"]()
        page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
        assert page == made, "run: python tools/make_cli_docs.py"


class TestMethods:
    def test_all_with_their_references(self) -> None:
        code, out, _ = run("methods")
        assert code == 0
        assert f"* {DEFAULT_METHOD}" in out
        for method in METHODS.values():
            assert method.name in out
        assert max(len(line) for line in out.splitlines()) <= 80

    def test_json(self) -> None:
        data = json.loads(run("methods", "--json")[1])
        assert data["default"] == DEFAULT_METHOD
        assert [m["name"] for m in data["methods"]] == list(METHODS)
        assert all(set(m) == {"name", "summary", "reference"} for m in data["methods"])


class TestSimulate:
    def test_json_is_all_of_the_output(self) -> None:
        code, out, _ = run(
            "simulate", "fig1:gap=0.6", "--method", "roai-lucb", "--method", "random:batch=10",
            "--runs", "2", "--seed", "3", "--budget", "2000", "--checkpoints", "500:1500:500",
            "--jobs", "1", "--json",
        )  # fmt: skip
        data = json.loads(out)
        assert code == 0
        assert set(data) == {"instance", "problem", "results", "until"}
        assert data["instance"]["n_arms"] == 17
        assert data["problem"]["k"] == 2
        assert data["problem"]["mad_scale"] == 1.4826
        assert [r["method"] for r in data["results"]] == ["roai-lucb", "random:batch=10"]
        for result in data["results"]:
            assert result["checkpoints"] == [500, 1000, 1500]
            assert len(result["error_rate"]) == 3

    def test_same_as_python(self) -> None:
        out = run("simulate", "fig1:gap=0.6", "--method", "roai-lucb", "--runs", "2", "--json")[1]
        same = standout.simulate("fig1:gap=0.6", "roai-lucb", runs=2).to_dict()
        for result in (*same["results"], *(theirs := json.loads(out))["results"]):
            del result["seconds"]
        assert theirs == same

    def test_tables_fit_80_columns(self) -> None:
        code, out, _ = run(
            "simulate", "wine", "--method", "roai-lucb-released",
            "--method", "random:interval=beta-binomial,range=exact,batch=100",
            "--runs", "2", "--budget", "1000", "--checkpoints", "500,1000",
        )  # fmt: skip
        assert code == 0
        assert "roai-lucb-released" in out.replace("\n", "")
        assert "wrong after" in out
        assert "1,000 pulls" in out
        assert max(len(line) for line in out.splitlines()) <= 80

    def test_a_table_of_means(self, table) -> None:
        words = ["--noise", "gaussian:0.05", "--k", "1.5", "--mad-scale", "1", "--delta", "0.1"]
        data = json.loads(run("simulate", table(FIVE), *words, "--runs", "2", "--json")[1])
        assert data["instance"]["outliers"] == ["e"]
        assert data["problem"]["noise"] == "gaussian:0.05"
        assert data["problem"]["delta"] == 0.1
        assert data["results"][0]["stopped"] == 2

    def test_low_outliers(self, table) -> None:
        text = "arm,mean\na,0.9\nb,0.8\nc,0.7\nd,0.6\ne,0.05\n"
        words = ["--noise", "gaussian:0.05", "--k", "1.5", "--side", "low", "--runs", "1"]
        data = json.loads(run("simulate", table(text), *words, "--json")[1])
        assert data["instance"]["outliers"] == ["e"]

    def test_batch_and_growth_go_to_all_methods(self) -> None:
        words = ["--method", "random", "--batch", "7", "--growth", "0.5"]
        out = run("simulate", "fig1", *words, "--runs", "1", "--budget", "100", "--json")[1]
        assert json.loads(out)["results"][0]["method"] == "random:batch=7,growth=0.5"


class TestPlan:
    def test_json(self) -> None:
        out = run(
            "plan", "fig1:gap=0.6", "--runs", "2", "--method", "roai-lucb", "--budget", "1000",
            "--constant", "10", "--subset", "2,0.2", "--json",
        )[1]  # fmt: skip
        data = json.loads(out)
        (side,) = data["sides"]
        bounds = {bound["name"]: bound["value"] for bound in side["bounds"]}
        assert bounds["upper"] == pytest.approx(12_925, abs=1)
        assert bounds["subset"] > 0
        assert bounds["rr"] is None
        assert len(side["gaps"]) == 17
        (line,) = data["forecast"]
        assert (line["method"], line["runs"], line["capped"]) == ("roai-lucb", 2, 2)
        limit = data["limit"]
        assert 330 < limit["lower"] < limit["upper"] < 350
        assert line["times_limit"] == pytest.approx(1000 / limit["lower"])

    def test_words(self) -> None:
        words = ["--runs", "2", "--budget", "500", "--no-limit"]
        code, out, _ = run("plan", "fig1:gap=0.6", *words)
        said = " ".join(out.split())
        assert code == 0
        assert "Theorem 2" in said
        assert "Theorem 3 does not apply" in said
        assert "No information limit: not requested" in said
        assert f"{DEFAULT_METHOD}: 2 of 2 runs reached the budget of 500 pulls" in said
        assert "compare with --method focus --method combined" in said
        assert max(len(line) for line in out.splitlines()) <= 80

    def test_without_a_forecast(self) -> None:
        code, out, _ = run("plan", "wine", "--runs", "0", "--no-limit")
        assert code == 0
        assert "proved for gaussian rewards" in " ".join(out.split())
        assert "by simulation" in out

    def test_both_sides(self, table) -> None:
        words = ["--noise", "bernoulli", "--side", "both", "--runs", "0", "--json"]
        data = json.loads(run("plan", table(FIVE), *words)[1])
        assert [side["side"] for side in data["sides"]] == ["high", "low"]
        assert 0 < data["limit"]["lower"] < data["limit"]["upper"]

    def test_a_mean_on_the_threshold_is_not_simulated(self, table) -> None:
        text = "arm,mean\na,0\nb,1\nc,2\nd,3\ne,4\n"
        words = ["--noise", "gaussian:1", "--k", "2", "--mad-scale", "1"]
        data = json.loads(run("plan", table(text), *words, "--json")[1])
        assert "on the threshold" in data["forecast_skipped"]
        assert data["sides"][0]["bounds"][1]["value"] is None  # infinite, which JSON cannot say
        assert data["limit"]["lower"] is None
        out = run("plan", table(text), *words)[1]
        assert "fewer than infinite pulls" in " ".join(out.split())

    def test_a_random_instance_says_so(self) -> None:
        _, out, _ = run("plan", "fig4", "--runs", "0", "--no-limit")
        assert "Every run draws new means" in out


class TestDemo:
    @pytest.fixture(autouse=True)
    def _few_wines(self, monkeypatch: pytest.MonkeyPatch) -> None:
        means = [0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.95]
        family = FixedFamily(make_instance("wine", means, Bernoulli()))
        monkeypatch.setattr("standout.simulation.parse_instance", lambda text: family)

    def test_picture(self) -> None:
        code, out, err = run("demo")
        assert code == 0
        assert "Which of 7 wines stand out?" in out
        assert "1 wine stands out: arm-7" in out
        assert "This is the true answer" in out
        # Proved and probable are separate.
        assert "This is proved. A probable answer (an estimate" in " ".join(out.split())
        assert "▲" in out
        assert "\x1b" not in out
        assert max(len(line) for line in out.splitlines()) <= 80
        assert err in (
            "",
            "standout: compiling, once per version; this takes about a minute\n",
        )

    def test_json(self) -> None:
        data = json.loads(run("demo", "--json", "--seed", "4", "--method", "roai-lucb")[1])
        assert data["seed"] == 4
        assert data["method"] == "roai-lucb"
        assert data["identification"]["outliers"] == ["arm-7"]
        assert set(data["estimates"]) == {"arm-7"}
        assert data["is_right"] is True
        uniform = data["uniform"]
        assert data["probable"]["until"] == "errors=0.5"
        assert data["probable"]["pulls"] < data["identification"]["pulls"]
        assert uniform["method"] == "random:batch=100"
        assert data["times_fewer_pulls"] == uniform["pulls"] / data["identification"]["pulls"]

    def test_uniform_sampling_has_the_same_intervals(self) -> None:
        data = json.loads(run("demo", "--json", "--method", "random:interval=mixture")[1])
        assert data["uniform"]["method"] == "random:interval=mixture,batch=100"

    def test_a_joint_bet_beside_uniform_sampling(self) -> None:
        code, out, err = run("demo", "--method", "joint")
        assert code == 0, err
        text = " ".join(out.split())
        assert "1 wine stands out: arm-7" in text
        assert "decided arms touch the threshold's interval. Each interval alone" in text
        assert "with the intervals and stopping rule of focus it takes" in text

    @pytest.mark.parametrize("name", METHODS)
    def test_every_method_has_its_uniform_sampling(self, name: str) -> None:
        uniform = same_but_uniform(METHODS[name])
        spec = uniform.spec(Problem(noise="bernoulli"), 123)
        assert (spec.range, spec.refines) in _RANGES


class TestCheckpoints:
    @pytest.mark.parametrize(
        ("text", "marks"),
        [(None, ()), ("5", (5,)), ("1000,2000", (1000, 2000)), ("2:10:4", (2, 6, 10))],
    )
    def test_forms(self, text: str | None, marks: tuple[int, ...]) -> None:
        assert read_checkpoints(text) == marks

    def test_refuses_others(self) -> None:
        with pytest.raises(ProblemError, match="not whole numbers"):
            read_checkpoints("1e3")


class TestReadme:
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    def test_links_lead_somewhere(self) -> None:
        for target in re.findall(r"\]\(([^)#:]+)\)", self.text):
            assert (ROOT / target).exists(), target
