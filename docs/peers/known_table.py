"""A table whose truth is known: two years of days, made up.

    python known_table.py DRAW > days.csv
    python known_table.py DRAW --truth > truth.csv

    meter = 120 + 0.02 day + 3 max(0, 16 - temperature_C) + 2.5 wind_ms - 59 on weekends + N(0, 8)

with weather that is like that of its neighbouring days, a text that differs in every row, six
weeks without rows, and one cell in fifty empty. --truth has the same rows with meter without
noise in a column more.
"""
import csv
import datetime
import math
import random
import sys

NOISE = 8.0


def rows(draw):
    r = random.Random(draw)
    gap = r.randrange(100, 600)
    weather, breeze = 0.0, 0.0
    for i in range(731):
        date = datetime.date(2023, 1, 1) + datetime.timedelta(i)
        weather = 0.8 * weather + 0.6 * r.gauss(0, 3.5)
        breeze = 0.5 * breeze + r.gauss(0, 0.45)
        temperature = round(10 - 9 * math.cos(2 * math.pi * (i - 20) / 365.25) + weather, 1)
        wind = round(3 * math.exp(breeze), 1)
        day = "weekend" if date.weekday() > 4 else "weekday"
        f = 120 + 0.02 * i + 3 * max(0.0, 16 - temperature) + 2.5 * wind - 59 * (day == "weekend")
        meter = round(f + r.gauss(0, NOISE), 2)
        cells = [date.isoformat(), temperature, wind, day, f"read by {r.randrange(10**6)}", meter]
        holes = [r.random() < 0.02 for _ in range(4)]
        for at, hole in zip((1, 2, 3, 5), holes):
            cells[at] = "" if hole else cells[at]
        if not gap <= i < gap + 42:
            yield cells, f


if __name__ == "__main__":
    truth = "--truth" in sys.argv
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["date", "temperature_C", "wind_ms", "day", "note"] + ["truth"] * truth + ["meter"])
    for cells, f in rows(int(sys.argv[1])):
        out.writerow(cells[:5] + [round(f, 4)] * truth + cells[5:])
