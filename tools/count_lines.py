"""How large the house is: before its redesign, now, and now without what came later.

`python tools/count_lines.py` prints a table of `src/standout`: modules, lines, lines of code
(neither blank, nor comment, nor docstring), the median of a module and the fullest folder. The
last row leaves out what could not be done, or was not promised, before the redesign: the modules
of `LATER`, and in other modules the lines that `git blame` gives to a commit of `CAPABILITIES`. It
is good to about a hundred lines: a line of an old ability that such a commit rewrote is left out,
a line of a new one that a later clean-up rewrote is counted. It needs the whole history.
"""

import argparse
import ast
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from statistics import median

BEFORE = "4a03ee5"
SOURCE = "src/standout"
LATER = (
    "analysis/analyse", "analysis/begin_study", "analysis/folder_shares", "analysis/folders",
    "analysis/limit", "analysis/tables", "cli/analyse", "cli/study_chances", "cli/study_change",
    "core/endings",
    "core/intervals/betting", "core/joint", "core/rules/joint", "core/threshold/population",
    "pictures/answers", "pictures/simulations", "estimation", "report/estimates", "report/items",
    "results/analysis", "results/arm", "results/chances", "results/display", "results/overlap",
    "service/pictures",
    "service/routes/changing", "service/routes/tokens", "study/changing", "study/inbox",
    "study/log/arm_history", "study/log/counted_order", "study/look", "study/rating/item_list",
    "study/rating/picture_files", "study/token_links", "theory/alternatives", "theory/boxes",
    "theory/branch_and_bound", "theory/divergences", "theory/limit",
    "theory/matrix_game", "theory/multipliers",
)  # fmt: skip
CAPABILITIES = """
8fe28b6 Show the information limit in plans
69c57af Estimate each arm's chance to stand out
93ed509 Average intervals over several scales; bet on bounded rewards
1f6ce2f Use only the scales that matter after so many pulls
f5f68dc End runs and studies on a promise of their chances
f99fdd5 Let processes share transactions; show only what is safe
5fb9196 Count one's own reward once if serving others fails
1ac034f Show chances in the service, the dashboard and the report
5e88763 Describe the CSV of chances in the API
700c4be Certify with one bet on all means together: joint
a527aec Say in reports when all means together decide
1454d48 Let joint begin with earlier rewards only; play it compiled
eddb65c Let a study's settings change, and a mistyped reward be void
27c225e Speak to both databases by their own drivers
4152147 Say which tolerance would end what does not end
9ce26e5 Draw how smooth the prior of chances is
2f6bc18 Show items everywhere, an arm beside the others, a table that sorts
169562b Analyse past data; answers as frames, words and pictures
c4560ef Let owners steer a study from its page; test every page with axe
0814717 Never cut a number; refuse to serve what is not there
f2bea16 Offer a way out of studies that are far from their end
78bc84d Name in the report what was changed by hand
0f218bc Let raters change an answer, enlarge pictures and return to their panel
98c3060 Keep notes with a study, and set two studies side by side
885ab40 Take pictures for items from an owner's machine; time two pages
d13eb72 Choose pulls and guesses of anytime by learnt chances
aab5534 Keep nothing of what anytime learns in a study
df269af Analyse folders larger than memory
c0fb861 Let what takes long not hold up an arm; offer TooLateError
89c7b78 Say how standout scales, measured; verify partitioned logs
1eff423 Play simulations and the paper's runs on a Dask cluster
cefd8a0 Price joint's bets at a tenth of the cost, and learn less with each
1e83eb9 Note chances where the means may be less spread than they seem
33bd271 Narrow the threshold of thousands of arms by the joint bet
eeb86ab Forget the joint region's ends with what they rested on; keep its bet
99a3a1e Give no chance before there is a threshold
a3c965e Keep who paused an arm and who made or revoked a token
0190dcb Leave rewards of an unknown scale out of the joint bet
4925563 Leave nothing of a void reward in a sample's threshold
d6ed9e9 Count the first of all pulls where one bet is on all means
4f63aab Add up folders by shares, on several cores or a Dask cluster
27efa0f Show errors as pages, and mend what looking at every page found
6d235a3 Refuse certificates of what is not certain, and what is no number, in analyse
d123d88 Draw a study's status and simulations; try Polars itself
a04e037 Torture settings, void rewards, stops and restores; a note restarts no study
6d4d3c8 Look at one arm in parts of the log, a tenth of the time at most
883e143 Make chances honest with few rewards: groups, any scale, a sought centre
e04840a Begin a study with a whole table at once, not with a part that its order chose
40c8990 Tell whoever gives up a change over HTTP its key
5423860 Say in study status, too, what the chances lean on
3d0b480 Believe ends that older chances promised, since chances are other ones now
6cbfcd1 Fit pictures into 40 columns; say what 10^8 rewards take, and how arms are added
b72e0ca Let verify end whatever length a forged step says
681de0b Name tickets that cannot be, and break on none of them
3a5ce30 Average the joint bet over scales as a whole; keep the arms' own intervals
5bbe4a3 Ask that a long table is in order before a study is told of it
da44cbe Say why an arm is certain whose own interval is not; take turns with focus
4302871 Find every edit of a stored study that can be found, and list the others
e6818bd Say of no change that it was not made because what came of it could not be read
"""
NEW = {line.split()[0] for line in CAPABILITIES.strip().splitlines()}


