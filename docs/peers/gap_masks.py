"""Masks of gaps in Swissgrid's quarter hours, for data.mask with data.split_by = "mask".

    python gap_masks.py total-consumption-15min-2009-2014.csv.xz SEED > mask.csv

Column 1: 20,000 random rows; 2: 2,000 whole hours; 3: 60 whole days of Swiss time. Needs NumPy.
"""
import csv, datetime, lzma, sys, zoneinfo

import numpy as np

zone = zoneinfo.ZoneInfo("Europe/Zurich")
with lzma.open(sys.argv[1], "rt") as f:
    stamps = [datetime.datetime.fromisoformat(r["utc_start"].replace("Z", "+00:00")) for r in csv.DictReader(f)]
days = np.array([t.astimezone(zone).date().isoformat() for t in stamps])
rng = np.random.default_rng(int(sys.argv[2]))
mask = np.zeros((len(days), 3), int)
mask[rng.choice(len(days), 20000, replace=False), 0] = 1
for h in rng.choice(len(days) // 4, 2000, replace=False):
    mask[4 * h:4 * h + 4, 1] = 1
mask[np.isin(days, rng.choice(np.unique(days), 60, replace=False)), 2] = 1
np.savetxt(sys.stdout, mask, fmt="%d", delimiter=",")
