"""Count the lines of code of the source and of the tests.

`python tools/count_lines.py` prints a table with a row for `src/standout`, for each of its packages
and for `tests`. The columns are the number of modules, all lines, lines of code (neither blank, nor
comment, nor docstring), the median lines of a module, and the median, the 95th percentile and the
maximum lines of a function.
"""

import ast
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent


def code_lines(text: str) -> int:
    """Lines that are neither blank, nor comment, nor docstring."""
    lines = enumerate(text.splitlines(), 1)
    found = {i for i, line in lines if line.strip() and not line.strip().startswith("#")}
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text and isinstance(node.value.value, str):
            found.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(found)


def function_sizes(text: str) -> list[int]:
    """Lines of each function, from its `def` to its last line."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    found = (node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))
    return [node.end_lineno - node.lineno + 1 for node in found]


def row(label: str, folder: Path) -> str:
    """One line of the table."""
    texts = [path.read_text() for path in sorted(folder.rglob("*.py"))]
    sizes = sorted(size for text in texts for size in function_sizes(text)) or [0]
    lines = [text.count("\n") for text in texts] or [0]
    high = sizes[int(0.95 * (len(sizes) - 1))]
    return (
        f"| {label} | {len(texts)} | {sum(lines):,} | {sum(map(code_lines, texts)):,} "
        f"| {median(lines):g} | {median(sizes):g} / {high} / {sizes[-1]} |"
    )


def main() -> None:
    print("| | modules | lines | of them code | median module | function: median / p95 / max |")
    print("|---|---|---|---|---|---|")
    source = ROOT / "src" / "standout"
    print(row("src/standout", source))
    for folder in sorted(path for path in source.iterdir() if any(path.rglob("*.py"))):
        if folder.is_dir():
            print(row(folder.name, folder))
    print(row("tests", ROOT / "tests"))


if __name__ == "__main__":
    sys.exit(main())
