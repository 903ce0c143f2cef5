"""Predictions of a model file of kestrel, by NumPy alone.

    python docs/peers/predict_numpy.py m.kestrel new.csv > predictions.csv

new.csv has the model's input columns under their names (commas, decimal points, time
stamps as 2024-01-31 07:30). Prints row, mean, sd_f, sd_y and three quantiles of y, as
`kestrel predict m.kestrel --data new.csv` does; of a transformed target the quantiles
alone. docs/format.md, "Model files", says what is in the file.
"""
import csv, datetime, json, math, sys, zoneinfo
import numpy as np


def text(array):
    return bytes(array.astype(np.uint8)).decode()


def covariance(program, theta, x, y, same=0.0):
    """k(x, y) of all pairs of arrays of rows that broadcast; same is 1 for those of one row."""
    stack = []
    for step in program:
        do, at, c = step["do"], step.get("at", 0), step.get("columns", [])
        if do in ("+", "*", "change"):
            stack, terms = stack[:-step["count"]], stack[-step["count"]:]
            if do == "change":
                (u, v), before, after = terms
                s, t = 1 / (1 + np.exp(-u)), 1 / (1 + np.exp(-v))
                stack.append((1 - s) * before * (1 - t) + s * after * t)
            else:
                stack.append(sum(terms) if do == "+" else np.prod(terms, axis=0))
            continue
        if do == "step":  # place and width along one column
            place, width = (theta[at] - 1 / theta[at]) / 2, theta[at + 1]
            stack.append(((x[..., c[0]] - place) / width, (y[..., c[0]] - place) / width))
            continue
        variance, scales = theta[at], theta[at + 1:at + 1 + step.get("scales", 0)]
        after = at + 1 + step.get("scales", 0)
        periods = theta[after:after + step.get("periods", 0)]
        shape = theta[after + len(periods)] if after + len(periods) < len(theta) else None
        a, b = x[..., c], y[..., c]
        r2 = ((a - b) ** 2 / scales**2).sum(-1) if len(scales) and do != "levels" else None
        if do == "SE":
            k = np.exp(-r2 / 2)
        elif do == "RQ":
            k = np.exp(-shape * np.log1p(r2 / (2 * shape)))
        elif do == "PER":
            k = np.exp(-2 * (np.sin(np.pi * np.abs(a - b) / periods) ** 2 / scales**2).sum(-1))
        elif do == "MATERN12":
            k = np.exp(-np.sqrt(r2))
        elif do == "MATERN32":
            k = (1 + np.sqrt(3 * r2)) * np.exp(-np.sqrt(3 * r2))
        elif do == "MATERN52":
            k = (1 + np.sqrt(5 * r2) + 5 * r2 / 3) * np.exp(-np.sqrt(5 * r2))
        elif do == "COS":
            k = np.cos(2 * np.pi * ((a - b) / periods).sum(-1))
        elif do == "LIN":
            k = (a * b / scales**2).sum(-1)
        elif do.startswith("POLY"):
            k = ((a * b / scales**2).sum(-1) + shape) ** step["degree"]
        elif do in ("RW", "IRW"):  # both on one side of the origin −shape
            u, v = a + shape, b + shape
            low, high = np.minimum(abs(u), abs(v)), np.maximum(abs(u), abs(v))
            k = np.where((u > 0) == (v > 0), low if do == "RW" else low**2 * (3 * high - low) / 6, 0).sum(-1)
        elif do == "CONST":
            k = 1.0
        elif do == "CAT":
            k = (a == b).all(-1)
        elif do == "levels":  # a length for each
            c = lambda u: (u == np.array(step["levels"])) @ np.exp(-0.5 / scales**2)
            k = np.where((a == b).all(-1), 1, c(a) * c(b))
        elif do == "WN":
            k = same
        else:
            raise ValueError(f"unknown kernel {do}")
        stack.append(variance * k)
    return np.broadcast_to(stack.pop(), np.broadcast_shapes(x.shape, y.shape)[:-1])


