"""Where examples in docstrings run: in an empty folder, with a small study at hand.

`Problem` is there. `study` has the arms ash, elm and fir and rewards 0 or 1; in the client's
examples it is on a server at `url`, and `client` is connected to it. `run` is a run of
`roai-lucb` with the arms a, b and c, and rewards of the same kind.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

# Before numpy is imported: several processes run side by side, and threads of linear algebra that
# wait for one another would take four times the CPU for the same answers.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What is made while tests are gathered stays: to look through it for garbage, then and ever after,
# would take each process some seconds.
gc.disable()


def pytest_collection_finish() -> None:
    """From now on garbage is looked for among what tests make."""
    gc.freeze()
    gc.enable()


def _plots(stack: ExitStack) -> dict[str, Any]:
    """What the examples of plots take for granted: a study with rewards, and an answer."""
    import matplotlib as mpl
    import numpy as np

    from standout import Problem, Study, identify

    mpl.use("Agg")
    study = stack.enter_context(
        Study.create("beans.db", ["ash", "elm", "fir"], Problem(noise="bernoulli", k=2))
    )
    for arm in ("ash", "elm", "fir", "fir", "ash", "elm"):
        study.tell(arm, 1.0)
    rng = np.random.default_rng(0)
    found = identify(lambda arm: rng.normal(arm**4, 0.1), range(5), "gaussian:0.1")
    stack.callback(__import__("matplotlib.pyplot").pyplot.close, "all")
    return {"study": study, "found": found, "identify": identify, "np": np}


@pytest.fixture(autouse=True)
def example(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    doctest_namespace: dict[str, Any],
) -> Iterator[None]:
    """Give a docstring's example what it takes for granted; nothing to other tests."""
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    folder: Path = request.getfixturevalue("tmp_path")
    monkeypatch.chdir(folder)
    from standout import Problem

    doctest_namespace["Problem"] = Problem
    with ExitStack() as stack:
        folder_name = request.node.path.parent.name
        if folder_name == "plot":
            doctest_namespace.update(_plots(stack))
        if request.node.path.parts[-2:] == ("core", "run.py"):
            import numpy as np

            from standout import Run

            rng = np.random.default_rng(0)
            run = Run(Problem(noise="bernoulli"), ["a", "b", "c"], "roai-lucb", rng)
            doctest_namespace.update(run=run)
        if (
            folder_name in ("study", "client", "results")
            or request.node.path.stem == "study_interface"
        ):
            from standout import Client, Study

            problem = Problem(noise="bernoulli", k=2)
            study = Study.create("beans.db", ["ash", "elm", "fir"], problem, name="beans", room=5)
            stack.enter_context(study)
            doctest_namespace.update(study=study, Study=Study)
            if folder_name == "client":
                from tests.service.live import serving

                url = stack.enter_context(serving(str(folder / "beans.db")))
                client = stack.enter_context(Client(url))
                doctest_namespace.update(url=url, client=client, study=client.study("beans"))
        yield
