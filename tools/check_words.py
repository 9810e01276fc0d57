"""Check the prose of source and documentation against a list of words we do not use.

    python tools/check_words.py src docs README.md
    python tools/check_words.py --long 30 src/standout/results

Prose is: comments, docstrings and other texts of Python files, Markdown outside code, and pages
and scripts as a whole. An expression of `tools/words.txt` is an error. A sentence of more than
`--long` words is a warning, counted in the last line; `--show` lists them all.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

WORDS = Path(__file__).with_name("words.txt")
LONG = 30
KINDS = {".py", ".md", ".html", ".js"}
CODE = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"``.+?``|`[^`\n]*`|\]\([^)\s]*\)|<[^>\n]+>|https?://\S+")
SENTENCE_ENDS = re.compile(r"(?<=[.!?:;])[\"')*_]*\s+|\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\.|>>>))")

Prose = tuple[int, str]
"""The line where a text begins, and the text."""


def unwanted() -> list[tuple[re.Pattern[str], str]]:
    """The expressions we do not use, each with what to write instead."""
    rows = (line.split(" => ") for line in WORDS.read_text("utf-8").splitlines())
    return [
        (re.compile(rf"\b(?:{row[0]})\b", re.IGNORECASE), row[1]) for row in rows if len(row) == 2
    ]


def python_prose(text: str) -> Iterator[Prose]:
    """Comments in blocks, and every string with a space in it, examples left out."""
    block: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if block and token.start[0] != last + 1:
                yield first, "\n".join(block)
                block = []
            first, last = first if block else token.start[0], token.start[0]
            block.append(token.string.lstrip("# "))
    if block:
        yield first, "\n".join(block)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            if node.value.lstrip().startswith(("SELECT", "INSERT", "UPDATE", "CREATE", "<")):
                continue
            yield node.lineno, re.sub(r"^ *(?:>>>|\.\.\.).*$", "", node.value, flags=re.MULTILINE)


def markdown_prose(text: str) -> Iterator[Prose]:
    """All but blocks of code, with the lines counted as in the file."""
    yield 1, CODE.sub(lambda block: "\n" * block[0].count("\n"), text)


def prose(path: Path) -> Iterator[Prose]:
    """The texts of a file, inline code and addresses left out."""
    text = path.read_text("utf-8")
    parts = {".py": python_prose, ".md": markdown_prose}.get(path.suffix, lambda text: [(1, text)])
    for line, part in parts(text):
        yield line, INLINE.sub(" CODE ", part)


def files(paths: list[Path]) -> Iterator[Path]:
    """Each file of a kind that has prose, libraries of others left out."""
    for path in paths:
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (one for one in found if one.suffix in KINDS and ".min." not in one.name)


def long_sentences(text: str, most: int) -> Iterator[tuple[int, str]]:
    """Sentences of more than `most` words, each with the line where it begins, from 0."""
    place = 0
    for sentence in SENTENCE_ENDS.split(text):
        place = max(place, text.find(sentence, place))
        if len(re.findall(r"\w[\w'’-]*", sentence)) > most and "|" not in sentence:
            yield text.count("\n", 0, place), sentence


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--long", type=int, default=LONG, help=f"words in a sentence ({LONG})")
    parser.add_argument("--show", action="store_true", help="list the long sentences")
    asked = parser.parse_args()
    expressions, errors, warnings = unwanted(), 0, 0
    for path in files(asked.paths):
        for first, text in prose(path):
            for pattern, instead in expressions:
                for found in pattern.finditer(text):
                    line = first + text.count("\n", 0, found.start())
                    print(f"{path}:{line}: not '{found[0]}', but: {instead}")
                    errors += 1
            if path.suffix not in {".html", ".js"}:
                for offset, sentence in long_sentences(text, asked.long):
                    warnings += 1
                    if asked.show:
                        words = " ".join(sentence.split())
                        print(f"{path}:{first + offset}: long sentence: {words[:90]}…")
    print(f"{errors} unwanted expressions")
    if warnings:
        print(f"warning: {warnings} sentences of more than {asked.long} words (--show lists them)")
    return errors > 0


if __name__ == "__main__":
    sys.exit(main())
