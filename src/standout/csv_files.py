"""Reading arms and results from CSV; each error names the line."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from standout.errors import StudyError
from standout.files import csv_records
from standout.results import Chances, Identification, Ticket

PARTS = ("text", "image", "html")
"""The parts of an item: plain text, the address of a picture, HTML."""
ARM_NAMES = ("arm", "name")
REWARD_NAMES = ("reward", "value")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""Texts that a spreadsheet would run as a formula; full-width signs count in some languages."""


class Result(NamedTuple):
    """One line of results: the ticket or arm, the reward, and its line in the file."""

    key: Ticket | int | str
    reward: float
    line: int


def guarded(text: str) -> str:
    """A text that no spreadsheet takes for a formula, because `'` is put before a formula.

    >>> guarded("=1+1"), guarded("'=1+1"), guarded("a=1")
    ("'=1+1", "''=1+1", 'a=1')
    """
    return "'" + text if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """The inverse of `guarded`, applied to each name that is read from a CSV.

    >>> unguarded("'=1+1"), unguarded("''=1+1"), unguarded("'tis")
    ('=1+1', "'=1+1", "'tis")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def fingerprint(rows: Sequence[Result]) -> str:
    """A key for a file of results; the same rows in any order and format have the same key.

    Columns, quotes, blank lines and the format of numbers make no difference.
    """
    parts = []
    for key, reward, _ in rows:
        whose = key.id if isinstance(key, Ticket) else key
        parts.append(json.dumps([whose, reward + 0.0]))
    return "file " + hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:32]


def quoted(text: str) -> str:
    """A text as a CSV field; Python's own writer leaves a carriage return unquoted."""
    if text and not (set(text) & set(',"\r\n')) and text == text.strip():
        return text
    return '"' + text.replace('"', '""') + '"'


