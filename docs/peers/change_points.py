"""Made series with one change, and how well its place is found: by kestrel, and by least squares.

    python docs/peers/change_points.py make DIR [N] [SEED]      # or vary
    for f in DIR/step*.csv; do kestrel run $f --headless --out ${f%.csv} --set data.test=0 \\
        --set 'kernels.expressions=CP(CONST,CONST),CONST,LIN,SE,RW'; done
    for f in DIR/slope*.csv; do kestrel run $f --headless --out ${f%.csv} --set data.test=0 \\
        --set 'kernels.expressions=CP(CONST+LIN,CONST+LIN),CONST+LIN,SE,IRW,LIN+SE'; done
    python docs/peers/change_points.py score DIR

N series each (30) of 120 rows: a level that steps, by two to six of the noise's standard deviations, and a slope that
changes. Places lie in the middle half. With vary they have 60 to 240 rows, noise of .1 to 10, places in the middle seven
tenths, and slopes change by as much over the whole series as those of 120 rows do: by 12 to 36 of the noise's standard
deviations. The place of a slope is that of the run's effect "bend", else, as that of a step, what the hyperparameter of the
change lies between, taken to the rows next to it as a run's first sentence does. Least squares tries every place between two rows (steps), or a grid of places
of a broken line (slopes); its interval is where the profile likelihood, the noise estimated, is within 1.92 of the
best. A place counts as found if it lies in the interval of 95 %; beside that stand the mean width of the intervals, in
rows and as a share of all, and the median distance of the best place.
"""
import glob
import json
import os
import sys

import numpy as np

ROWS = 120


def make(folder, n=30, seed=1, varied=False):
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(seed)
    rows, noise, edge = ROWS, 1, 0.25
    for i in range(n):
        for kind in ("step", "slope"):
            if varied:
                rows, noise, edge = int(np.exp(rng.uniform(np.log(60), np.log(240)))), 10 ** rng.uniform(-1, 1), 0.15
            t = np.arange(rows, dtype=float)
            c = rng.uniform(edge, 1 - edge) * rows
            if kind == "step":
                y = rng.uniform(2, 6) * (t >= c)
            else:
                before, change = rng.uniform(-0.1, 0.1), rng.choice([-1, 1]) * rng.uniform(0.1, 0.3)
                y = ROWS / rows * (before * t + change * np.maximum(0, t - c))
            y = noise * (y + rng.standard_normal(rows))
            name = f"{folder}/{kind}{i:02d}"
            np.savetxt(name + ".csv", np.c_[t, y], delimiter=",", header="time,y", comments="", fmt="%.8g")
            json.dump({"kind": kind, "place": c}, open(name + ".truth", "w"))


def least_squares(t, y, kind):
    places = t[:-1] + 0.5 if kind == "step" else np.linspace(t[2], t[-3], 2 * len(t))
    logs = []
    for c in places:
        behind = t > c
        x = np.c_[~behind, behind] if kind == "step" else np.c_[np.ones_like(t), t, np.maximum(0, t - c)]
        left = y - x @ np.linalg.lstsq(x.astype(float), y, rcond=None)[0]
        logs.append(-len(y) / 2 * np.log(left @ left))
    logs = np.array(logs)
    near = places[logs > logs.max() - 1.92]
    half = 0.5 if kind == "step" else 0.25 * (places[1] - places[0])
    return places[logs.argmax()], near.min() - half, near.max() + half


def kestrel(run, kind=None):
    params = fit = leader = bend = None
    for line in open(run + "/events.jsonl"):
        e = json.loads(line)
        if "start" in e:
            params = {k["id"]: [p["name"] for p in k["params"]] for k in e["start"]["kernels"]}
        if "effects" in e and kind == "slope":
            bend = next((a["place"] for a in e["effects"]["all"] if a["kind"] == "bend"), None)
        if "evaluation" in e:
            for k in e["evaluation"]["kernels"]:
                if k.get("fit") and k["fit"]["rank"] == 1:
                    leader = k["id"]
                if k["id"].startswith("CP(") and k.get("fit"):
                    fit = k
    if bend:
        return bend["middle"], bend["low"], bend["high"], leader == fit["id"]
    at = params[fit["id"]].index("CP.place")
    f = fit["fit"]
    low, high = (f.get(end, [None] * (at + 1))[at] for end in ("low", "high"))
    if kind and low is not None:
        low, high = np.floor(low), np.ceil(high)  # rows are 1 apart
    return f["params"][at], low, high, leader == fit["id"]


def score(folder):
    for kind in ("step", "slope"):
        found = {"kestrel": [], "its parameter": [], "least squares": []}
        leads = unknown = 0
        for name in sorted(glob.glob(f"{folder}/{kind}*.truth")):
            c = json.load(open(name))["place"]
            name = name.removesuffix(".truth")
            t, y = np.loadtxt(name + ".csv", delimiter=",", skiprows=1).T
            *place, first = kestrel(name, kind)
            leads += first
            for who, (place, low, high) in (
                ("kestrel", place), ("its parameter", kestrel(name)[:3]), ("least squares", least_squares(t, y, kind))
            ):
                if low is None:
                    unknown += who == "kestrel"
                    low = high = float("nan")
                found[who].append((abs(place - c), low <= c <= high, high - low, (high - low) / len(t)))
        for who, all_ in found.items():
            off, inside, width, share = np.array(all_, dtype=float).T
            print(f"{kind:6} {who:14} {int(inside.sum())} of {len(inside)} in the interval, mean width {np.nanmean(width):.2f}, "
                  f"{100 * np.nanmean(share):.1f} % of the rows, "
                  f"median distance {np.median(off):.2f}")
        print(f"{kind:6} kestrel's change leads in {leads}, no interval in {unknown}")


if __name__ == "__main__":
    what, folder, *rest = sys.argv[1:]
    whats = {"make": make, "vary": lambda *a: make(*a, varied=True), "score": score}
    whats[what](folder, *map(int, rest))
