"""Two tables of twelve thousand rows, or of as many as are asked for, made up: one that is a smooth function, one that is mostly noise.

    python dense_tables.py DIR SEED [ROWS]

Writes DIR/arm.csv, DIR/cells.csv, for each a mask with 1 where a row is held out (the last 2,000), and the
rows in two files, for table_lightgbm.py.

arm: how far the tip of an arm of eight links, three-dimensional, is from a point, by its eight angles
(±90°), with noise of sd .02; like kin40k. cells: nine columns made of five hidden variables; y a function
of these with folds and a jump, and noise of Student's t; like the protein table.
"""
import sys

import numpy as np

ROWS, HELD = int((sys.argv + [12_000])[3]), 2_000


def arm(r):
    angles = r.uniform(-np.pi / 2, np.pi / 2, (ROWS, 8))
    tip, turn = np.zeros((ROWS, 3)), np.tile(np.eye(3), (ROWS, 1, 1))
    zero, one = np.zeros(ROWS), np.ones(ROWS)
    for j in range(8):
        c, s = np.cos(angles[:, j]), np.sin(angles[:, j])
        m = [[c, -s, zero], [s, c, zero], [zero, zero, one]] if j % 2 == 0 else [[one, zero, zero], [zero, c, -s], [zero, s, c]]
        turn = turn @ np.array(m).transpose(2, 0, 1)
        tip = tip + turn[:, :, 0] * (1.0 if j < 4 else 0.6)
    return angles, np.linalg.norm(tip - 0.5, axis=1) + 0.02 * r.normal(size=ROWS)


def cells(r):
    z = r.normal(size=(ROWS, 5))
    x = z @ r.normal(size=(9, 5)).T + 0.3 * r.normal(size=(ROWS, 9))
    x[:, 0], x[:, 3] = np.exp(x[:, 0] / 2), np.abs(x[:, 3])
    f = 2 * np.sin(2 * z[:, 0]) + np.abs(z[:, 1]) * z[:, 2] + 3 * (z[:, 3] > 0.5) * z[:, 4]
    return x, f + 1.5 * r.standard_t(4, size=ROWS)


where, seed = sys.argv[1], int(sys.argv[2])
for name, made in (("arm", arm), ("cells", cells)):
    x, y = made(np.random.default_rng(seed))
    rows, head = np.c_[x, y], ",".join([f"x{i + 1}" for i in range(x.shape[1])] + ["y"])
    for part, some in (("", rows), ("-train", rows[:-HELD]), ("-test", rows[-HELD:])):
        np.savetxt(f"{where}/{name}{part}.csv", some, delimiter=",", header=head, comments="", fmt="%.7g")
    np.savetxt(f"{where}/{name}-mask.csv", np.arange(ROWS) >= ROWS - HELD, fmt="%d")
