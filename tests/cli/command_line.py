"""Running standout's commands inside a test."""

from __future__ import annotations

from typer.testing import CliRunner

from standout.cli.main import app

FIVE = "arm,mean\na,0.1\nb,0.2\nc,0.3\nd,0.4\ne,0.95\n"


def run(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    result = CliRunner().invoke(app, list(words), prog_name="standout")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def refused(*words: str) -> str:
    """The error's one line, after checking that it is one and that nothing else was said."""
    code, out, err = run(*words)
    assert code == 2
    assert out == ""
    assert err.startswith("standout: error: ")
    assert err.count("\n") == 1
    return err
