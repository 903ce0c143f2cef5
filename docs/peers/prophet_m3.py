"""Prophet on the series of a table, in the form of a forecast file.

    pip install prophet
    python prophet_m3.py OUT.csv DATA      # DATA/index.csv, DATA/series.csv

index.csv: series, season, horizon; series.csv: series, part (train, test), y, in the order of time. OUT.csv: series,
step, mean and quantiles, of 1,000 draws. Defaults, but no weekly and no daily seasonality: the steps are months or
quarters, from an arbitrary January on.
"""
import collections
import csv
import logging
import sys
import time

import numpy as np
import pandas as pd

logging.disable(logging.CRITICAL)
from prophet import Prophet  # noqa: E402

out, data = sys.argv[1:]
with open(f"{data}/index.csv") as f:
    index = {r["series"]: (int(r["season"]), int(r["horizon"])) for r in csv.DictReader(f)}
train = collections.defaultdict(list)
with open(f"{data}/series.csv") as f:
    for r in csv.DictReader(f):
        if r["part"] == "train":
            train[r["series"]].append(float(r["y"]))
levels = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975]
began = time.process_time()
with open(out, "w", newline="") as f:
    table = csv.writer(f)
    table.writerow(["series", "step", "mean"] + [f"q{q:g}" for q in levels])
    for series, (season, horizon) in index.items():
        y = np.array(train[series])
        dates = pd.date_range("1980-01-01", periods=len(y) + horizon, freq="MS" if season == 12 else "QS")
        np.random.seed(1)
        model = Prophet(weekly_seasonality=False, daily_seasonality=False)
        model.fit(pd.DataFrame({"ds": dates[: len(y)], "y": y}), seed=1)
        ahead = pd.DataFrame({"ds": dates[len(y):]})
        mean = model.predict(ahead).yhat.values
        quantiles = np.quantile(model.predictive_samples(ahead)["yhat"], levels, axis=1)
        for k in range(horizon):
            table.writerow([series, k + 1, repr(float(mean[k]))] + [repr(float(q[k])) for q in quantiles])
print(f"{time.process_time() - began:.0f} s of CPU, but for Stan's own processes")
