"""Faults of a node: functions of (rng, node) that change its attributes and give its codes, or None where the fault says
nothing there. Each is planted under the class that interp/blame names it by. Here: sums, rescales, stores; what goes into
a node is in faults_operands.py, what comes out of it in faults_output.py."""
import numpy as np

from device import clip

WEIGHTED, BINARY, MOVES = ("conv", "fc"), ("add", "sub", "mul"), ("reshape", "concat", "transpose")
POOLS = ("avg_pool", "global_avg_pool")
FAULTS = []


def fault(name, *ops):
    """Registers a fault of a class for ops (none: every op that gives codes)."""
    def register(function):
        FAULTS.append((name, ops, function))
        return function
    return register


def changed(values, at, value):
    values = np.array(values)
    values[at] = value
    return values


def some(rng, count, max_count=4):
    """A few different indices."""
    return rng.sample(range(count), rng.randint(1, min(max_count, count)))


# ---- the rescale ----

def rescaling(node):
    return node.op in WEIGHTED or node.op == "mul" or node.record["add"]["kind"] == "left-shift"


@fault("rescale.rounding", "conv", "fc", "add", "mul", "sub")
def last_rounding(rng, n):
    if not rescaling(n):
        return None
    steps = n.rule["steps"]
    modes = [m for m in ("floor", "trunc", "half-up", "half-even", "half-away", "ceil", "half-down") if m != steps[-1][1]]
    n.rule = dict(n.rule, steps=steps[:-1] + [(steps[-1][0], rng.choice(modes))])
    return n.codes()


@fault("rescale.rounding", "conv", "fc")
def one_rounding(rng, n):
    if len(n.rule["steps"]) < 2:
        return None
    n.rule = dict(n.rule, steps=[(None, rng.choice(["half-up", "floor", "half-away"]))], left_shift="product")
    return n.codes()


@fault("rescale.rounding", "conv", "fc")
def two_roundings(rng, n):
    if len(n.rule["steps"]) != 1 or n.rule["encoding"] != "multiplier":
        return None
    n.rule = dict(n.rule, steps=[(n.rule["bits"], "half-up"), (None, "half-away")])
    return n.codes()


@fault("rescale.rounding", "quantize")
def quantize_rounding(rng, n):
    mode = rng.choice(["floor", "trunc"])
    n.record = dict(n.record, convert=dict(n.record["convert"], round=mode))
    return n.codes()


@fault("rescale.multiplier", "conv", "fc", "mul")
def multiplier_bit(rng, n):
    if n.rule["encoding"] == "shift":
        return None
    at = some(rng, len(n.m), 1)
    if n.m.dtype == np.float32:
        n.m = changed(n.m, at, (n.m[at].view(np.uint32) ^ np.uint32(1 << rng.randint(17, 21))).view(np.float32))
    else:
        n.m = changed(n.m, at, n.m[at] ^ 1 << rng.randint(n.rule["bits"] - 6, n.rule["bits"] - 3))
    return n.codes()


@fault("rescale.multiplier", "conv", "fc")
def multiplier_cut(rng, n):
    if n.rule["encoding"] != "multiplier" or n.rule["bits"] < 20:
        return None
    kept = rng.randint(6, 10)
    n.m = n.m >> n.rule["bits"] - kept << n.rule["bits"] - kept
    return n.codes()


@fault("rescale.shift", "conv", "fc", "mul")
def shift_off(rng, n):
    if n.rule["encoding"] == "float32":
        return None
    n.s = n.s + rng.choice([-1, 1])
    return n.codes()


@fault("rescale.shift", "conv", "fc")
def shift_off_in_some(rng, n):
    if n.rule["encoding"] == "float32" or len(n.s) < 2:
        return None
    at = some(rng, len(n.s), 3)
    n.s = changed(n.s, at, n.s[at] + rng.choice([-1, 1]))
    return n.codes()


@fault("rescale.channel", "conv", "fc")
def channel_rolled(rng, n):
    if len(n.m) < 2 and len(n.s) < 2:
        return None
    by = rng.choice([1, -1])
    n.m, n.s = np.roll(n.m, by), np.roll(n.s, by)
    return n.codes()


@fault("rescale.channel", "conv", "fc")
def channel_of_another(rng, n):
    if len(n.m) < 4:
        return None
    a, b = rng.sample(range(len(n.m)), 2)
    n.m = changed(n.m, a, n.m[b])
    n.s = changed(n.s, a, n.s[b]) if len(n.s) > 1 else n.s
    return n.codes()


@fault("rescale.channel", "conv", "fc")
def first_channel_for_all(rng, n):
    if len(n.m) < 2:
        return None
    n.m, n.s = n.m[:1], n.s[:1]
    return n.codes()


@fault("rescale.zero_point", "conv", "fc", "add", "sub", "mul", "quantize")
def zero_point(rng, n):
    n.zero = int(clip(rng.choice([0, n.zero + 1, n.zero - 1, n.zero + rng.randint(2, 9)]), n.low, n.high))
    return n.codes()


# ---- stores ----

@fault("saturation.missing", "conv", "fc", "add", "sub", "mul")
def low_bits(rng, n):
    n.store = "wrap"
    return n.codes()


@fault("saturation.bounds", "conv", "fc", "add", "sub", "mul", "max_pool", "relu", "clip")
def other_bound(rng, n):
    span = n.hi - n.lo
    kind = rng.randrange(4)
    if kind == 0:
        n.hi -= rng.randint(1, span // 3)
    elif kind == 1:
        n.lo = max(n.lo, n.zero) if n.zero > n.lo else n.lo + span // 8  # a fused activation that is not there
    elif kind == 2:
        if (n.lo, n.hi) == (n.low, n.high):
            return None
        n.lo, n.hi = n.low, n.high
    else:
        n.lo += 1
    return n.codes()


# ---- sums ----

def exact_sums(n):
    """The greatest magnitude of the exact sums."""
    seen = []
    end, n.end = n.end, lambda acc: seen.append(acc) or np.zeros(n.shape, np.int64)
    kept, n.sum = n.sum, dict(n.sum, bits=62, overflow="wrap")
    n.codes()
    n.end, n.sum = end, kept
    return int(np.abs(seen[0]).max())


@fault("accumulator.width", "conv", "fc")
def narrow_sums(rng, n):
    largest = exact_sums(n)
    bits = max(largest.bit_length() - rng.randint(0, 2), 4)
    if n.sum["overflow"] == "saturate-each-step" and bits >= n.sum["bits"]:
        bits = n.sum["bits"] - 1
    n.sum = dict(n.sum, bits=bits, overflow=rng.choice(["wrap", "saturate-at-end", "saturate-each-step"]))
    return n.codes()


@fault("accumulator.width", "conv", "fc")
def other_overflow(rng, n):
    if n.sum["bits"] >= 32:
        return None
    n.sum = dict(n.sum, overflow=rng.choice([o for o in ("wrap", "saturate-at-end") if o != n.sum["overflow"]]))
    return n.codes()


@fault("accumulator.order", "conv", "fc")
def other_order(rng, n):
    if n.sum["overflow"] != "saturate-each-step":
        return None
    kind = rng.randrange(3)
    n.sum = dict(n.sum, **({"order": "reverse"} if kind == 0 else {"lanes": rng.choice([2, 4, 8])} if kind == 1 else {"bias": "last"}))
    return n.codes()
