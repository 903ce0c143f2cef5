"""Five tables of 400 rows in which what one column does depends on another, made up.

    python pair_tables.py make DIR SEED
    python pair_tables.py score DIR NAME PREDICTIONS.csv

Writes DIR/NAME.csv, and DIR/NAME-points.csv, 2,000 other rows with y the function without noise: for
table_lightgbm.py, and to score the column mean of a file that kestrel predict has written.

one: Friedman's first function, of five of ten columns (sin of a product, a square, two lines; Annals of Statistics 19, 1991).
two: his second, of four (an impedance). hidden: four columns by themselves, two more that act only together, three that do nothing.
many: seven of twelve columns by themselves and two pairs. shop: the slope of one column by five shops,
a wave in another for one of three kinds, two columns that do nothing.
"""
import csv
import sys

import numpy as np

TRAIN, POINTS = 400, 2_000


def one(r, n):
    x = r.uniform(size=(n, 10))
    return x, 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4], 1.0


def two(r, n):
    x = np.c_[r.uniform(0, 100, n), r.uniform(40 * np.pi, 560 * np.pi, n), r.uniform(0, 1, n), r.uniform(1, 11, n)]
    return x, np.hypot(x[:, 0], x[:, 1] * x[:, 2] - 1 / (x[:, 1] * x[:, 3])), 125.0


def hidden(r, n):
    x = r.uniform(-1, 1, size=(n, 9))
    return x, 3 * x[:, 0] + 2 * np.sin(3 * x[:, 1]) + 2 * x[:, 2] ** 2 + 2 * np.tanh(3 * x[:, 3]) + 2.5 * x[:, 4] * x[:, 5], 0.5


def many(r, n):
    x = r.normal(size=(n, 12))
    alone = sum(np.sin(1.3 * x[:, i] + i) for i in range(7))
    return x, alone + np.tanh(x[:, 4]) * x[:, 6] + 0.8 * x[:, 1] * x[:, 2], 0.4


def shop(r, n):
    x, shop, kind = r.uniform(size=(n, 5)), r.integers(0, 5, n), r.integers(0, 3, n)
    slope, height = np.array([-4, -1, 0, 2, 5.0])[shop], np.array([0, 3, -2])[kind]
    return np.c_[x, shop, kind], slope * x[:, 0] + 3 * np.sin(5 * x[:, 1]) * (kind == 1) + 2 * x[:, 2] + height, 0.5


def make(folder, seed):
    for table in (one, two, hidden, many, shop):
        name = table.__name__
        r = np.random.default_rng([int(seed), len(name)])
        x, f, sd = table(r, TRAIN + POINTS)
        y = f + sd * r.normal(size=len(f))
        rows, names = x.tolist(), [f"x{i + 1}" for i in range(x.shape[1])]
        if name == "shop":
            names = [*"abcde", "shop", "kind"]
            rows = [[*v[:5], f"s{v[5]:.0f}", f"k{v[6]:.0f}"] for v in rows]
        for part, some, values in (("", slice(TRAIN), y), ("-points", slice(TRAIN, None), f)):
            with open(f"{folder}/{name}{part}.csv", "w", newline="") as out:
                w = csv.writer(out)
                w.writerow([*names, "y"])
                w.writerows([*v, t] for v, t in zip(rows[some], values[some]))


def score(folder, name, predictions):
    with open(f"{folder}/{name}-points.csv") as a, open(predictions) as b:
        f = np.array([float(row["y"]) for row in csv.DictReader(a)])
        mean = np.array([float(row["mean"]) for row in csv.DictReader(b)])
    print(f"{name}: RMSE {np.sqrt(np.mean((mean - f) ** 2)):.4g} of the function, whose sd is {f.std():.4g}")


if __name__ == "__main__":
    make(*sys.argv[2:]) if sys.argv[1] == "make" else score(*sys.argv[2:])
