package script

import "strings"

// numpyParts are the functions of a NumPy script that kernels need. Kernels are
// functions of two arrays of rows that broadcast; same is 1 for pairs of one row.
var numpyParts = []struct{ name, text string }{
	{"add", "def add(*kernels):\n    return lambda x, y, same: sum(k(x, y, same) for k in kernels)\n"},
	{"mul", "def mul(*kernels):\n    return lambda x, y, same: np.prod(np.broadcast_arrays(*(k(x, y, same) for k in kernels)), axis=0)\n"},
	{"change", "def change(before, after, column, place, width):\n    s = lambda x: 1 / (1 + np.exp(-(x[..., column] - place) / width))\n" +
		"    return lambda x, y, same: (1 - s(x)) * before(x, y, same) * (1 - s(y)) + s(x) * after(x, y, same) * s(y)\n"},
	{"r2", "def r2(x, y, columns, scales):\n    return (((x[..., columns] - y[..., columns]) / scales) ** 2).sum(-1)\n"},
	{"dot", "def dot(x, y, columns, scales):\n    return (x[..., columns] * y[..., columns] / np.square(scales)).sum(-1)\n"},
	{"SE", "def se(v, columns, scales):\n    return lambda x, y, same: v * np.exp(-r2(x, y, columns, scales) / 2)\n"},
	{
		"RQ",
		"def rq(v, columns, scales, alpha):\n    return lambda x, y, same: v * np.exp(\n" +
			"        -alpha * np.log1p(r2(x, y, columns, scales) / (2 * alpha)))\n",
	},
	{"PER", "def per(v, columns, scales, periods):\n    return lambda x, y, same: v * np.exp(\n" +
		"        -2 * ((np.sin(np.pi * np.abs(x[..., columns] - y[..., columns]) / periods) / scales) ** 2).sum(-1))\n"},
	{"MATERN12", "def matern12(v, columns, scales):\n    return lambda x, y, same: v * np.exp(-np.sqrt(r2(x, y, columns, scales)))\n"},
	{"MATERN32", "def matern32(v, columns, scales):\n    def k(x, y, same):\n        r = np.sqrt(3 * r2(x, y, columns, scales))\n" +
		"        return v * (1 + r) * np.exp(-r)\n    return k\n"},
	{"MATERN52", "def matern52(v, columns, scales):\n    def k(x, y, same):\n        r = np.sqrt(5 * r2(x, y, columns, scales))\n" +
		"        return v * (1 + r + r**2 / 3) * np.exp(-r)\n    return k\n"},
	{"COS", "def cos(v, columns, periods):\n    return lambda x, y, same: v * np.cos(\n" +
		"        2 * np.pi * ((x[..., columns] - y[..., columns]) / periods).sum(-1))\n"},
	{"LIN", "def lin(v, columns, scales):\n    return lambda x, y, same: v * dot(x, y, columns, scales)\n"},
	{
		"poly",
		"def poly(v, columns, scales, offset, degree):\n    return lambda x, y, same: v * (dot(x, y, columns, scales) + offset) ** degree\n",
	},
	{"walk", "def walk(x, y, columns, origin, of):\n    u, v = x[..., columns] + origin, y[..., columns] + origin\n" +
		"    low, high = np.minimum(abs(u), abs(v)), np.maximum(abs(u), abs(v))\n" +
		"    return np.where((u > 0) == (v > 0), of(low, high), 0).sum(-1)\n"},
	{"RW", "def rw(v, columns, origin):\n    return lambda x, y, same: v * walk(x, y, columns, origin, lambda low, high: low)\n"},
	{"IRW", "def irw(v, columns, origin):\n" +
		"    return lambda x, y, same: v * walk(x, y, columns, origin, lambda low, high: low**2 * (3 * high - low) / 6)\n"},
	{"CONST", "def const(v):\n    return lambda x, y, same: np.full(np.broadcast_shapes(x.shape, y.shape)[:-1], v)\n"},
	{"CAT", "def cat(v, cols):\n    return lambda x, y, same: v * np.all(x[..., cols] == y[..., cols], axis=-1)\n"},
	{"levels", "def levels(v, cols, levels, scales):\n" +
		"    c = lambda x: (x[..., cols] == levels) @ np.exp(-0.5 / np.square(scales))\n" +
		"    return lambda x, y, same: v * np.where((x[..., cols] == y[..., cols]).all(-1), 1, c(x) * c(y))\n"},
	{"WN", "def wn(v):\n    return lambda x, y, same: v * same * np.ones(np.broadcast_shapes(x.shape, y.shape)[:-1])\n"},
}

