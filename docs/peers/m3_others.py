"""A second sample of the M3 competition, of series that are not in a first one, in the form of the first.

    pip install rdata numpy pandas statsforecast scipy
    python m3_others.py make MCOMP FIRST DIR           # DIR/series.csv, index.csv, published.csv; DIR/monthly.csv, quarterly.csv
    kestrel backtest DIR/monthly.csv --group series --target y --horizon 18 --origins 1 --set data.inputs=t -o DIR/m     # quarterly: 8
    python m3_others.py peers DIR > DIR/peers.csv                                                 # statsforecast's
    python m3_others.py score DIR DIR/peers.csv DIR/m/backtest.csv DIR/q/backtest.csv

MCOMP is the folder data of R's package Mcomp (M3.rda, M3Forecast.rda), FIRST that of the first sample. Drawn are 100
monthly and 50 quarterly series with the seed 1 from the names in order, whatever is in them. Checked: that the scores of
the competition's methods on the first sample come out as they are in FIRST. Scored are means over series: sMAPE and
MASE, of kestrel of the mean and of the median; CRPS and the interval score of 95 % over the scale of MASE, from seven
quantiles, of which the first and last stand for what is beyond, too; shares within 80 and 95 %. Behind each is by how
much kestrel is above it (below 0: better), with the standard error over series.
"""
import csv, random, sys, warnings
from pathlib import Path

import numpy as np

warnings.filterwarnings("ignore")


def scores(train, test, forecast, season):
    scale = np.mean(abs(train[season:] - train[:-season]))
    return np.mean(200 * abs(forecast - test) / (abs(forecast) + abs(test))), np.mean(abs(forecast - test)) / scale


def make(mcomp, first, out):
    import rdata

    m3 = rdata.read_rda(f"{mcomp}/M3.rda")["M3"]
    entries = rdata.read_rda(f"{mcomp}/M3Forecast.rda")["M3Forecast"]
    known = {r["series"] for r in csv.DictReader(open(f"{first}/index.csv"))}
    season = {"MONTHLY": 12, "QUARTERLY": 4}

    def published(name):
        s = m3[name]
        train, test = np.array(s["x"], float), np.array(s["xx"], float)
        for method, table in entries.items():
            if name in table.index:
                f = np.array(table.loc[name], float)[: len(test)]
                yield str(method), *scores(train, test, f, season[s["period"][0]])

    worst, compared = 0, 0
    for r in csv.DictReader(open(f"{first}/published.csv")):
        for method, smape, mase in published(r["series"]) if compared < 500 else ():
            if method == r["method"]:
                compared += 1
                worst = max(worst, abs(smape - float(r["smape"])), abs(mase - float(r["mase"])))
    print(f"first sample: {compared} scores of its methods, off by {worst:.1g} at most", file=sys.stderr)

    drawn = []
    for period, count in (("MONTHLY", 100), ("QUARTERLY", 50)):
        names = sorted(n for n, s in m3.items() if s["period"][0] == period and n not in known)
        drawn += [(period, n) for n in sorted(random.Random(1).sample(names, count))]
    Path(out).mkdir(parents=True, exist_ok=True)
    with open(f"{out}/index.csv", "w") as index, open(f"{out}/series.csv", "w") as series, open(f"{out}/published.csv", "w") as pub:
        print("series,season,horizon,rows,domain", file=index)
        print("series,part,t,y", file=series)
        print("series,method,smape,mase", file=pub)
        files = {p: open(f"{out}/{p.lower()}.csv", "w") for p in season}
        for f in files.values():
            print("series,t,y", file=f)
        for period, name in drawn:
            s, step = m3[name], 1 / season[period]
            print(name, season[period], len(s["xx"]), len(s["x"]), s["type"][0], sep=",", file=index)
            for i, y in enumerate([*s["x"], *s["xx"]]):
                print(name, "train" if i < len(s["x"]) else "test", f"{i * step:.6f}", repr(float(y)), sep=",", file=series)
                print(name, f"{i * step:.6f}", repr(float(y)), sep=",", file=files[period])
            for method, smape, mase in published(name):
                print(name, method, f"{smape:.4f}", f"{mase:.5f}", sep=",", file=pub)


