# Prints what statsforecast 2.1.1 (Python 3.11, NumPy 2.4.6) forecasts for series made
# by formulas, which baseline_test.go makes, too:
#
#     pip install statsforecast==2.1.1
#     python forecasts.py > forecasts.json
import json
import math

import numpy as np
from scipy.stats import norm
from statsforecast.ets import ets_f, forecast_ets
from statsforecast.models import Naive, RandomWalkWithDrift, SeasonalNaive
from statsforecast.theta import auto_theta, forecast_theta


def noise(t):
    return (t * 7919 + t * t * 104729) % 1009 / 1009 - 0.5


def walk(t):
    return sum(noise(k) for k in range(t + 1))


SERIES = {
    "trend": (1, 40, lambda t: 50 + 1.5 * t + 8 * noise(t)),
    "quarters": (4, 60, lambda t: (100 + 2 * t) * [1.1, 0.94, 0.88, 1.08][t % 4] + 10 * noise(t)),
    "walk": (1, 80, lambda t: 500 + 10 * walk(t)),
    "months": (12, 96, lambda t: 100 * math.exp(0.01 * t) * (1 + 0.3 * math.sin(math.pi * t / 6)) + 12 * noise(t)),
    "signs": (12, 84, lambda t: 20 * math.sin(math.pi * t / 6) + 0.2 * t + 8 * noise(t) - 5),
}
H = 18


def normals(model, y):
    p = model.fit(y).predict(h=H, level=[95])
    hi = p["hi-95"] if "hi-95" in p else p["hi"]
    return {"mean": list(p["mean"]), "sd": list((hi - p["mean"]) / norm.ppf(0.975))}


def theta(y, m):
    f = auto_theta(y, m, model="STM")
    out = {"mean": list(forecast_theta(f, H)["mean"]), "alpha": f["par"]["alpha"], "level": f["par"]["initial_smoothed"],
           "seasonal": bool(f.get("decompose", False)), "additive": f.get("decomposition_type") == "additive"}
    if out["seasonal"]:  # the last season first
        out["index"] = list(f["seas_forecast"]["mean"])
    return out


def ets(y, trend, damped):
    f = ets_f(y, 1, model="A" + trend + "N", damped=damped)
    p = forecast_ets(f, H, level=[95])
    alpha, beta, _, phi = f["par"][:4]
    finite = lambda v: 0.0 if math.isnan(v) else v
    return {"mean": list(p["mean"]), "sd": list((p["hi-95"] - p["mean"]) / norm.ppf(0.975)), "aicc": f["aicc"],
            "sigma2": f["sigma2"], "alpha": alpha, "beta": finite(beta), "phi": finite(phi), "start": list(f["par"][4:])}


out = {}
for name, (m, n, of) in SERIES.items():
    y = np.array([of(t) for t in range(n)], dtype=np.float64)
    out[name] = {
        "naive": normals(Naive(), y), "drift": normals(RandomWalkWithDrift(), y), "theta": theta(y, m),
        "ets": [ets(y, "N", False), ets(y, "A", False), ets(y, "A", True)],
    }
    if m > 1:
        out[name]["snaive"] = normals(SeasonalNaive(m), y)
print(json.dumps(out, indent=1, default=float))
