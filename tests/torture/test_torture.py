"""A short torture on both databases, and whether its comparison would find anything."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.study.conftest import folder
from tests.study.postgres import find_programs
from tests.torture.audit import Memory, audit, check_rows
from tests.torture.journal import ACKNOWLEDGED, LIE, REFUSED, UNSURE, Journal, read_journals
from tests.torture.studies import create

__all__ = ["folder"]
ROOT = Path(__file__).parents[2]
EVENTS = 24


def torture(*words: object) -> tuple[int, dict[str, Any]]:
    program = [sys.executable, "-m", "tests.torture", "--json"]
    done = subprocess.run(
        [*program, *(str(word) for word in words)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, found


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_short_torture(database: str) -> None:
    if database == "postgresql" and find_programs() is None:
        pytest.skip("there is no PostgreSQL")
    code, found = torture("--database", database, "--events", EVENTS, "--seed", 1)
    assert (code, found["faults"]) == (0, []), "\n".join(found["faults"])
    assert (found["lost"], found["doubled"], found["checkpoints"]) == (0, 0, 2)
    assert found["workers killed"] > EVENTS / 5
    assert found["acknowledged"] > 100
    # A backup that is restored under load takes what was acknowledged after it away.
    assert 0 < found["stored"] <= found["sent"]


# Would it find anything? -----------------------------------------------------------


def test_every_kind_of_fault_is_found(folder: Path) -> None:
    journal = Journal(folder, 1)
    for value, how in enumerate((ACKNOWLEDGED, UNSURE, REFUSED, LIE), 1):
        journal.ended(journal.trying("main", [(float(value), "ash", value)]), how)
    journal.trying("main", [(5.0, "ash", None)])
    journals = read_journals(folder)

    def faults(*rows: tuple[float, str, int]) -> list[str]:
        return [text.partition(":")[0] for text in check_rows("main", list(rows), journals)]

    assert faults((1.0, "ash", 1), (2.0, "ash", 2), (5.0, "ash", 9)) == []
    assert faults((1.0, "ash", 1), (1.0, "ash", 7)) == ["doubled", "changed"]
    assert faults((1.0, "ash", 1), (5.0, "ash", 1)) == ["doubled"]
    assert faults((1.0, "elm", 1)) == ["changed"]
    assert faults((1.0, "ash", 2)) == ["changed"]
    assert faults((1.5, "ash", 1)) == ["never sent"]
    assert faults((3.0, "ash", 3)) == ["stored"]
    assert faults((4.0, "ash", 4)) == ["stored"]


def test_what_was_refused_may_be_done_for_a_copy_only(folder: Path) -> None:
    """That is: if the network made one, or lost an answer, and so has the key written down."""
    journal, line = Journal(folder, 1), Journal(folder, 2)
    for number in (1, 2):
        rows = [(float(number), "ash", None)]
        change = journal.new_change("stop")
        serial = journal.trying("main", rows, change, f"key {number}")
        journal.ended(serial, REFUSED)
    line.loose("key 2")
    found = read_journals(folder)
    assert [one.how for one in found.sent.values()] == [REFUSED, UNSURE]
    assert [one.how for one in found.changes.values()] == [REFUSED, UNSURE]


def test_what_was_acknowledged_and_is_not_there_is_lost(folder: Path) -> None:
    from standout import Study

    place = str(folder / "study.db")
    create(place, "main")
    journal = Journal(folder, 1)
    serial = journal.trying("main", [(0.5, "ash", None), (0.25, "elm", None)])
    with Study.open(place) as study:
        study.tell(arm="ash", reward=0.5)
    journal.ended(serial, ACKNOWLEDGED)
    journal.fault("no good")
    found = audit(place, ["main"], read_journals(folder), Memory())
    assert (found.lost, found.doubled, found.stored) == (1, 0, 1)
    assert [text.partition(":")[0] for text in found.faults] == ["worker 1", "lost"]
    # And what an earlier look had seen stays.
    memory = Memory(heads={"main": "00"}, verdicts={"main": {"ash": "outlier"}})
    found = audit(place, ["main"], read_journals(folder), memory)
    assert any("no event has the digest 00" in text for text in found.faults)
    assert any("ash was outlier, and is now None" in text for text in found.faults)


def test_a_journal_that_ends_amid_a_line(folder: Path) -> None:
    """Its worker was killed while it wrote: what it was about to send was not sent."""
    journal = Journal(folder, 1)
    journal.trying("main", [(0.5, "ash", None)])
    with (folder / "1.journal").open("ab") as file:
        file.write(b'["try", 2, "ma')
    assert list(read_journals(folder).sent) == [0.5]


def test_a_ticket_that_went_with_a_restored_backup_was_told_as_another(folder: Path) -> None:
    """Its number came again for somebody else, who is told of a reward they did not tell."""
    other, journal = Journal(folder, 1), Journal(folder, 2)
    since = time.monotonic()
    other.restored(since)
    other.trying("main", [(0.5, "ash", 7)], since=since)
    begin = time.monotonic()
    journal.fault("ToldError: ticket 7 has the recorded reward 0.5, not 0.25", begin)
    assert read_journals(folder).faults == []
    journal.fault("ToldError: ticket 7 has the recorded reward 0.75, not 0.25", begin)
    assert len(read_journals(folder).faults) == 1