def decode(data: bytes, label: str) -> str:
    """UTF-8 with or without a mark at the start; names the line of a bad byte."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise StudyError(f"{label}, line {line}: not UTF-8; save the file as CSV UTF-8") from None


def read_arms(text: str, label: str) -> list[str]:
    """The column `arm` (or `name`); a file of one column needs no header."""
    lines = list(csv_records(text, label, StudyError))
    if not lines:
        raise StudyError(f"{label}: no arms; write one arm per line under the header arm")
    header = [field.strip().lower() for field in lines[0][1]]
    column = next((header.index(name) for name in ARM_NAMES if name in header), None)
    if column is None:
        if any(len(fields) > 1 for _, fields in lines):
            raise StudyError(f"{label}, line 1: no column arm among {', '.join(header)}")
        column = 0
    else:
        lines = lines[1:]
    arms: list[str] = []
    seen: dict[str, int] = {}
    for line, fields in lines:
        if len(fields) <= column or not fields[column]:
            raise StudyError(f"{label}, line {line}: no arm")
        arm = unguarded(fields[column])
        if arm in seen:
            raise StudyError(
                f"{label}, line {line}: arm {arm!r} is on line {seen[arm]} already. If this is a "
                "log of past measurements, go on from it with: standout analyse FILE --to PATH"
            )
        seen[arm] = line
        arms.append(arm)
    return arms


def read_items(text: str, label: str) -> dict[str, dict[str, str]]:
    """The columns `text`, `image` and `html` of a file of arms: what a rating page shows."""
    lines = list(csv_records(text, label, StudyError))
    header = [field.strip().lower() for field in lines[0][1]] if lines else []
    arm = next((header.index(name) for name in ARM_NAMES if name in header), None)
    columns = {name: header.index(name) for name in PARTS if name in header}
    if arm is None or not columns:
        return {}
    items: dict[str, dict[str, str]] = {}
    for _, fields in lines[1:]:
        parts = {
            name: fields[column]
            for name, column in columns.items()
            if column < len(fields) and fields[column].strip()
        }
        if parts and arm < len(fields):
            items[unguarded(fields[arm])] = parts
    return items


def read_page(text: str, label: str) -> dict[str, Any]:
    """The settings of a rating page, as JSON."""
    try:
        page = json.loads(text)
    except ValueError as error:
        raise StudyError(f"{label}: not JSON: {error}") from None
    if not isinstance(page, dict):
        raise StudyError(f'{label}: not an object; write {{"question": ..., "buttons": [...]}}')
    return page


def read_results(text: str, label: str, *, skip_blank: bool = False) -> list[Result]:
    """Columns `reward` and `ticket`, `arm` or both; with both, the ticket must be of that arm.

    Of an export, the rewards that its study counted.
    """
    lines = csv_records(text, label, StudyError)
    _, header = next(lines, (1, []))
    names = [field.strip().lower() for field in header]
    if is_export(names):
        return _read_export(lines, names, label)
    reward = next((names.index(name) for name in REWARD_NAMES if name in names), None)
    ticket = names.index("ticket") if "ticket" in names else None
    arm = next((names.index(name) for name in ARM_NAMES if name in names), None)
    if reward is None or (ticket is None and arm is None):
        raise StudyError(f"{label}, line 1: the header must be ticket,reward or arm,reward")
    found = []
    for line, fields in lines:
        if len(fields) != len(names):
            raise StudyError(
                f"{label}, line {line}: {len(fields)} fields, but the header has {len(names)}"
            )
        text_of_reward = fields[reward].strip()
        if not text_of_reward:
            if skip_blank:
                continue
            raise StudyError(f"{label}, line {line}: no reward (--skip-blank passes over these)")
        value = _number(text_of_reward, f"{label}, line {line}: reward")
        key = _key(
            fields[ticket].strip() if ticket is not None else "",
            unguarded(fields[arm]) if arm is not None else "",
            f"{label}, line {line}",
        )
        found.append(Result(key, value, line))
    return found


EXPORT_COLUMNS = ("seq", "status", "turn")
"""The columns that identify an export of a study."""
COUNTED = "counted"


def is_export(names: Collection[str]) -> bool:
    """Whether a table with these columns was written by `study export`."""
    return all(name in names for name in EXPORT_COLUMNS)


def left_out_words(statuses: Iterable[str]) -> str | None:
    """A remark on the rows of an export that do not count; None if all rows count."""
    counts = Counter(status for status in statuses if status != COUNTED)
    words = {
        "waiting": "waiting for slower answers to earlier pulls",
        "void": "void",
        "surplus": "beyond the budget",
        "out": "still out",
    }
    parts = [f"{counts[status]:,} {word}" for status, word in words.items() if counts[status]]
    if not parts:
        return None
    return f"left out what the study does not count: {', '.join(parts)}"


def _read_export(
    lines: Iterator[tuple[int, list[str]]], names: list[str], label: str
) -> list[Result]:
    """The counted rewards of an export by their arms, in the order in which they were counted.

    Tickets are those of the study that was exported, and mean nothing elsewhere.
    """
    status, turn, arm = (names.index(name) for name in ("status", "turn", "arm"))
    reward = names.index("reward")
    found = []
    for line, fields in lines:
        if len(fields) != len(names):
            raise StudyError(
                f"{label}, line {line}: {len(fields)} fields, but the header has {len(names)}"
            )
        if fields[status] == COUNTED:
            where = f"{label}, line {line}"
            value = _number(fields[reward].strip(), f"{where}: reward")
            place = _number(fields[turn].strip(), f"{where}: turn")
            found.append((place, Result(unguarded(fields[arm]), value, line)))
    return [result for _, result in sorted(found, key=lambda pair: pair[0])]


def export_statuses(text: str, label: str) -> list[str]:
    """The column `status` of an export; empty for any other file."""
    lines = csv_records(text, label, StudyError)
    _, header = next(lines, (1, []))
    names = [field.strip().lower() for field in header]
    if not is_export(names):
        return []
    column = names.index("status")
    return [fields[column] for _, fields in lines if len(fields) > column]


def _number(text: str, where: str) -> float:
    try:
        if "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise StudyError(f"{where} {text!r} is not a number") from None


def _key(ticket: str, arm: str, where: str) -> Ticket | int | str:
    if not ticket:
        if not arm:
            raise StudyError(f"{where}: neither ticket nor arm")
        return arm
    if not (ticket.isascii() and ticket.isdigit()) or len(ticket) > 18:
        raise StudyError(f"{where}: ticket {ticket!r} is not a number")
    return Ticket(int(ticket), arm) if arm else int(ticket)


def write_chances(found: Chances, answer: Identification) -> Iterator[str]:
    """All arms with their chances as the lines of a CSV."""
    flagged = set(found.flagged)
    yield "arm,chance,flagged,mean,pulls\n"
    for i, arm in enumerate(found.arms):
        mean = "" if answer.means[i] != answer.means[i] else repr(float(answer.means[i]))
        yield (
            f"{quoted(guarded(arm))},{found.chance[i]:.6f},{int(arm in flagged)},"
            f"{mean},{answer.pulls_by_arm[i]}\n"
        )
