"""Made series with long gaps, to see which weights of kernels fill them best.

    python docs/peers/long_gaps.py make DIR [SEEDS]
    for f in DIR/*.csv; do kestrel run $f --target y --headless --out ${f%.csv} --set data.split_by=mask --set data.mask=${f%.csv}.mask \\
      --set data.time=no --set predict.weights=loo --set sparse.inducing=60 --set predict.theta=mode --set schedule.evaluate_every=1 \\
      --set schedule.refine=1 --set optimise.evidence=laplace --set 'kernels.expressions=["SE","RQ","PER","MATERN12","MATERN32",
      "LIN+RQ","PER+SE","MATERN12+PER","PER*SE","MATERN12+SE","MATERN12+PER*SE","MATERN12+LIN"]'; done
    for w in loo posterior tempered; do for f in DIR/*.csv; do
      kestrel predict ${f%.csv} --data ${f%.csv}.held --weights $w -o ${f%.csv}.$w; done; done
    python docs/peers/long_gaps.py score DIR

420 rows each, six gaps of 20; SEEDS (12) of each of three kinds: season, a wave that is no sine with a level that
wanders and correlated swings; smooth, functions of two lengths and swings; beat, a wave that comes and goes, and
Student's noise. The score is the CRPS of normal distributions with the means and standard deviations predicted.
"""
import csv
import math
import pathlib
import random
import sys

ROWS, GAP, GAPS = 420, 20, 6


def waves(rng, length, sd, m=60):
    all_ = [(rng.gauss(0, 1) / length, rng.uniform(0, 2 * math.pi)) for _ in range(m)]
    return [sd * math.sqrt(2 / m) * sum(math.cos(f * t + p) for f, p in all_) for t in range(ROWS)]


def autoregression(rng, phi, sd):
    e = [0.0] * ROWS
    for i in range(1, ROWS):
        e[i] = phi * e[i - 1] + sd * rng.gauss(0, 1)
    return e


def series(kind, seed):
    rng = random.Random(1000 * len(kind) + seed)
    if kind == "season":
        p, q = rng.uniform(25, 60), rng.uniform(0, 6)
        e, level = autoregression(rng, 0.85, 0.3), autoregression(rng, 1, 0.05)
        y = [math.sin(2 * math.pi * t / p) + 0.5 * math.sin(4 * math.pi * t / p + q) + level[t] + e[t] + 0.1 * rng.gauss(0, 1)
             for t in range(ROWS)]
    elif kind == "smooth":
        a, b, e = waves(rng, 40, 1.0), waves(rng, 12, 0.4), autoregression(rng, 0.8, 0.25)
        y = [a[t] + b[t] + e[t] + 0.1 * rng.gauss(0, 1) for t in range(ROWS)]
    else:
        p, q = rng.uniform(15, 40), rng.uniform(0, 6)
        y = [(1 + 0.5 * math.sin(2 * math.pi * t / (7 * p) + q)) * math.sin(2 * math.pi * t / p) + 0.003 * t
             + 0.35 * rng.gauss(0, 1) / math.sqrt(sum(rng.gauss(0, 1) ** 2 for _ in range(4)) / 4) for t in range(ROWS)]
    held, step = [0] * ROWS, ROWS // GAPS
    for g in range(GAPS):
        at = g * step + rng.randrange(5, step - GAP - 5)
        held[at : at + GAP] = [1] * GAP
    return y, held


def make(folder, seeds=12):
    folder.mkdir(exist_ok=True)
    for kind in ("season", "smooth", "beat"):
        for seed in range(1, seeds + 1):
            y, held = series(kind, seed)
            rows = [f"{t},{v:.6g}\n" for t, v in enumerate(y)]
            (folder / f"{kind}{seed}.csv").write_text("x,y\n" + "".join(rows))
            (folder / f"{kind}{seed}.mask").write_text("".join(f"{h}\n" for h in held))
            (folder / f"{kind}{seed}.held").write_text("x,y\n" + "".join(r for r, h in zip(rows, held) if h))


def crps(mean, sd, y):
    z = (y - mean) / sd
    return sd * (z * math.erf(z / math.sqrt(2)) + 2 * math.exp(-z * z / 2) / math.sqrt(2 * math.pi) - 1 / math.sqrt(math.pi))


def mean_crps(path, truth):
    with open(path) as f:
        rows = list(csv.DictReader(f))
    return sum(crps(float(r["mean"]), float(r["sd_y"]), y) for r, y in zip(rows, truth, strict=True)) / len(rows)


def score(folder):
    for other in ("posterior", "tempered"):
        for kind in ("season", "smooth", "beat", ""):
            logs = []
            for table in sorted(folder.glob(f"{kind}*.loo")):
                truth = [float(line.split(",")[1]) for line in table.with_suffix(".held").read_text().splitlines()[1:]]
                logs.append(math.log(mean_crps(table, truth) / mean_crps(table.with_suffix("." + other), truth)))
            if len(logs) > 1:
                mean = sum(logs) / len(logs)
                error = math.sqrt(sum((v - mean) ** 2 for v in logs) / (len(logs) - 1) / len(logs))
                print(f"loo over {other}, {kind or 'all'}: {math.exp(mean):.3f} ± {error:.3f}, better on {sum(v < 0 for v in logs)} of {len(logs)}")


if __name__ == "__main__":
    what, folder, *rest = sys.argv[1:]
    {"make": make, "score": score}[what](pathlib.Path(folder), *map(int, rest))
