"""Made series with one change, and how well its place is found: by kestrel, and by least squares.

    python docs/peers/change_points.py make DIR [N] [SEED]
    for f in DIR/step*.csv; do kestrel run $f --headless --out ${f%.csv} --set data.test=0 \\
        --set 'kernels.expressions=CP(CONST,CONST),CONST,LIN,SE,RW'; done
    for f in DIR/slope*.csv; do kestrel run $f --headless --out ${f%.csv} --set data.test=0 \\
        --set 'kernels.expressions=CP(CONST+LIN,CONST+LIN),CONST+LIN,SE,IRW,LIN+SE'; done
    python docs/peers/change_points.py score DIR

N series each (30) of 120 rows: a level that steps, by two to six of the noise's standard deviations, and a slope that
changes. Places lie in the middle half. Least squares tries every place between two rows (steps), or a grid of places
of a broken line (slopes); its interval is where the profile likelihood, the noise estimated, is within 1.92 of the
best. A place counts as found if it lies in the interval of 95 %; beside that stand the mean width of the intervals
and the median distance of the best place.
"""
import glob
import json
import sys

import numpy as np

ROWS = 120


def make(folder, n=30, seed=1):
    rng = np.random.default_rng(seed)
    t = np.arange(ROWS, dtype=float)
    for i in range(n):
        for kind in ("step", "slope"):
            c = rng.uniform(0.25, 0.75) * ROWS
            if kind == "step":
                y = rng.uniform(2, 6) * (t >= c)
            else:
                before, change = rng.uniform(-0.1, 0.1), rng.choice([-1, 1]) * rng.uniform(0.1, 0.3)
                y = before * t + change * np.maximum(0, t - c)
            y = y + rng.standard_normal(ROWS)
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


def kestrel(run):
    params = fit = leader = None
    for line in open(run + "/events.jsonl"):
        e = json.loads(line)
        if "start" in e:
            params = {k["id"]: [p["name"] for p in k["params"]] for k in e["start"]["kernels"]}
        if "evaluation" in e:
            for k in e["evaluation"]["kernels"]:
                if k.get("fit") and k["fit"]["rank"] == 1:
                    leader = k["id"]
                if k["id"].startswith("CP(") and k.get("fit"):
                    fit = k
    at = params[fit["id"]].index("CP.place")
    f = fit["fit"]
    return f["params"][at], f.get("low", [None] * (at + 1))[at], f.get("high", [None] * (at + 1))[at], leader == fit["id"]


def score(folder):
    for kind in ("step", "slope"):
        found = {"kestrel": [], "least squares": []}
        leads = unknown = 0
        for name in sorted(glob.glob(f"{folder}/{kind}*.truth")):
            c = json.load(open(name))["place"]
            name = name.removesuffix(".truth")
            t, y = np.loadtxt(name + ".csv", delimiter=",", skiprows=1).T
            place, low, high, first = kestrel(name)
            leads += first
            if low is None:
                unknown += 1
                low = high = float("nan")
            found["kestrel"].append((abs(place - c), low <= c <= high, high - low))
            place, low, high = least_squares(t, y, kind)
            found["least squares"].append((abs(place - c), low <= c <= high, high - low))
        for who, all_ in found.items():
            off, inside, width = np.array(all_, dtype=float).T
            print(f"{kind:6} {who:14} {int(inside.sum())} of {len(inside)} in the interval, mean width {np.nanmean(width):.2f}, "
                  f"median distance {np.median(off):.2f}")
        print(f"{kind:6} kestrel's change leads in {leads}, no interval in {unknown}")


if __name__ == "__main__":
    what, folder, *rest = sys.argv[1:]
    {"make": make, "score": score}[what](folder, *map(int, rest))