def git(*words: str) -> str:
    return subprocess.run(["git", *words], text=True, capture_output=True, check=True).stdout


def modules(tree: str) -> list[str]:
    names = git("ls-tree", "-r", "--name-only", tree, SOURCE).split()
    return [name for name in names if name.endswith(".py")]


def code_lines(text: str) -> set[int]:
    """The numbers of the lines that are neither blank, nor comment, nor docstring."""
    lines = enumerate(text.splitlines(), 1)
    found = {i for i, line in lines if line.strip() and not line.strip().startswith("#")}
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text and isinstance(node.value.value, str):
            found.difference_update(range(node.lineno, node.end_lineno + 1))
    return found


def is_old(name: str) -> bool:
    inside = name.removeprefix(f"{SOURCE}/").removesuffix(".py")
    return not any(f"{inside}/".startswith(f"{one}/") for one in LATER)


def kept_lines(tree: str, name: str) -> set[int]:
    """The numbers of the lines that no commit of a later ability wrote."""
    blamed = git("blame", "-s", "-M", "-C", "--abbrev=7", tree, "--", name).splitlines()
    return {i for i, line in enumerate(blamed, 1) if line.lstrip("^")[:7] not in NEW}


def row(tree: str, label: str, *, only_old: bool = False) -> str:
    names = [name for name in modules(tree) if not only_old or is_old(name)]
    texts = {name: git("show", f"{tree}:{name}") for name in names}
    kept = {name: set(range(1, text.count("\n") + 1)) for name, text in texts.items()}
    if only_old:
        with ThreadPoolExecutor() as threads:
            found = threads.map(lambda name: kept_lines(tree, name), names)
            kept = dict(zip(names, found, strict=True))
    code = sum(len(code_lines(texts[name]) & kept[name]) for name in names)
    sizes = [len(lines) for lines in kept.values()]
    folders = Counter(str(PurePath(name).parent) for name in names)
    return (
        f"| {label} | {len(names)} | {sum(sizes):,} | {code:,} | {median(sizes):g} "
        f"| {max(folders.values())} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", nargs="?", default="HEAD", help="a commit; HEAD unless given")
    tree = parser.parse_args().tree
    print("| | modules | lines | of them code | median | fullest folder |")
    print("|---|---|---|---|---|---|")
    print(row(BEFORE, "before the redesign"))
    print(row(tree, "now"))
    print(row(tree, "now, what could be done before", only_old=True))


if __name__ == "__main__":
    main()
