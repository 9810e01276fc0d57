from __future__ import annotations

import pydoc
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import standout


def test_every_public_name_can_be_had() -> None:
    assert len(set(standout.__all__)) == len(standout.__all__)
    for name in standout.__all__:
        assert getattr(standout, name) is not None


def test_dir_lists_what_a_user_needs_and_nothing_else() -> None:
    listed = dir(standout)
    assert {"identify", "analyse", "Study", "Problem", "plot", "errors", "StandoutError"} <= {
        *listed
    }
    assert not {"importlib", "TYPE_CHECKING", "annotations", "core", "Any"} & {*listed}
    assert len(listed) < 40
    assert all(getattr(standout, name) is not None for name in listed)


def test_the_list_is_complete() -> None:
    """Nothing is offered that is not in `__all__`, and every error of ours is."""
    kinds = {
        name
        for name, value in vars(standout.errors).items()
        if isinstance(value, type) and issubclass(value, standout.StandoutError | Warning)
    }
    assert set(standout._HOME_OF) | kinds == set(standout.__all__)


@pytest.mark.parametrize("name", ["Problem", "identify"])
def test_help_lists_the_forms_of_noise(name: str) -> None:
    said = pydoc.plain(pydoc.render_doc(getattr(standout, name)))
    for form in ("`bernoulli`", "`gaussian:SIGMA`", "`gaussian`", "`bounded:A,B`", "`heavy:SIGMA`"):
        assert form in said
    assert ">>> " in said


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="module 'standout' has no attribute 'nothing'"):
        standout.nothing  # noqa: B018


def test_the_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", standout.__version__)


def test_a_release_says_the_same_version_everywhere() -> None:
    root = Path(__file__).resolve().parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    cited = (root / "CITATION.cff").read_text("utf-8")
    assert project["version"] == standout.__version__
    assert re.search(r"^version: (.*)$", cited, re.MULTILINE)[1] == standout.__version__  # type: ignore[index]
    assert project["license"] in cited
    assert "## [Unreleased]" in (root / "CHANGELOG.md").read_text("utf-8")


def test_importing_does_not_load_the_compiler() -> None:
    code = "import standout, sys; print('numba' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
