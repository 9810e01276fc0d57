"""A rule that lives in another package: one file, found by its name everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import HANGS

CODE = '''
"""Pull whichever arm has had the fewest rewards."""

import numpy as np

from standout.rules import Method, Spec, State, part, rule


@part()
def fewest(spec: Spec, state: State) -> int:
    found = 0
    for i in range(spec.n_arms):
        if state.pulls[i] < state.pulls[found]:
            found = i
    return found


@rule()
def level(spec: Spec, state: State, rng: np.random.Generator) -> int:
    state.chosen[0] = fewest(spec, state)
    return 1


METHOD = Method(
    name="level",
    rule=level,
    summary="the arm with the fewest pulls",
    reference="a test",
)
'''
STUDY = """
import numpy as np
from standout import METHODS, Problem, Study
from level_rule import METHOD

problem = Problem(noise="gaussian:0.1", k=2)
means = dict(zip("abcde", (0, 0.1, 0.2, 0.3, 9)))
with Study.create("x.db", list("abcde"), problem, method="level:batch=2") as study:
    while tickets := study.ask(3):
        study.tell_many([(ticket, means[ticket.arm]) for ticket in tickets])
with Study.open("x.db") as study:
    status = study.status()
    print(study.method.label(), status.outliers, study.verify().problems)
"""


def installed(folder: Path, code: str = CODE) -> Path:
    """As an installer would leave it: the module, and what it offers."""
    facts = folder / "level_rule-1.0.dist-info"
    facts.mkdir(parents=True, exist_ok=True)
    (folder / "level_rule.py").write_text(code)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: level-rule\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[standout.methods]\nlevel = level_rule:METHOD\n")
    return folder


def run(folder: Path, *words: str, compiled: bool = True) -> subprocess.CompletedProcess[str]:
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    if not compiled:
        environment["NUMBA_DISABLE_JIT"] = "1"
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True,
        timeout=HANGS, check=False,
    )  # fmt: skip


def standout(folder: Path, *words: str) -> dict[str, object]:
    done = run(folder, "-c", "from standout.cli.main import main; main()", *words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_it_runs_like_any_other(tmp_path: Path) -> None:
    """On the command line, in simulations with several processes, in a study; and compiled."""
    home = installed(tmp_path)
    listed = standout(home, "methods")["methods"]
    assert [m["name"] for m in listed if m["reference"] == "a test"] == ["level"]  # type: ignore[attr-defined]
    words = "simulate fig1:gap=0.6 --method level --method random --runs 4 --jobs 2 --seed 1"
    found = standout(home, *words.split())["results"]
    assert [result["method"] for result in found] == ["level", "random"]  # type: ignore[attr-defined]
    done = run(home, "-c", STUDY)
    assert done.stdout.split() == ["level:batch=2", "('e',)", "()"], done.stderr


def test_changed_code_is_another_rule(tmp_path: Path) -> None:
    """What is compiled is kept for its code: never run the code of yesterday."""
    show = ("-c", "from level_rule import METHOD; print(METHOD.rule.number)")
    numbers = [
        run(installed(tmp_path, code), *show, compiled=False).stdout
        for code in (CODE, CODE.replace("found = 0", "found = 1"), CODE + "# more\n")
    ]
    assert numbers[0].strip().isdigit()
    assert numbers[0] == numbers[2] != numbers[1]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (CODE.replace('name="level"', 'name="other"'), "is not a Method with the name 'level'"),
        ("METHOD = 3", "level_rule:METHOD is not a Method"),
        ("import no_such_thing", "'level' of level_rule:METHOD fails: No module named"),
        ("", "has no attribute 'METHOD'"),
    ],
)
def test_what_is_not_a_method_is_refused(tmp_path: Path, code: str, words: str) -> None:
    show = ("-c", "from standout.core.methods import parse_method; parse_method('level')")
    done = run(installed(tmp_path, code), *show, compiled=False)
    assert words in done.stderr.splitlines()[-1]


def test_kernels_of_others_are_refused(tmp_path: Path) -> None:
    """A change to them would go unseen."""
    home = installed(
        tmp_path, CODE.replace("@part()\ndef fewest", "from helping import fewest\n\n\ndef _")
    )
    (home / "helping.py").write_text(CODE.partition("@rule")[0])
    done = run(home, "-c", "import level_rule")
    assert "uses a kernel of helping: put both into one file or package" in done.stderr