// numpyNeeds are functions that others call.
func numpyNeeds(used map[string]bool) map[string]bool {
	need := map[string]bool{}
	for name := range used {
		switch name {
		case "SE", "RQ", "MATERN12", "MATERN32", "MATERN52":
			need["r2"] = true
		case "LIN":
			need["dot"] = true
		case "POLY2", "POLY3", "POLY4":
			need["dot"], need["poly"] = true, true
		case "RW", "IRW":
			need["walk"] = true
		}
		need[name] = true
	}
	return need
}

func numpyHelpers(used map[string]bool) string {
	var b strings.Builder
	need := numpyNeeds(used)
	for _, part := range numpyParts {
		if need[part.name] {
			b.WriteString("\n" + part.text + "\n")
		}
	}
	return b.String()
}

const numpyPredict = `    K = kernel(X[:, None], X[None], np.eye(len(X))) + noise * np.eye(len(X))
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L, kernel(X[:, None], x[None], 0.0))
    mean = a.T @ np.linalg.solve(L, y)
    return mean, np.sqrt(kernel(x, x, 1.0) - (a**2).sum(0))
`

const numpyInducing = `    K = kernel(Z[:, None], Z[None], np.eye(len(Z)))
    L = np.linalg.cholesky(K + JITTER * np.trace(K) / len(Z) * np.eye(len(Z)))
    A = np.hstack([np.linalg.solve(L, kernel(Z[:, None], rows[None], 0.0)) for rows in np.array_split(X, 1 + len(X) // 1000)])
    B = np.linalg.cholesky(np.eye(len(Z)) + A @ A.T / noise)
    a = np.linalg.solve(L, kernel(Z[:, None], x[None], 0.0))
    b = np.linalg.solve(B, a)
    mean = b.T @ np.linalg.solve(B, A @ y) / noise
    return mean, np.sqrt(kernel(x, x, 1.0) - (a**2).sum(0) + (b**2).sum(0))
`

func sklearnHelpers(map[string]bool) string {
	return `
class On(Kernel):
    """A kernel of some columns, each divided by a length scale."""

    def __init__(self, kernel, columns, scales):
        self.kernel, self.columns, self.scales = kernel, columns, scales

    def part(self, X):
        return None if X is None else X[:, self.columns] / self.scales

    def __call__(self, X, Y=None, eval_gradient=False):
        if eval_gradient:
            raise NotImplementedError("hyperparameters are fixed")
        return self.kernel(self.part(X), self.part(Y))

    def diag(self, X):
        return self.kernel.diag(self.part(X))

    def is_stationary(self):
        return self.kernel.is_stationary()

`
}

const sklearnPredict = `    gp = GaussianProcessRegressor(clone(kernel), alpha=noise, optimizer=None).fit(X, y)
    return gp.predict(x, return_std=True)
`

func gpytorchHelpers(map[string]bool) string {
	return `
def having(kernel, **values):
    for name, value in values.items():
        setattr(kernel, name, torch.tensor(value))
    return kernel


def scaled(variance, kernel):
    return having(ScaleKernel(kernel), outputscale=variance)


class Exact(gpytorch.models.ExactGP):
    def __init__(self, kernel, noise, X, y):
        likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.GreaterThan(noise / 2))
        likelihood.noise = noise
        super().__init__(X, y, likelihood)
        self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), kernel

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

`
}

const gpytorchPredict = `    gp = Exact(kernel, noise, torch.tensor(X), torch.tensor(y)).eval()
    with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False), gpytorch.settings.max_cholesky_size(100000):
        f = gp(torch.tensor(x))
        return f.mean.numpy(), f.stddev.numpy()
`

const gpflowPredict = `    likelihood = gpflow.likelihoods.Gaussian(noise, variance_lower_bound=noise / 2)
    mean, variance = gpflow.models.GPR((X, y[:, None]), kernel, likelihood=likelihood).predict_f(x)
    return mean.numpy()[:, 0], np.sqrt(variance.numpy()[:, 0])
`

const gpflowInducing = `    likelihood = gpflow.likelihoods.Gaussian(noise, variance_lower_bound=noise / 2)
    gpflow.config.set_default_jitter(JITTER * float(np.mean(kernel.K_diag(Z))))
    mean, variance = gpflow.models.SGPR((X, y[:, None]), kernel, Z, likelihood=likelihood).predict_f(x)
    return mean.numpy()[:, 0], np.sqrt(variance.numpy()[:, 0])
`

const gpjaxPredict = `    prior = gpjax.gps.Prior(kernel=kernel, mean_function=gpjax.mean_functions.Zero(), jitter=0.0)
    posterior = prior * gpjax.likelihoods.Gaussian(obs_stddev=np.sqrt(noise))
    f = posterior.predict(x, train_data=gpjax.Dataset(X, y[:, None]))
    return np.ravel(f.mean), np.sqrt(np.diag(f.covariance()))
`
