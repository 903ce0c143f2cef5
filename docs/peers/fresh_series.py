"""Twelve real series that nothing was tuned to, by kestrel and by statsforecast, on the same rows.

    pip install statsforecast pmdarima statsmodels sktime
    python fresh_series.py make DIR
    for f in DIR/*.csv; do kestrel run $f --headless --out ${f%.csv}; done
    python fresh_series.py score DIR

The last tenth of each is forecast, as kestrel's defaults hold it out. Printed: the CRPS over the standard deviation of
the training values, of normal forecasts in closed form (Gneiting and Raftery 2007), with the share of rows within 80 and
95 %; then the geometric mean of kestrel's over each method's.
"""
import csv, sys, warnings
import numpy as np, pandas as pd

warnings.filterwarnings("ignore")
SEASON = dict(lynx=1, nile=1, sunspots=1, ausbeer=4, austres=4, woolyrnq=4, gdp=4, unemployment=4, inflation=4, wineind=12, shampoo=12, seatbelts=12)


def make(out):
    import os, sktime, pmdarima.datasets as pm, statsmodels.api as sm, sktime.datasets as sk
    macro = sm.datasets.macrodata.load_pandas().data
    belts = pd.read_csv(os.path.join(os.path.dirname(sktime.__file__), "datasets/data/seatbelts/seatbelts.csv"))
    for name, y, start, step in (
        ("lynx", pm.load_lynx(), "1821-01-01", "YS"),
        ("nile", sm.datasets.nile.load_pandas().data["volume"], "1871-01-01", "YS"),
        ("sunspots", sm.datasets.sunspots.load_pandas().data["SUNACTIVITY"], "1700-01-01", "YS"),
        ("ausbeer", pm.load_ausbeer(), "1956-01-01", "QS"),
        ("austres", pm.load_austres(), "1971-04-01", "QS"),
        ("woolyrnq", pm.load_woolyrnq(), "1965-01-01", "QS"),
        ("gdp", macro.realgdp, "1959-01-01", "QS"),
        ("unemployment", macro.unemp, "1959-01-01", "QS"),
        ("inflation", macro.infl, "1959-01-01", "QS"),
        ("wineind", pm.load_wineind(), "1980-01-01", "MS"),
        ("shampoo", sk.load_shampoo_sales(), "1991-01-01", "MS"),
        ("seatbelts", belts["KSI"], "1969-01-01", "MS"),
    ):
        y = np.asarray(y, float)
        y = y[~np.isnan(y)]
        date = pd.date_range(start, periods=len(y), freq=step).strftime("%Y-%m-%d")
        pd.DataFrame({"date": date, "y": y}).to_csv(f"{out}/{name}.csv", index=False)


def score(out):
    from scipy.stats import norm
    from statsforecast.models import MSTL, AutoARIMA, AutoETS, AutoTheta

    def crps(y, mean, sd):
        z = (y - mean) / sd
        return np.mean(sd * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi)))

    logs, held = {}, {}
    for name, season in SEASON.items():
        y = pd.read_csv(f"{out}/{name}.csv").y.values
        own = next(r for r in csv.DictReader(open(f"{out}/{name}/baselines.csv")) if r["method"] == "vbks")
        h = int(own["test_rows"])
        train, test = y[:-h], y[-h:]
        found = {"kestrel": (float(own["crps"]), float(own["coverage80"]), float(own["coverage95"]))}
        models = {"AutoARIMA": AutoARIMA(season_length=season), "AutoETS": AutoETS(season_length=season), "AutoTheta": AutoTheta(season_length=season)}
        if season > 1:
            models["MSTL"] = MSTL(season_length=season, trend_forecaster=AutoARIMA())
        for method, model in models.items():
            f = model.forecast(y=train, h=h, level=[80, 95])
            middle, sd = (f["hi-95"] + f["lo-95"]) / 2, (f["hi-95"] - f["lo-95"]) / 2 / norm.ppf(0.975)
            found[method] = (crps(test, middle, sd), *(np.mean((test >= f[f"lo-{p}"]) & (test <= f[f"hi-{p}"])) for p in (80, 95)))
        for method, (value, in80, in95) in found.items():
            logs.setdefault(method, []).append(np.log(found["kestrel"][0] / value))
            held.setdefault(method, []).append((in80, in95))
        print(name, h, *(f"{m} {v[0] / train.std():.3f} ({v[1]:.2f} {v[2]:.2f})" for m, v in found.items()), flush=True)
    for method, values in logs.items():
        in80, in95 = np.mean(held[method], axis=0)
        print(f"{method}: kestrel's CRPS {np.exp(np.mean(values)):.3f} of it on {len(values)}, within 80 and 95 %: {in80:.2f} {in95:.2f}")


{"make": make, "score": score}[sys.argv[1]](sys.argv[2])
