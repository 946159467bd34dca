"""Drawn records of matrix units and rows of dot products for them: the whole space of parameters, kept small.

A record is a dictionary of the parameters that are not at their defaults, as mac_model.py takes it; a row is
(a, b, c, scale_a, scale_b), patterns."""
from mac_model import FORMATS, complete

MODES = ("half-up", "half-away", "half-even", "half-zero", "floor", "trunc", "ceil", "odd", "away")
ELEMENTS = [f for f in FORMATS if f not in ("ue4m3", "e8m0")]
SMALL = [f for f in ELEMENTS if FORMATS[f][0] == 8]
NANS = {"f64": 0x7FF8000000000000, "f32": 0x7FC00000, "f16": 0x7E00, "bf16": 0x7FC0}
HOLDS = {"f64": ("f64", "f32", "f16", "bf16"), "f32": ("f32", "f16", "bf16"), "f16": ("f16",), "bf16": ("bf16",)}


def draw_some(rng, record, chance, choices):
    for name, values in choices.items():
        if rng.random() < chance:
            record[name] = rng.choice(values)


def draw_order(rng, r):
    steps = rng.choice((1, 1, 2, 3))
    if rng.random() < 0.5:
        r["instruction"] = r["group"] * steps
        if rng.random() < 0.4:
            r["order"] = rng.sample(range(r["instruction"]), r["instruction"])
    if rng.random() < 0.3:
        r["start"] = "zero"
        r["chains"] = rng.choice((1, 2, 3))
    if rng.random() < 0.1:
        r.update(a_digits=rng.randint(1, 9), b_digits=rng.randint(1, 9), phases=rng.randint(1, 4))
    if rng.random() < 0.1:
        r["k_order"] = "descending"


def draw_sum(rng, r):
    if rng.random() < 0.7:
        r["align_bits"] = rng.choice((rng.randint(0, 64), rng.randint(8, 40)))
        draw_some(rng, r, 0.4, dict(align_cut=MODES, least_max=(-140, -133, -20, 0), zero_exponent=(-126, -14, 0)))
    r["accumulator"] = rng.choice(("joined", "joined", "after") + (("aligned",) if "align_bits" in r else ()))
    if r["accumulator"] == "aligned":
        r.update(sum_align_bits=rng.randint(0, 40), acc_align_bits=rng.randint(0, 40))
        draw_some(rng, r, 0.5, dict(acc_drop=(10, 25, 40), sum_cut=MODES))
    if r["accumulator"] != "joined" and "align_bits" in r and rng.random() < 0.5:
        r["lanes"] = rng.choice((2, 3))
    if r["accumulator"] == "after" and "align_bits" not in r and rng.random() < 0.6:
        r["sum"] = "pairs"


def drop_unread(r):
    """Without what a unit file is refused for: parameters that nothing reads."""
    aside, cut, started = r.get("accumulator") == "aligned", "align_bits" in r, r.get("start") == "zero"
    read = dict(scale="scale_block" in r, flush_in=r["a"] != "int8mx" or r["b"] != "int8mx", align_cut=cut, least_max=cut, zero_exponent=cut,
                sum_cut=aside or r.get("lanes", 1) > 1, out_round=not aside or r.get("chains", 1) > 1,
                acc_round=r.get("accumulator", "joined") != "joined" or started, split_sum="split_k" in r, outer_round="promote" in r or "split_k" in r)
    for name in (name for name, is_read in read.items() if not is_read):
        r.pop(name, None)


