"""A table whose truth is known: two years of days, made up.

    python known_table.py DRAW > days.csv
    python known_table.py DRAW --truth > truth.csv
    python known_table.py --intervals FIRST LAST     # of the weekend, by least squares that know the structure

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


def interval(draw):
    """The 95 % interval of what weekends are lower by, from least squares on 1, the day, max(0, 16 - temperature), the
    wind and the weekend: the best that anything which has to find the structure could have."""
    table = []
    for cells, _ in rows(draw):
        date, temperature, wind, day, _, meter = cells
        if "" in (temperature, wind, day, meter):
            continue
        number = (datetime.date.fromisoformat(date) - datetime.date(2023, 1, 1)).days
        table.append(([1.0, number / 365, max(0.0, 16 - temperature), wind, float(day == "weekend")], meter))
    n = 5
    # Gauss and Jordan on [XᵀX | Xᵀy | 1]: the last column becomes that of the inverse.
    a = [[sum(x[i] * x[j] for x, _ in table) for j in range(n)] + [sum(x[i] * y for x, y in table), float(i == n - 1)] for i in range(n)]
    for i in range(n):
        a[i] = [v / a[i][i] for v in a[i]]
        for k in range(n):
            if k != i:
                a[k] = [v - a[k][i] * w for v, w in zip(a[k], a[i])]
    beta = [row[n] for row in a]
    left = sum((y - sum(b * v for b, v in zip(beta, x))) ** 2 for x, y in table)
    half = 1.96 * math.sqrt(left / (len(table) - n) * a[n - 1][n + 1])
    return -beta[-1] - half, -beta[-1] + half


if __name__ == "__main__" and sys.argv[1] == "--intervals":
    first, last = int(sys.argv[2]), int(sys.argv[3])
    missed = [(draw, low, high) for draw in range(first, last + 1) for low, high in [interval(draw)] if not low <= 59 <= high]
    for draw, low, high in missed:
        print(f"draw {draw}: {low:.1f} to {high:.1f}")
    print(f"{last - first + 1 - len(missed)} of {last - first + 1} hold 59")
elif __name__ == "__main__":
    truth = "--truth" in sys.argv
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["date", "temperature_C", "wind_ms", "day", "note"] + ["truth"] * truth + ["meter"])
    for cells, f in rows(int(sys.argv[1])):
        out.writerow(cells[:5] + [round(f, 4)] * truth + cells[5:])