class Model:
    def __init__(self, path):
        self.file = dict(np.load(path))
        assert int(self.file["format"][0]) in (1, 2, 3, 4)
        self.about = json.loads(text(self.file["about"]))

    def weights(self):
        """The kernels that are averaged over, as places in the file, and their weights."""
        a = self.about
        kernels = a["kernels"]
        worth = np.array([k["worth"] for k in kernels])
        w = {"bayes": lambda: np.array([k["bayes"] for k in kernels]),
             "loo": lambda: np.array([k["loo"] for k in kernels]),
             "origins": lambda: np.array([k.get("origins", 0) for k in kernels]),
             "tempered": lambda: np.exp((worth - worth.max()) / a["tempering"])
             }.get(a["weights"], lambda: np.array([k["posterior"] for k in kernels]))()
        order = sorted(range(len(w)), key=lambda i: (-w[i], kernels[i]["rank"]))[:a["top"] or None]
        w = w[order] / w[order].sum() if w[order].sum() > 0 else np.full(len(order), 1 / len(order))
        while len(order) > 1 and w[-1] < a["least"]:
            order, w = order[:-1], w[:-1]
        return order, w / w.sum()

    def inputs(self, i):
        """Inducing inputs of kernel i."""
        return self.file.get(f"kernel/{i}/z", self.file["z"])

    def factors(self, i, s, theta, noise):
        """L, m and the function a ↦ Σ a∘Sa of kernel i at state s."""
        f, at, kernel = self.file, f"kernel/{i}/", self.about["kernels"][i]
        if at + "l" in f:
            chol, mean, root = f[at + "l"][s], f[at + "mean"], f[at + "root"]
            q = min(s, len(mean) - 1)
            if self.about["root"] == "covariance":
                return chol, mean[q], lambda a: ((root[q].T @ a) ** 2).sum(0)
            return chol, mean[q], lambda a: (np.linalg.solve(root[q], a) ** 2).sum(0)
        # From the rows: A = L⁻¹k(Z,X)√w, S⁻¹ = I + AAᵀ/σ², m = SA√w y/σ².
        z = self.inputs(i)
        kzz = covariance(kernel["program"], theta, z[:, None], z[None], np.eye(len(z)))
        jitter = self.about["jitter"]
        e = kernel["jitter_factor"] * (jitter["relative"] * np.trace(kzz) / len(kzz) + jitter["absolute"])
        chol = np.linalg.cholesky(kzz + e * np.eye(len(kzz)))
        y, weight = f["rows/y"], np.sqrt(f["rows/weights"]) if "rows/weights" in f else 1.0
        a = np.linalg.solve(chol, covariance(kernel["program"], theta, z[:, None], f["rows/x"][None])) * weight
        root = np.linalg.cholesky(np.eye(len(kzz)) + a @ a.T / noise)
        mean = np.linalg.solve(root.T, np.linalg.solve(root, a @ (weight * y))) / noise
        return chol, mean, lambda b: (np.linalg.solve(root, b) ** 2).sum(0)

    def kernel(self, i, weight, x):
        """Mean and variance of f at standardised rows x, and the noise variance, of kernel i."""
        f, at, program = self.file, f"kernel/{i}/", self.about["kernels"][i]["program"]
        share, mean, square, noise = f[at + "share"].copy(), 0, 0, 0
        if share[0] == 0 and weight < self.about["averaged"]:
            share[:] = 0
            share[0] = 1
        for s in np.flatnonzero(share):
            theta, n = f[at + "theta"][s], f[at + "noise"][s]
            chol, m, spread = self.factors(i, s, theta, n)
            a = np.linalg.solve(chol, covariance(program, theta, self.inputs(i)[:, None], x[None]))
            mu = a.T @ m
            v = covariance(program, theta, x, x, 1.0) - (a**2).sum(0) + spread(a)
            mean, square, noise = mean + share[s] * mu, square + share[s] * (v + mu**2), noise + share[s] * n
        return mean, square - mean**2, noise

    def scales(self, x, known):
        """What σ² is multiplied by at standardised rows of which the noise's standard deviations
        may be known (0: they are not)."""
        about = self.about.get("noise", {"factor": 1})
        out = np.full(len(x), about["factor"], float)
        if about.get("unit"):
            out *= np.where(known > 0, known**2 / about["unit"], 1)
        for level in about.get("levels", []):
            out *= np.where(x[:, about.get("column", 0)] == level["value"], level["factor"], 1)
        return out

    def tails(self):
        """The noise as normals: their shares, and factors of the variance. Student's t is a sum
        of them over log w, of 0 and steps of 1.25 sd, with w ~ Gamma(ν/2, ν/2)."""
        tail = self.about.get("noise", {}).get("tail", {})
        if tail.get("ratio"):
            return [(1 - tail["share"], 1.0), (tail["share"], tail["ratio"])]
        if not tail.get("nu"):
            return [(1.0, 1.0)]
        half = tail["nu"] / 2
        nodes = [(math.exp(half * (u + 1 - math.exp(u))), math.exp(-u))
                 for u in 1.25 / math.sqrt(half) * np.arange(-200, 201) if half * (u + 1 - math.exp(min(u, 50))) > math.log(1e-6)]
        whole = sum(share for share, _ in nodes)
        return [(share / whole, factor) for share, factor in nodes]

    def predict(self, x, known=0.0):
        """At rows x in the data's units, of the target as it was learned: (transformed and)
        standardised means, variances and noise variances of each kernel, and weights; stretched
        about the mean of all by the factor of the calibration."""
        s = self.about["scaler"]
        x = (np.asarray(x) - s["x_shift"]) / s["x_scale"]
        order, weights = self.weights()
        parts = [self.kernel(i, w, x) for i, w in zip(order, weights)]
        mean, variance, noise = map(np.array, zip(*parts))
        c, mu = self.about.get("calibration", {"factor": 1})["factor"], weights @ mean
        mean, variance = mu + c * (mean - mu), c**2 * variance
        noise = c**2 * noise[:, None] * self.scales(x, np.broadcast_to(known, len(x)))
        self.near = np.zeros(len(x), bool)  # predicted from neighbours, whose noise is normal
        if "neighbours" in self.about:
            self.neighbours(self.about["neighbours"], x, mean, variance, noise)
        return weights, mean, variance, noise

    def neighbours(self, part, x, mean, variance, noise):
        """Puts rows among those known, predicted from their neighbours, in the place of all kernels'."""
        known, y = self.file["neighbours/x"], self.file["neighbours/y"]
        if "table" in part:
            return self.alike(part["table"], part["within"], known, y, x, mean, variance, noise)
        m = part["model"]
        times = x[:, 0]
        if c := part.get("clock"):
            shift = (x[:, c["column"]] - c["zero"]) / c["hours"] - (times - c["origin"]) / c["day"] % 1
            times = times + c["day"] * (shift - np.round(shift))
        theta = m["kernel"]["theta"]

        def k(d):
            sum, at = 0, 1
            for term in m["kernel"]["terms"]:
                r = abs(d) / np.exp(theta[at + 1])
                v = (1 + 3**0.5 * r) * np.exp(-(3**0.5) * r) if term.get("smooth") else np.exp(-r)
                sum, at = sum + np.exp(theta[at]) * v * (
                    np.exp(-2 * (np.sin(np.pi * d / term["period"]) / np.exp(theta[at + 2])) ** 2) if "period" in term else 1
                ), at + (3 if "period" in term else 2)
            return sum

        def average(v):
            phases, w = np.array(m["means"]["phases"]), m["means"]
            out = phases[np.round((v - w["origin"]) / w["cell"]).astype(int) % len(phases)]
            for wave in w.get("waves", []):
                turn = 2 * np.pi * (v - w["origin"]) / wave["period"]
                out = out + wave["cos"] * np.cos(turn) + wave["sin"] * np.sin(turn)
            return out

        for row, v in enumerate(times):
            away = abs(known - v)
            if not known[0] <= v <= known[-1] or away.min() > part["within"]:
                continue
            i, reach = np.searchsorted(known, v), m["reach"]
            near = set(range(max(0, i - reach["beside"]), min(len(known), i + reach["beside"])))
            for lag in reach.get("lags", []):
                for at in (v - lag, v + lag):
                    if known[0] <= at <= known[-1]:
                        near |= set(np.argsort(abs(known - at), kind="stable")[:reach["at_lag"]].tolist())
            n = sorted(near)
            cov = k(known[n][:, None] - known[n]) + np.exp(theta[0]) * np.eye(len(n))
            b = np.linalg.solve(cov, k(known[n] - v))
            f = next((w["factor"] for w in m["widths"] if w["away"] >= away.min()), m["widths"][-1]["factor"])
            self.near[row] = True
            mean[:, row] = average(v) + b @ (y[n] - average(known[n]))
            variance[:, row] = f**2 * (k(0.0) - b @ k(known[n] - v))
            noise[:, row] = f**2 * np.exp(theta[0])

    def alike(self, m, within, known, y, x, mean, variance, noise):
        """The same in a table: from the rows that a row is most like."""
        theta, levels = np.array(m["kernel"]["theta"]), np.array(m["kernel"]["levels"])
        smooth, rough, sharper, length = np.exp(theta[1]), np.exp(theta[2]), np.exp(theta[3]), np.exp(theta[4:])
        own = np.exp(theta[0]) + 1e-8 * (smooth + rough)

        def distance(a, b):
            d = a - b
            return np.sqrt((np.where(levels, d != 0, d) ** 2 / length**2).sum(-1))

        def k(r):
            s, t = 5**0.5 * r, 3**0.5 * sharper * r
            return smooth * (1 + s + s * s / 3) * np.exp(-s) + rough * (1 + t) * np.exp(-t)

        rest = y - m["level"] - known @ m["slopes"]
        for row, v in enumerate(x):
            r = distance(known, v)
            if r.min() > within:
                continue
            n = np.argsort(r, kind="stable")[:m["near"]]
            cov = k(distance(known[n][:, None], known[n])) + own * np.eye(len(n))
            b = np.linalg.solve(cov, k(r[n]))
            f = next((w["factor"] for w in m["widths"] if w["away"] >= r.min()), m["widths"][-1]["factor"])
            self.near[row] = True
            mean[:, row] = m["level"] + v @ m["slopes"] + b @ rest[n]
            variance[:, row] = f**2 * (smooth + rough - b @ k(r[n]))
            noise[:, row] = f**2 * own

    def back(self, z):
        """A standardised target in the data's units."""
        s = self.about["scaler"]
        z, t = z * s["y_scale"] + s["y_shift"], s.get("transform", {})
        name, lam = t.get("name", "none"), t.get("lambda", 0)
        if name == "log" or name == "boxcox" and lam == 0:
            return np.exp(z)
        if name == "boxcox":
            return np.maximum(1 + lam * z, 0) ** (1 / lam)
        if name == "logit":
            low, high = t.get("low", 0), t.get("high", 0)
            return low + (high - low) / (1 + np.exp(-z))
        return z

    def quantile(self, p, weights, mean, variance, noise):
        """Quantiles of y of the mixture at every row, by bisection."""
        phi = np.vectorize(lambda z: math.erfc(-z / math.sqrt(2)) / 2)
        parts = [(share, np.sqrt(variance + noise * np.where(self.near, 1, factor))) for share, factor in self.tails()]
        widest = max((sd for _, sd in parts), key=np.sum)
        low, high = (mean - 9 * widest).min(0), (mean + 9 * widest).max(0)
        for _ in range(100):
            middle = (low + high) / 2
            below = weights @ sum(share * phi((middle - mean) / sd) for share, sd in parts) < p
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return self.back((low + high) / 2)

    def table(self, path):
        """The inputs of a table, in the data's units, and the noise's standard deviations, 0
        where they are not known."""
        rows = list(csv.DictReader(open(path, encoding="utf-8-sig")))
        columns = []
        calendar = self.about["columns"].get("calendar", {"columns": []})
        for c in self.about["columns"]["inputs"]:
            if c["name"] in calendar["columns"]:
                columns.append(self.made(calendar, c["name"], columns[0]))
                continue
            if "origin" in c:
                origin = np.datetime64(c["origin"].rstrip("Z"), "us")
                v = (np.array([r[c["name"]].rstrip("Z") for r in rows], "datetime64[us]") - origin) / np.timedelta64(1, "s")
                columns.append(v / 86400 if c.get("unit") == "d" else v)
            elif levels := c.get("levels"):  # others than these are a level more
                columns.append([levels.index(r[c["name"]]) if r[c["name"]] in levels else len(levels) for r in rows])
            else:
                columns.append([float(r[c["name"]]) for r in rows])
        noise = [float(r.get(self.about["columns"].get("noise")) or 0) for r in rows]
        return np.array(columns, float).T, np.array(noise)

    def made(self, calendar, name, times):
        """An input that is made of the first one, time: hour, day of the week or the year, holiday."""
        c = self.about["columns"]["inputs"][0]
        origin = datetime.datetime.fromisoformat(c["origin"].replace("Z", "+00:00"))
        zone = (zoneinfo.ZoneInfo(calendar["zone"]) if calendar.get("zone")
                else datetime.timezone(datetime.timedelta(seconds=c.get("offset", 0))))
        of = {"hour": lambda t: t.hour + (t.minute + (t.second + t.microsecond * 1e-6) / 60) / 60,
              "weekday": lambda t: t.isoweekday(), "yearday": lambda t: t.timetuple().tm_yday,
              "holiday": lambda t: t.date().isoformat() in calendar.get("holidays", [])}[name]
        seconds = np.asarray(times) * (86400 if c.get("unit") == "d" else 1)
        return [float(of((origin + datetime.timedelta(seconds=v)).astimezone(zone))) for v in seconds]


if __name__ == "__main__":
    model = Model(sys.argv[1])
    weights, mean, variance, noise = model.predict(*model.table(sys.argv[2]))
    s = model.about["scaler"]
    linear = s.get("transform", {}).get("name", "none") == "none"
    mu = weights @ mean
    spread = weights @ (variance + (mean - mu) ** 2)
    tail = np.where(model.near, 1, sum(share * factor for share, factor in model.tails()))
    columns = {"mean": model.back(mu), "sd_f": np.sqrt(spread) * s["y_scale"],
               "sd_y": np.sqrt(spread + weights @ noise * tail) * s["y_scale"]} if linear else {}
    for p in (0.05, 0.5, 0.95):
        columns[f"y_q{p}"] = model.quantile(p, weights, mean, variance, noise)
    print("row," + ",".join(columns))
    for i, row in enumerate(zip(*columns.values())):
        print(f"{i + 1}," + ",".join(repr(float(v)) for v in row))
