"""Priors of the parts of a series, from runs on many of them, and by cross-fitting.

    python series_priors.py FOLDER FOLDS

FOLDER holds NAME.csv (t,y, of which the run has held out the last rows) and the run of its training rows, NAME,
made with priors so broad that they say little (kernelspace/priorseries.go with {0, 2} throughout, but for periods).
Of every kernel of a run, weighted by exp(local ELBO/10), each part is measured in sds of the targets and in ranges of
time, the latter weighted by the share of the variance that it explains, too; printed are weighted medians and half the
distance of the weighted 16 % and 84 % points of the logarithms: of all runs, then without those of each fold (every
FOLDS-th run).
"""
import collections, csv, math, re, sys
from pathlib import Path

import numpy as np

PARTS = ["Level", "Slope", "Trend", "Mean", "Season", "Shape", "Change", "Smooth", "Bend", "Rough", "Return", "Swing", "Short", "Noise"]
LENGTHS = {"Shape", "Change", "Bend", "Return", "Short"}


def rows(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def terms(kernel):
    """The leaves of each summand, numbered as their parameters are."""
    count = collections.Counter(re.findall(r"[A-Z]+\d*", kernel))
    seen, out = collections.Counter(), []
    for summand in kernel.split("+"):
        leaves = []
        for leaf in summand.split("*"):
            seen[leaf] += 1
            leaves.append((leaf, leaf if count[leaf] == 1 else f"{leaf}#{seen[leaf]}"))
        out.append(leaves)
    return out


def measured(run, data):
    """(part, log value, weight) of a run."""
    held = int(re.search(r"(?m)^test = (\d+)", (run / "config.toml").read_text()).group(1))
    logged = 'transform = "log"' in (run / "config.toml").read_text()
    table = rows(data)[:-held]
    t = np.array([float(r["t"]) for r in table])
    y = np.array([float(r["y"]) for r in table])
    sd, span, rms = np.std(np.log(y) if logged else y), np.ptp(t), np.std(t)
    params = collections.defaultdict(dict)
    for r in rows(run / "kernels.csv"):
        params[r["kernel_id"]][r["parameter"]] = float(r["value"])
    last = collections.OrderedDict((r["kernel_id"], float(r["local_elbo"])) for r in rows(run / "posterior.csv") if r["local_elbo"])
    best = max(last.values())
    total = sum(math.exp((v - best) / 10) for v in last.values())
    for kernel, p in params.items():
        if kernel not in last or "(" in kernel:
            continue
        weight = math.exp((last[kernel] - best) / 10) / total
        parts, found = [], []
        for leaves in terms(kernel):
            names = [leaf for leaf, _ in leaves]
            seasonal = "PER" in names
            variance = 1.0
            for leaf, name in leaves:
                v = p.get(name + ".variance", 1)
                variance *= v * {"RW": span / 2, "IRW": span**3 / 24}.get(leaf, (rms / p.get(name + ".lengthscale", 1)) ** 2 if leaf == "LIN" else 1)
            at = len(parts)
            parts.append(variance)
            for leaf, name in leaves:
                v, l = p.get(name + ".variance"), p.get(name + ".lengthscale")
                if leaf == "PER":
                    found.append((at, "Shape", l))
                    if "RW" not in names:
                        found.append((at, "Season", math.sqrt(variance) / sd))
                elif seasonal and leaf == "SE":
                    found.append((at, "Change", l / span))
                elif not seasonal:
                    value, length = {
                        "RW": ("Level", None), "IRW": ("Slope", None), "LIN": ("Trend", None), "CONST": ("Mean", None),
                        "SE": ("Smooth", "Bend"), "MATERN12": ("Rough", "Return"), "MATERN32": ("Swing", "Short")}[leaf]
                    unit = {"RW": span, "IRW": span**3, "LIN": (rms / l) ** 2 if l else 1}.get(leaf, 1)
                    found.append((at, value, math.sqrt(v * unit) / sd))
                    if length:
                        found.append((at, length, l / span))
        noise = p["noise_variance"]
        everything = sum(parts) + noise
        for at, part, value in found:
            yield part, math.log(value), weight * (parts[at] / everything if part in LENGTHS else 1)
        yield "Noise", math.log(math.sqrt(noise) / sd), weight


def middle(samples):
    v, w = np.array([s[0] for s in samples]), np.array([s[1] for s in samples])
    order = np.argsort(v)
    v, c = v[order], np.cumsum(w[order]) / w.sum()
    low, mid, high = (v[np.searchsorted(c, q)] for q in (0.16, 0.5, 0.84))
    return mid, (high - low) / 2


def main():
    folder, folds = Path(sys.argv[1]), int(sys.argv[2])
    runs = sorted(d for d in folder.iterdir() if (d / "kernels.csv").exists())
    samples = [collections.defaultdict(list) for _ in range(folds)]
    for i, run in enumerate(runs):
        for part, value, weight in measured(run, folder / (run.name + ".csv")):
            samples[i % folds][part].append((value, weight))
    print(len(runs), "runs")
    print("part".ljust(8), *(f"all but {f}".rjust(12) if f >= 0 else "all".rjust(12) for f in range(-1, folds)))
    for part in PARTS:
        cells = []
        for out in range(-1, folds):
            m, s = middle([x for f in range(folds) if f != out for x in samples[f][part]])
            cells.append(f"{m:6.2f} {s:5.2f}")
        print(part.ljust(8), *(c.rjust(12) for c in cells))


main()
