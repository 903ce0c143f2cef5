#!/usr/bin/env python3
"""Adam in PyTorch from the start that `kestrel bench --learn` writes.

The model is the same: a whitened sparse variational GP with a full lower
triangular q(v), Gaussian noise and fixed inducing inputs; sums and products of
SE and PER. Prints the lines that kestrel prints: the local ELBO per row,
estimated on the same rows, against the seconds of the steps alone.

    python learn_torch.py FOLDER --rates 0.003,0.01,0.03 --seconds 120
"""
import argparse
import ast
import json
import math
import os
import time

p = argparse.ArgumentParser()
p.add_argument("folder")
p.add_argument("--rates", default="0.01")
p.add_argument("--seconds", type=float, default=60)
p.add_argument("--threads", type=int, default=1)
p.add_argument("--compile", action="store_true")
a = p.parse_args()
for v in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[v] = str(a.threads)

import numpy as np  # noqa: E402
import torch  # noqa: E402

torch.set_num_threads(a.threads)
torch.set_default_dtype(torch.float64)
s = json.load(open(os.path.join(a.folder, "start.json")))
rows = np.loadtxt(os.path.join(a.folder, "rows.csv"), delimiter=",", skiprows=1)
Z = torch.tensor(np.loadtxt(os.path.join(a.folder, "inducing.csv"), delimiter=",", skiprows=1))[:, None]
X, Y = torch.tensor(rows[:, :1]), torch.tensor(rows[:, 1])
N, M, B = len(Y), len(Z), s["batch"]


class Model:
    def __init__(self):
        self.params, self.leaf = [], 0
        self.start = {(q["leaf"], q["name"]): q for q in s["parameters"]}
        self.tree = self.build(ast.parse(s["kernel"], mode="eval").body)
        self.noise = self.log(s["noise"], True)
        self.m = torch.zeros(M, requires_grad=True)
        self.C = torch.eye(M).clone().requires_grad_()
        self.params += [self.m, self.C]

    def log(self, value, free):
        t = torch.tensor(math.log(value), requires_grad=free)
        if free:
            self.params.append(t)
        return t

    def build(self, n):
        if isinstance(n, ast.BinOp):
            return ("+" if isinstance(n.op, ast.Add) else "*", self.build(n.left), self.build(n.right))
        i, self.leaf = self.leaf, self.leaf + 1
        names = {"SE": ["variance", "lengthscale"], "PER": ["variance", "lengthscale", "period"]}[n.id]
        return (n.id, {k: self.log(self.start[i, k]["value"], self.start[i, k]["free"]) for k in names})

    def k(self, t, d):
        if t[0] in "+*":
            u, v = self.k(t[1], d), self.k(t[2], d)
            return u + v if t[0] == "+" else u * v
        q = t[1]
        if t[0] == "SE":
            return q["variance"].exp() * torch.exp(-0.5 * (d * torch.exp(-q["lengthscale"])) ** 2)
        return q["variance"].exp() * torch.exp(-2 * (torch.sin(math.pi * d * torch.exp(-q["period"])) * torch.exp(-q["lengthscale"])) ** 2)

    def elbo(self, x, y):
        """Per row, of the rows x, which stand for all."""
        K = self.k(self.tree, Z - torch.cat([Z, x]).T)
        L = torch.linalg.cholesky_ex(K[:, :M] + s["jitter"] * torch.eye(M))[0]
        A = torch.linalg.solve_triangular(L, K[:, M:], upper=False)
        C = torch.tril(self.C)
        kd = self.k(self.tree, torch.zeros(len(y)))
        mu, v = self.m @ A, kd - (A * A).sum(0) + ((C.T @ A) ** 2).sum(0)
        fit = -0.5 * (math.log(2 * math.pi) + self.noise + ((y - mu) ** 2 + v) / self.noise.exp()).mean()
        kl = 0.5 * ((self.m**2).sum() + (C * C).sum() - M) - torch.diagonal(C).abs().log().sum()
        return fit - kl / N


for rate in map(float, a.rates.split(",")):
    torch.manual_seed(1)
    model = Model()
    adam = torch.optim.Adam(model.params, lr=rate)
    objective = torch.compile(model.elbo) if a.compile else model.elbo
    if a.compile:  # compiling does not count
        (-N * objective(X[:B], Y[:B])).backward()
        adam.zero_grad()
    steps, seconds = 0, 0.0
    while True:
        with torch.no_grad():
            value = model.elbo(X[: s["elbo_rows"]], Y[: s["elbo_rows"]]).item()
        print(f"torch{'-compiled' if a.compile else ''},adam,{rate:g},{steps},{seconds:.6f},{value:.9g}", flush=True)
        if seconds >= a.seconds or not math.isfinite(value):
            break
        more = max(1, steps // 5)
        t = time.perf_counter()
        for _ in range(more):
            i = torch.randint(N, (B,))
            adam.zero_grad(set_to_none=True)
            (-N * objective(X[i], Y[i])).backward()
            adam.step()
        seconds += time.perf_counter() - t
        steps += more
