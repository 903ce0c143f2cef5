"""Gradient boosting of a table, to compare with.

    pip install lightgbm pandas
    python table_lightgbm.py TRAIN.csv TEST.csv TARGET

Time stamps become days since the first, the day of the year and of the week and the hour;
texts of few values become categories, others are left out. The number of trees is the best of
five folds. Prints RMSE and MAE on TEST.
"""
import sys

import lightgbm
import numpy as np
import pandas as pd

train, test, target = pd.read_csv(sys.argv[1]), pd.read_csv(sys.argv[2]), sys.argv[3]
train, test = train[train[target].notna()], test[test[target].notna()]
x, z = {}, {}
for name in train.columns.drop(target):
    if name not in test:
        continue
    a, b = train[name], test[name]
    if pd.api.types.is_numeric_dtype(a) or a.dtype == bool:
        x[name], z[name] = a.astype(float), b.astype(float)
        continue
    try:
        ta, tb = pd.to_datetime(a), pd.to_datetime(b)
    except (ValueError, TypeError):
        if a.nunique() <= len(a) / 8:
            kinds = sorted(a.dropna().unique())
            x[name], z[name] = pd.Categorical(a, kinds), pd.Categorical(b, kinds)
        continue
    for out, t in ((x, ta), (z, tb)):
        out[name] = (t - ta.min()).dt.total_seconds() / 86400
        out[name + " yearday"], out[name + " weekday"], out[name + " hour"] = t.dt.dayofyear, t.dt.weekday, t.dt.hour
X, Z, y, truth = pd.DataFrame(x), pd.DataFrame(z), train[target].to_numpy(), test[target].to_numpy()
options = {"objective": "regression", "learning_rate": 0.03, "num_leaves": 15, "min_data_in_leaf": 10, "verbose": -1, "seed": 1,
           "num_threads": 1, "feature_fraction": 0.8, "bagging_fraction": 0.8, "bagging_freq": 1}
folds = lightgbm.cv(options, lightgbm.Dataset(X, y), 3000, nfold=5, stratified=False, seed=1,
                    callbacks=[lightgbm.early_stopping(100, verbose=False)])
trees = int(np.argmin(folds["valid l2-mean"])) + 1
error = lightgbm.train(options, lightgbm.Dataset(X, y), trees).predict(Z) - truth
print(f"{len(y)} rows, {trees} trees: RMSE {np.sqrt(np.mean(error**2)):.5g}, MAE {np.mean(abs(error)):.5g} on {len(truth)} rows")
