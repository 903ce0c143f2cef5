"""Tables of a number x and a text of eight levels, made up, and what lengths for levels are worth on them.

    python level_tables.py make DIR DRAWS
    python level_tables.py run DIR KESTREL
    python level_tables.py score DIR

make writes DIR/KIND-ROWS-DRAW.csv: x, kind and y of 80 or 240 rows, behind them 1,500 more that are held out.
run has the program learn each of them by two lists of kernels, PLAIN and with MORE behind it, and score takes from
their metrics.csv the NLPD of the held-out rows, averaged over kernels: less is better. It needs no packages.

A level l has the curve f_l, or a height h_l beside a curve that all share (kinds that end in -h). These are, of eight levels,
heights, curves: independent. groups: equal in two groups of four. order: near where the levels are near each other in an order
that the table does not show. one: equal but for one level, which has its own. Noise has the standard deviation 0.3.
"""
import csv
import math
import os
import random
import statistics
import subprocess
import sys

LEVELS, HELD_OUT, NOISE = 8, 1_500, 0.3
ROWS = (80, 240)
KINDS = ("heights", "curves", "groups-h", "groups", "order-h", "order", "one-h", "one")
PLAIN = ["SE[x]", "SE[x]+CAT[kind]", "SE[x]*CAT[kind]", "SE[x]*CAT[kind]+CAT[kind]", "SE[x]*CAT[kind]+SE[x]",
         "SE[x]*CAT[kind]+SE[x]+CAT[kind]", "SE[x]*(CAT[kind]+CONST)+CAT[kind]"]
MORE = ["SE[x]+CAT[kind;ard]", "SE[x]*CAT[kind;ard]+SE[x]+CAT[kind]", "SE[x]*CAT[kind;ard]"]


def curve(r):
    waves = [(r.gauss(0, 1) / (1 + k), r.uniform(0, 2 * math.pi), 3.0 * (k + 1)) for k in range(4)]
    return lambda x: sum(a * math.cos(p + w * x) for a, p, w in waves)


def functions(r, kind):
    """One function for each level."""
    alike, heights = kind.removesuffix("-h"), kind == "heights" or kind.endswith("-h")
    draw = (lambda: (lambda h: lambda x: h)(r.gauss(0, 1))) if heights else (lambda: curve(r))
    if alike in ("heights", "curves"):
        own = [draw() for _ in range(LEVELS)]
    elif alike == "groups":
        first, second = draw(), draw()
        own = [first] * 4 + [second] * 4
    elif alike == "one":
        most, other = draw(), draw()
        own = [most] * (LEVELS - 1) + [other]
    else:  # between three, by places in an order
        ends = [draw() for _ in range(3)]

        def between(place):
            i = min(int(place * 2), 1)
            t = place * 2 - i
            return lambda x: (1 - t) * ends[i](x) + t * ends[i + 1](x)

        own = [between(l / (LEVELS - 1)) for l in range(LEVELS)]
    r.shuffle(own)
    if heights:
        shared = curve(r)
        return [(lambda g: lambda x: g(x) + shared(x))(f) for f in own]
    return own


def make(folder, draws):
    for kind in KINDS:
        for draw in range(int(draws)):
            for rows in ROWS:
                r = random.Random(f"{kind} {draw}")  # more rows are of the same functions
                f = functions(r, kind)
                with open(f"{folder}/{kind}-{rows}-{draw}.csv", "w", newline="") as out:
                    w = csv.writer(out)
                    w.writerow(["x", "kind", "y"])
                    for _ in range(rows + HELD_OUT):
                        x, level = r.uniform(0, 2), r.randrange(LEVELS)
                        w.writerow([f"{x:.5f}", "abcdefgh"[level], f"{f[level](x) + r.gauss(0, NOISE):.5f}"])


def tables(folder):
    for kind in KINDS:
        for rows in ROWS:
            names = sorted(n for n in os.listdir(folder) if n.startswith(f"{kind}-{rows}-") and n.endswith(".csv"))
            yield kind, rows, [n.removesuffix(".csv") for n in names]


def finished(folder, name, which):
    return os.path.exists(f"{folder}/{name}-{which}/model.kestrel")


def run(folder, kestrel):
    for _, _, names in tables(folder):
        for name in names:
            for which, kernels in (("plain", PLAIN), ("both", PLAIN + MORE)):
                to = f"{folder}/{name}-{which}"
                if not finished(folder, name, which):
                    settings = ['data.inputs=["x","kind"]', f"data.test={HELD_OUT}", "data.split_by=rows",
                                "kernels.expressions=" + ",".join(kernels)]
                    subprocess.run([kestrel, "run", f"{folder}/{name}.csv", "--quiet", "--out", to,
                                    *(a for s in settings for a in ("--set", s))], check=True)


def nlpd(folder, name, which):
    with open(f"{folder}/{name}-{which}/metrics.csv") as f:
        return [float(row["nlpd"]) for row in csv.DictReader(f) if row["method"] == "vbks"][-1]


def score(folder):
    all_differences = {}
    for kind, rows, names in tables(folder):
        done = [n for n in names if all(finished(folder, n, w) for w in ("plain", "both"))]
        if not done:
            continue
        pairs = [(nlpd(folder, n, "plain"), nlpd(folder, n, "both")) for n in done]
        differences = [b - a for a, b in pairs]
        all_differences.setdefault(rows, []).extend(differences)
        error = statistics.stdev(differences) / math.sqrt(len(done)) if len(done) > 1 else float("nan")
        print(f"{kind:9} {rows:4} rows, {len(done)} draws: plain {statistics.mean(a for a, _ in pairs):7.4f}, "
              f"with lengths {statistics.mean(differences):+.4f} ± {error:.4f}")
    for rows, d in all_differences.items():
        print(f"all {len(d)} of {rows} rows: {statistics.mean(d):+.4f} ± {statistics.stdev(d) / math.sqrt(len(d)):.4f}, "
              f"better in {sum(v < 0 for v in d)}")


if __name__ == "__main__":
    {"make": make, "run": run, "score": score}[sys.argv[1]](*sys.argv[2:])
