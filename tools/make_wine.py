"""Write src/standout/simulation/data/wine.csv, the instance of the paper's Fig. 5.

Needs scikit-learn, whose `load_wine` holds the rows that the paper took from
the ODDS collection. Run it from the root of the repository.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine

LABELLED_OUTLIERS = [57, 16, 32, 7, 56, 48, 9, 37, 5, 53]
INLIERS = range(59, 178)
DROPPED = 6
MULTIPLIER = 3 * 1.4826
TARGET = Path("src/standout/simulation/data/wine.csv")


def wine_means() -> tuple[list[int], np.ndarray]:
    """Rows of `load_wine` and their means in [0, 1].

    The first principal component of the raw features, rescaled; without the 6
    values nearest to the threshold, so that both definitions of an outlier agree.
    """
    rows = np.array([*LABELLED_OUTLIERS, *INLIERS])
    data = load_wine()
    features = data.data[rows]
    centred = features - features.mean(axis=0)
    direction = np.linalg.svd(centred, full_matrices=False)[2][0]
    direction *= np.sign(direction[data.feature_names.index("proline")])
    scores = centred @ direction
    scores = (scores - scores.min()) / (scores.max() - scores.min())
    centre = np.median(scores)
    threshold = centre + MULTIPLIER * np.median(np.abs(scores - centre))
    far = np.sort(np.argsort(np.abs(scores - threshold))[DROPPED:])
    return rows[far].tolist(), scores[far]


def main() -> None:
    """Write the table, with every digit of the means."""
    rows, means = wine_means()
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["arm", "mean"])
        for row, mean in zip(rows, means.tolist(), strict=True):
            writer.writerow([f"wine-{row:03d}", repr(mean)])
    print(f"{TARGET}: {len(rows)} arms")


if __name__ == "__main__":
    main()
