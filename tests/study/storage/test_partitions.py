"""The log of a PostgreSQL database partitioned by its owner, as docs/scale.md says."""

from __future__ import annotations

import re
from pathlib import Path

from standout import Problem, Study
from tests.study.postgres import Server

ROOT = Path(__file__).resolve().parents[3]
STATEMENTS = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def measure(study: Study, rounds: int = 5) -> None:
    for number in range(rounds):
        study.tell_many([(ticket, float(number % 2)) for ticket in study.ask(8)])


def test_studies_go_on_with_a_partitioned_log(server: Server) -> None:
    url = server.new_database("partitions")
    problem = Problem(noise="bernoulli", k=2)
    with Study.create(url, ["ash", "elm", "fir"], problem, name="before") as study:
        measure(study)
    (statements,) = STATEMENTS.findall((ROOT / "docs" / "scale.md").read_text("utf-8"))
    server.run(statements, "partitions")
    with Study.open(url, "before") as study:
        measure(study)
        assert study.status().pulls == 80
        assert study.verify().problems == ()
    for name in ("after", "later"):
        with Study.create(url, ["ash", "elm", "fir"], problem, name=name) as study:
            measure(study)
            assert study.verify().problems == ()

    # A part that could be edited is found.
    off = "ALTER TABLE standout_rewards_1 DISABLE TRIGGER standout_rewards_keep"
    server.run(off, "partitions")
    with Study.open(url, "before") as study:
        (said,) = study.verify().problems
        assert "standout_rewards_keep is not ours" in said
