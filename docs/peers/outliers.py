"""Makes four tables with and without outliers and tells how far off the function is.

    python3 outliers.py make DIR [DRAW]     writes DIR/NAME-clean.csv, -outliers.csv and -points.csv, of draw 0 or another one
    python3 outliers.py score DIR NAME FILE compares the column mean of FILE, predictions at the points

Of the rows 5 %, drawn by the seed, are ten standard deviations of the noise off, to either side. The points are
other ones than the rows, with f. Needs Python alone.
"""

import csv
import math
import random
import sys


def series(rng):
    xs = [float(i) for i in range(400)]
    return ["t"], [[x] for x in xs], lambda x: 0.01 * x[0] + 2 * math.sin(2 * math.pi * x[0] / 37) + math.cos(x[0] / 60), 0.5


def table(rng):
    xs = [[rng.uniform(-2, 2) for _ in range(5)] for _ in range(1000)]
    return list("abcde"), xs, lambda x: math.sin(2 * x[0]) + 0.5 * x[1] ** 2 + x[2], 0.3


def plane(rng):
    xs = [[rng.uniform(0, 6), rng.uniform(0, 6)] for _ in range(600)]
    return ["east", "north"], xs, lambda x: 3 * math.exp(-((x[0] - 2) ** 2 + (x[1] - 4) ** 2) / 4) + 0.3 * x[0], 0.2


def uneven(rng):
    xs = sorted(rng.expovariate(1) for _ in range(500))
    total, out = 0.0, []
    for gap in xs:
        total += gap
        out.append([total / 50])
    rng.shuffle(out)
    return ["x"], out, lambda x: math.sin(1.3 * x[0]) + 0.5 * abs(math.sin(2.1 * x[0])) ** 3 + 0.1 * x[0], 0.3


TABLES = {"series": (series, 1), "table": (table, 2), "plane": (plane, 3), "uneven": (uneven, 4)}


def make(folder, draw=0):
    for name, (of, seed) in TABLES.items():
        rng = random.Random(seed + 10 * draw)
        names, xs, f, sd = of(rng)
        noise = [rng.gauss(0, sd) for _ in xs]
        far = set(rng.sample(range(len(xs)), len(xs) // 20))
        signs = [rng.choice([-1, 1]) for _ in xs]
        if name == "series":
            points = [[x[0] + 0.5] for x in xs[:-1]]
        else:
            lo = [min(x[j] for x in xs) for j in range(len(names))]
            hi = [max(x[j] for x in xs) for j in range(len(names))]
            points = [[rng.uniform(a, b) for a, b in zip(lo, hi)] for _ in range(500)]
        for kind in ("clean", "outliers"):
            with open(f"{folder}/{name}-{kind}.csv", "w", newline="") as out:
                w = csv.writer(out)
                w.writerow(names + ["y"])
                for i, x in enumerate(xs):
                    off = signs[i] * 10 * sd if kind == "outliers" and i in far else noise[i]
                    w.writerow([f"{v:.6g}" for v in x] + [f"{f(x) + off:.6g}"])
        with open(f"{folder}/{name}-points.csv", "w", newline="") as out:
            w = csv.writer(out)
            w.writerow(names)
            w.writerows([[f"{v:.6g}" for v in x] for x in points])


def score(folder, name, predictions):
    f = TABLES[name][0](random.Random(0))[2]
    with open(f"{folder}/{name}-points.csv") as a:
        points = [[float(v) for v in row] for row in list(csv.reader(a))[1:]]
    with open(predictions) as b:
        means = [float(row["mean"]) for row in csv.DictReader(b)]
    square = sum((f(x) - m) ** 2 for x, m in zip(points, means)) / len(points)
    print(f"{name}: f is off by {math.sqrt(square):.4f} (RMSE at {len(points)} points)")


if __name__ == "__main__":
    make(sys.argv[2], int((sys.argv + [0])[3])) if sys.argv[1] == "make" else score(*sys.argv[2:])
