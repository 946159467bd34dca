"""Rounding, narrowing and the rescale of sums, on arrays of int64. Written from schemes/RECORD.md and the manifest's
description in interp/golden/README.md."""
import numpy as np

f32 = np.float32


def wrap(x, bits, signed=True):
    x = np.asarray(x, np.int64) & ((1 << bits) - 1)
    return np.where(x >> (bits - 1) & 1, x - (1 << bits), x) if signed else x


def divide(n, d, mode):
    """n / d, d > 0, rounded: arrays of integers."""
    n = np.asarray(n, np.int64)
    low = n // d
    rest = 2 * (n - low * d)
    up = {"floor": rest < 0, "ceil": rest > 0, "trunc": (n < 0) & (rest > 0), "half-up": rest >= d, "half-down": rest > d,
          "half-away": np.where(n < 0, rest > d, rest >= d), "half-even": np.where(rest == d, low % 2 == 1, rest > d)}[mode]
    return low + up


def shift_right(x, bits, mode):
    """x / 2^bits; bits: an array that goes with x, negative to the left."""
    x, bits = np.broadcast_arrays(np.asarray(x, np.int64), np.asarray(bits, np.int64))
    out = np.zeros(x.shape, np.int64)
    for b in np.unique(bits):
        at = bits == b
        v = x[at]
        out[at] = v << -b if b <= 0 else (divide(v, 1 << int(b), mode) if b < 62 else np.where(v < 0, -1, 0) * (mode == "floor"))
    return out


def to_integer(v, mode):
    """Floats to integers."""
    v = np.asarray(v, np.float64)
    whole = {"half-even": np.rint, "floor": np.floor, "trunc": np.trunc, "ceil": np.ceil, "half-up": lambda t: np.floor(t + 0.5),
             "half-down": lambda t: np.ceil(t - 0.5), "half-away": lambda t: np.copysign(np.floor(np.abs(t) + 0.5), t)}[mode](v)
    return np.clip(whole, -2.0 ** 31, 2.0 ** 31 - 1).astype(np.int64)


def by_multiplier(x, m, shift, rule):
    """m / 2^shift times x, in the steps [(bits or None, mode)] of the rule."""
    steps = rule["steps"]
    first = 0 if rule["left_shift"] == "product" else steps[0][0] or 0
    left = np.maximum(first - shift, 0)
    if rule["left_shift"] != "product":
        x = wrap(x << left, 32) if rule["left_shift"] == "wrap" else np.clip(x << left, -2 ** 31, 2 ** 31 - 1)
        value = x * m
    else:
        value = (x * m) << left
    rest = shift + left
    for bits, mode in steps:
        now = rest if bits is None else np.minimum(bits, rest)
        value, rest = shift_right(value, now, mode), rest - now
    return value


def rule_of(record):
    """What of the record's section rescale is read here."""
    k = record["rescale"]
    steps = [s.split() for s in k["round"].strip("[]").split(", ")]
    steps = [(int(s[0]), s[1]) if len(s) == 2 else (None, s[0]) for s in steps]
    if k["pre_shift"] != "none" or k["encoding"] not in ("multiplier", "shift", "float32"):
        return None
    return {"encoding": k["encoding"], "steps": steps, "left_shift": k["left_shift"], "zero_point": k["zero_point"],
            "bits": int(k["multiplier_bits"]), "sign": k["shift_sign"], "store": k["store"]}


def right_shift(rule, shift):
    """The manifest's shift as the number of places to the right of m."""
    if rule["encoding"] == "shift":
        return shift if rule["sign"] == "right" else -shift
    return {"right": shift, "left-of-multiplier": rule["bits"] - shift, "right-of-multiplier": rule["bits"] + shift, "left": -shift}[rule["sign"]]


def scaled(rule, x, m, shift):
    """x: sums; m, shift: arrays that go with it (m: float32 with the encoding float32)."""
    if rule["encoding"] == "float32":
        return to_integer(x.astype(f32) * m.astype(f32), rule["steps"][-1][1])
    return by_multiplier(x, m, shift, rule)