QUANTILES = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975]


def parts(out):
    """index, training rows and test rows of each series."""
    index = {r["series"]: int(r["season"]) for r in csv.DictReader(open(f"{out}/index.csv"))}
    train, test = ({s: [] for s in index} for _ in range(2))
    for r in csv.DictReader(open(f"{out}/series.csv")):
        (train if r["part"] == "train" else test)[r["series"]].append(float(r["y"]))
    return index, train, test


def peers(out):
    from statsforecast.models import AutoARIMA, AutoETS, AutoTheta, SeasonalNaive

    index, train, test = parts(out)
    names = [f"q{q:g}" for q in QUANTILES]
    print("method", "series", "step", "mean", *names, sep=",")
    for model in (AutoARIMA, AutoETS, AutoTheta, SeasonalNaive):
        for s, season in index.items():
            r = model(season_length=season).forecast(y=np.array(train[s]), h=len(test[s]), level=[50, 80, 95])
            columns = [r[c] for c in ("lo-95", "lo-80", "lo-50", "mean", "hi-50", "hi-80", "hi-95")]
            for k, m in enumerate(r["mean"]):
                print(model.__name__, s, k + 1, float(m), *(float(c[k]) for c in columns), sep=",")


def score(out, *files):
    index, train, test = parts(out)
    rows = {}
    for f in files:
        for r in csv.DictReader(open(f)):
            if r["method"] == "kestrel" or "origin" not in r:
                rows.setdefault((r["method"], r["series"]), []).append([float(r[c]) for c in ("mean", *(f"q{q:g}" for q in QUANTILES))])
    methods = list(dict.fromkeys(m for m, _ in rows))
    edges = np.diff([0, *((a + b) / 2 for a, b in zip(QUANTILES, QUANTILES[1:])), 1])

    def of(method, s):
        x, y, f = np.array(train[s]), np.array(test[s]), np.array(rows[method, s])
        scale = np.mean(abs(x[index[s] :] - x[: -index[s]]))
        q = np.array(QUANTILES)
        pinball = np.maximum(q * (y[:, None] - f[:, 1:]), (q - 1) * (y[:, None] - f[:, 1:]))
        lo, hi = f[:, 1], f[:, -1]
        wide = np.mean(hi - lo + 40 * np.maximum(lo - y, 0) + 40 * np.maximum(y - hi, 0)) / scale
        inside = [np.mean((f[:, i] <= y) & (y <= f[:, -i])) for i in (2, 1)]
        return [*scores(x, y, f[:, 0], index[s]), *scores(x, y, f[:, 4], index[s]), np.mean(2 * pinball @ edges) / scale, wide, *inside]

    published = {}
    for r in csv.DictReader(open(f"{out}/published.csv")):
        published.setdefault(r["method"], {})[r["series"]] = [float(r["smape"]), float(r["mase"])] * 2
    for season in sorted(set(index.values()), reverse=True):
        names = [s for s in index if index[s] == season]
        own = np.array([of("kestrel", s) for s in names])
        print(f"season {season}, {len(names)} series: of the mean sMAPE, MASE, of the median sMAPE, MASE; CRPS, MSIS, in 80, 95 %")
        print("kestrel".ljust(16), *(f"{v:7.3f}" for v in own.mean(0)))
        others = [(m, np.array([of(m, s) for s in names])) for m in methods if m != "kestrel"]
        others += sorted(((m, np.array([p[s] for s in names])) for m, p in published.items()), key=lambda o: o[1][:, 1].mean())
        for m, o in others:
            d = own[:, : o.shape[1]] - o
            print(m.ljust(16), *(f"{v:7.3f} ({a:+.3f} ± {e:.3f})" for v, a, e in zip(o.mean(0), d.mean(0), d.std(0, ddof=1) / len(names) ** 0.5)))


dict(make=make, peers=peers, score=score)[sys.argv[1]](*sys.argv[2:])