def draw_record(rng):
    out = rng.choice(("f32", "f32", "f32", "f16", "bf16", "f64"))
    small = rng.random() < 0.5
    pool = SMALL if small else ELEMENTS if out == "f64" else [f for f in ELEMENTS if f != "f64"]
    r = dict(a=rng.choice(pool), b=rng.choice(pool), acc=rng.choice(HOLDS[out]), out=out, nan=NANS[out],
             group=rng.choice((1, 2, 3, 4, 8)))
    draw_order(rng, r)
    draw_sum(rng, r)
    if rng.random() < 0.3:
        r["scale_block"] = r["group"] * rng.choice((1, 2))
        r["scale"] = rng.choice(("e8m0", "ue4m3"))
        if small and rng.random() < 0.5 and not ("order" in r and r["scale_block"] % r["instruction"]):
            r["exact_group"] = r["group"]
    if rng.random() < 0.2:
        unit = r.get("instruction") or r["group"]
        r["promote"] = unit * rng.choice((1, 2))
        if rng.random() < 0.5:
            r.update(scale="f32", scale_block=r["promote"] * rng.choice((1, 2)), scale_place="promoted")
            r["exact_group"] = 1
    if rng.random() < 0.1:
        r.update(split_k=rng.choice((2, 3)), split_sum=rng.choice(("chain", "pairs")))
    draw_some(rng, r, 0.25, dict(
        flush_in=("signed", "plus"), flush_acc=("signed", "plus"), flush_out=("before", "after"),
        product_limit=(0, 10, 128), product_round=MODES, out_round=MODES, acc_round=MODES, outer_round=MODES,
        out_frac=(3, 7), overflow=("largest",), zero_sign=("plus", "ieee"), nan_rule=("operand",)))
    if rng.random() < 0.05 and not r.get("order"):
        r.update(group=0, exact_group=1)
    drop_unread(r)
    return r


def multiple(r):
    """Of what K has to be one: found by trying."""
    c = complete(r)
    n = 1
    while any(d and n % d for d in (c["instruction"] or c["group"] or c["exact_group"], c["scale_block"], c["promote"])):
        n += 1
    return n * c["split_k"]


def draw_pattern(rng, f, style):
    width, eb, fb, bias, specials = FORMATS[f]
    if specials in ("integer", "scale"):
        return rng.randrange(256) if style != 1 else (bias + rng.randint(-4, 4)) & 255
    bits = 1 + eb + fb
    shift = 13 if f == "tf32" else 0
    top = (1 << eb) - 1
    sign, m = rng.getrandbits(1), rng.choice((0, rng.getrandbits(fb), (1 << fb) - 1))
    if style == 0 and rng.random() < 0.97:  # anything but, mostly, what is no number
        e = rng.randrange(top)
    elif style == 0:
        return rng.getrandbits(bits) << shift
    elif style == 1:  # near 1
        e = min(max(bias + rng.randint(-6, 6), 0), top - 1)
    elif style == 2:  # small
        e = rng.randint(0, 2)
    else:  # large
        e = top - rng.randint(1, 2)
    if specials != "ieee" and m == (1 << fb) - 1 and e == top - 1 and rng.random() < 0.5:
        e = top
    return (sign << (eb + fb) | e << fb | m) << shift | (rng.getrandbits(13) if shift else 0)


def draw_row(rng, r, k):
    style = rng.choice((0, 1, 1, 1, 2, 3))
    mixed = rng.random() < 0.3
    other = {2: 3, 3: 2}.get(style, style) if mixed else style
    a = [draw_pattern(rng, r["a"], style) for _ in range(k)]
    b = [draw_pattern(rng, r["b"], other) for _ in range(k)]
    for i in range(k):
        if rng.random() < 0.15:
            a[i] = 0
        elif i and rng.random() < 0.2:  # cancels the one before
            a[i], b[i] = a[i - 1] ^ 1 << (FORMATS[r["a"]][0] - 1 if r["a"] not in ("e3m2", "e2m3", "e2m1") else
                                          FORMATS[r["a"]][1] + FORMATS[r["a"]][2]), b[i - 1]
    c = rng.choice((0, draw_pattern(rng, r["acc"], style), draw_pattern(rng, r["acc"], 1)))
    blocks = k // r["scale_block"] if r["scale_block"] else 0
    sa, sb = ([draw_pattern(rng, r["scale"], rng.choice((0, 1))) for _ in range(blocks)] for _ in "ab")
    return a, b, c, sa, sb
