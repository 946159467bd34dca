"""The smallest row that tells a card from its unit: what can be taken away while the two still differ is taken away."""
import numpy as np


def present(row):
    """Places in K where something is multiplied; a zero beside a number counts, some units see it."""
    return np.flatnonzero((row["a"] != 0) | (row["b"] != 0))


def size(rows, sign_a, sign_b):
    """Of each row: its products that are not zero, which count most, and the other places where there is something."""
    a, b = rows["a"], rows["b"]
    products = np.sum(((a & ~sign_a) != 0) & ((b & ~sign_b) != 0), axis=1)
    return products * (a.shape[1] + 2) + np.sum((a != 0) | (b != 0), axis=1) + (rows["c"] != 0)


def parts(places):
    """Halves, quarters and so on down to single places."""
    width = len(places)
    while width > 1:
        width = -(-width // 2)
        yield from (places[at:at + width] for at in range(0, len(places), width))
    if len(places) == 1:
        yield places


def without(row, places):
    """The row with +0 at these places; none of them: with +0 as accumulator."""
    less = {name: x.copy() for name, x in row.items()}
    if len(places):
        less["a"][places] = less["b"][places] = 0
    else:
        less["c"] = np.zeros_like(row["c"])
    return less


def smallest(row, differ):
    """row: a, b, c and scales of one row that differs. differ: of columns of rows, which rows do; None: cannot be told."""
    while True:
        tried = [without(row, places) for places in parts(present(row))]
        if row["c"] != 0:
            tried.append(without(row, []))
        if not tried:
            return row
        bad = differ({name: np.stack([x[name] for x in tried]) for name in row})
        if bad is None or not bad.any():
            return row
        row = tried[int(np.argmax(bad))]
