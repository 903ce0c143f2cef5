"""Titsias' bound of one run of kestrel, optimised by PyTorch's L-BFGS.

    python docs/peers/sgpr_torch.py RUN data.csv.gz test_mask.csv.gz COLUMN [evaluations [KERNEL]]

RUN is the directory of a run on a table whose last column is the target; KERNEL is
SE, the default, or MATERN32, with a length scale for each input. The inducing
inputs are taken from its checkpoint; everything else is computed here from the
files: standardised by mean and standard deviation of the training rows, all of
them in every evaluation, from length scales √D and a noise variance of 0.1.
Prints the bound and the error on the held-out rows, in the data's units. On a card
with DEVICE=cuda.
"""
import os, sys, time
import numpy as np, torch

torch.set_default_dtype(torch.float64)
torch.set_default_device(os.environ.get("DEVICE", "cpu"))
run, data, mask, column = sys.argv[1:5]
evaluations = int(sys.argv[5]) if len(sys.argv) > 5 else 120
kernel = sys.argv[6] if len(sys.argv) > 6 else "SE"
assert kernel in ("SE", "MATERN32"), kernel
table = np.loadtxt(data, delimiter=",")
test = np.loadtxt(mask, delimiter=",", ndmin=2)[:, int(column) - 1] > 0.5
x, y = table[:, :-1], table[:, -1]
keep = x[~test].std(0) > 0
mx, sx, my, sy = x[~test].mean(0), np.where(keep, x[~test].std(0), 1), y[~test].mean(), y[~test].std()
X, Y = torch.tensor((x - mx) / sx), torch.tensor((y - my) / sy)
Xt, Yt, Xs, Ys = X[~test], Y[~test], X[test], Y[test]
Z = torch.tensor(np.load(run + "/state/checkpoint.npz")["z"])
print(f"{len(Yt)} training, {len(Ys)} test rows, {X.shape[1]} inputs, {len(Z)} inducing inputs; "
      f"mean distance of an inducing input to its nearest row {torch.cdist(Z, Xt).min(1).values.mean():.3g}")
n, d = Xt.shape
logl = torch.full((d,), 0.5 * np.log(d)).requires_grad_()
logv = torch.zeros(()).requires_grad_()
logn = torch.tensor(np.log(0.1)).requires_grad_()


def k(a, b):
    l = logl.exp()
    a, b = a / l, b / l
    d2 = ((a * a).sum(1)[:, None] + (b * b).sum(1)[None] - 2 * a @ b.T).clamp_min(0)
    if kernel == "SE":
        return logv.exp() * torch.exp(-0.5 * d2)
    r = (3 * d2 + 1e-12).sqrt()  # its slope at 0 is finite
    return logv.exp() * (1 + r) * torch.exp(-r)


def parts():
    s2 = logn.exp()
    L = torch.linalg.cholesky(k(Z, Z) + 1e-6 * logv.exp() * torch.eye(len(Z)))
    A = torch.linalg.solve_triangular(L, k(Z, Xt), upper=False)
    LB = torch.linalg.cholesky(torch.eye(len(Z)) + A @ A.T / s2)
    c = torch.linalg.solve_triangular(LB, (A @ Yt)[:, None], upper=False)[:, 0] / s2
    return s2, L, A, LB, c


def bound():
    s2, L, A, LB, c = parts()
    return (-0.5 * n * torch.log(2 * np.pi * s2) - LB.diagonal().log().sum() - 0.5 * (Yt @ Yt) / s2 + 0.5 * c @ c
            - 0.5 * (n * logv.exp() - (A * A).sum()) / s2)


best = [-np.inf]
opt = torch.optim.LBFGS([logl, logv, logn], lr=1, max_iter=evaluations, max_eval=evaluations, history_size=12, line_search_fn="strong_wolfe", tolerance_change=1e-9)
began = time.time()


def closure():
    opt.zero_grad()
    loss = -bound()
    loss.backward()
    best[0] = max(best[0], -loss.item())
    return loss


opt.step(closure)
with torch.no_grad():
    s2, L, A, LB, c = parts()
    As = torch.linalg.solve_triangular(L, k(Z, Xs), upper=False)
    Bs = torch.linalg.solve_triangular(LB, As, upper=False)
    mean = Bs.T @ c
    var = logv.exp() - (As * As).sum(0) + (Bs * Bs).sum(0) + s2
    nlpd = 0.5 * (torch.log(2 * np.pi * var) + (Ys - mean) ** 2 / var).mean() + np.log(sy)
    rmse = ((Ys - mean) ** 2).mean().sqrt() * sy
print(f"bound {best[0]:.2f}, RMSE {rmse:.5f}, NLPD {nlpd:.4f}, noise {s2:.4f}, {time.time() - began:.0f} s")
