"""What the command line says to bad input: one line that names the fault and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import FIVE, refused, run


class TestErrors:
    @pytest.mark.parametrize("command", ["simulate", "plan"])
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["nowhere"], "choose from fig1, fig4, wine, normal"),
            (["nowhere.csv"], "there is no file"),
            (["fig1:gap=x"], "must be a number"),
            (["fig1:hole=1"], "has no option 'hole'"),
            (["fig1", "--method", "magic"], "no method 'magic'; choose from"),
            (["fig1", "--method", "random:speed=1"], "no method option speed"),
            (["fig1", "--method", "random:batch=0"], "batch"),
            (["fig1", "--method", "rr"], "bounded rewards only"),
            (["fig1", "--noise", "bernoulli"], "give no noise"),
            (["fig1", "--noise", "pink"], "noise 'pink' is not known"),
            (["fig1", "--noise", "gaussian:nan"], "sigma must be a positive number"),
            (["fig1", "--k", "nan"], "k must be finite"),
            (["fig1", "--k", "0.5"], "k must be at least 1"),
            (["fig1", "--k", "two"], "'--k'"),
            (["fig1", "--delta", "0"], "delta must lie between 0 and 1"),
            (["fig1", "--delta", "inf"], "delta must be finite"),
            (["fig1", "--mad-scale", "-1"], "mad_scale must be positive"),
            (["fig1", "--side", "up"], "side must be one of high, low"),
            (["fig1", "--k-low", "2"], "k_low only goes with side 'both'"),
            (["fig1", "--tolerance", "-1"], "tolerance must not be negative"),
            (["fig1", "--seed", "-1"], "seed must not be negative"),
            (["fig1", "--seed", "x"], "'--seed'"),
            (["fig1", "--runs", "-1"], "runs"),
            (["fig1", "--runs", "1.5"], "'--runs'"),
            (["fig1", "--budget", "0"], "budget must be a whole number of at least 1"),
            (["fig1", "--jobs", "0"], "jobs must be at least 1"),
            (["fig1", "--colour"], "--colour"),
            (["fig1", "fig4"], "fig4"),
            ([], "'INSTANCE'"),
        ],
    )
    def test_one_line(self, command: str, words: list[str], said: str) -> None:
        assert said in refused(command, *words)

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["simulate", "fig1", "--runs", "0"], "runs must be at least 1"),
            (["simulate", "fig1", "--checkpoints", "x"], "checkpoints 'x'"),
            (["simulate", "fig1", "--checkpoints", "1:2"], "start:stop:step"),
            (["simulate", "fig1", "--checkpoints", "1:9:0"], "start:stop:step"),
            (["simulate", "fig1", "--checkpoints", "20,10"], "increasing"),
            (["simulate", "fig1", "--batch", "0"], "batch must be a whole number"),
            (["simulate", "fig1", "--growth", "2"], "growth must lie between 0 and 1"),
            (["plan", "fig1", "--constant", "nan"], "constant must be a positive number"),
            (["plan", "fig1", "--subset", "2"], "LAMBDA,EPSILON"),
            (["plan", "fig1", "--subset", "1,0.1"], "lambda must be at least 2"),
            (["plan", "fig1", "--subset", "2,0.7"], "epsilon must lie in"),
            (["demo", "--seed", "-1"], "seed must not be negative"),
            (["demo", "--method", "magic"], "no method 'magic'"),
            (["demo", "now"], "now"),
            (["dmeo"], "'dmeo'"),
            (["--colour"], "--colour"),
        ],
    )
    def test_one_line_of_others(self, words: list[str], said: str) -> None:
        assert said in refused(*words)

    @pytest.mark.parametrize("command", ["simulate", "plan"])
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "is empty"),
            ("arm,mean\n", "at least 3 arms"),
            ("name,value\na,1\n", "no column 'arm'"),
            ("arm,mean\na,1\nb,2\na,3\n", "already on line 2"),
            ("arm,mean\na,1\nb,nan\nc,3\n", "line 3: mean must be finite"),
            ("arm,mean\na,1\nb,inf\nc,3\n", "line 3: mean must be finite"),
            ("arm,mean\na,1\nb,much\nc,3\n", "line 3: mean must be a number"),
            ("arm,mean\na,1\nb,2,9\nc,3\n", "3 values for 2 columns"),
            ('arm,mean\na,1\n"b,2\nc,3\n', "not valid CSV"),
            (b"arm,mean\na\xff,1\n", "UTF-8"),
        ],
    )
    def test_tables(self, table, command: str, text: str | bytes, said: str) -> None:
        assert said in refused(command, table(text), "--noise", "gaussian:1")

    def test_a_table_needs_its_noise(self, table) -> None:
        assert "pass --noise" in refused("plan", table(FIVE))

    def test_a_mean_outside_the_noise(self, table) -> None:
        path = table("arm,mean\na,0.1\nb,0.2\nc,3\n")
        assert "impossible with bernoulli" in refused("simulate", path, "--noise", "bernoulli")

    def test_a_folder(self, tmp_path: Path) -> None:
        assert "cannot be read" in refused("plan", str(tmp_path), "--noise", "bernoulli")

    def test_a_mean_on_the_threshold_would_never_end(self, table) -> None:
        path = table("arm,mean\na,0\nb,1\nc,2\nd,3\ne,4\n")
        words = ["--noise", "gaussian:1", "--k", "2", "--mad-scale", "1"]
        assert "no run would ever end" in refused("simulate", path, *words)
        assert run("simulate", path, *words, "--runs", "1", "--budget", "50")[0] == 0

    def test_where_the_help_is(self) -> None:
        assert refused("simulate").endswith("see standout simulate --help\n")

    def test_a_bug_is_not_hidden(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*args: object, **kwargs: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr("standout.simulation.simulate", broken)
        with pytest.raises(ZeroDivisionError):
            run("simulate", "fig1")


def test_an_unknown_command() -> None:
    assert "no such command" in refused("study", "add-legs")
