"""Average pools: the kinds of record.def, with the formulas of the targets in schemes/SOURCES.md.
Raw codes are added exactly and brought into the accumulator once; zero points are taken off after it."""
from fractions import Fraction

import rescale
import sums
from elements import bare, ending, finish, form, requantize
from layers import give_one
from network import ints
from numbers_exact import Refused, Unsaid, f32, f64, plus, round_to_int
from windows import OVER, Image, Window


def window_sum(record, codes, zero):
    rule = record["accumulator"]
    if rule["overflow"] == "saturate-each-step":
        rule = dict(rule, overflow="saturate-at-end")
    return sums.accumulate(rule, codes, 0) - zero * len(codes)


def divide(record, a, out, count):  # 2.4 AVGPOOL
    rule = record["pool"]
    kept = rule["keep_zero_point"]

    def one(codes):
        value = round_to_int(Fraction(window_sum(record, codes, 0 if kept else a.zero), len(codes)), rule["round"])
        return ending(record, value, out) if kept else finish(record, value, out)
    return one


def reciprocal(record, a, out, count):  # 6.1 (d)
    def one(codes):
        n = len(codes)
        k = (n - 1).bit_length()
        m = ((1 << 30) + 1 << k) // n
        return finish(record, round_to_int(Fraction(window_sum(record, codes, a.zero) * m, 1 << 30 + k), "half-up"), out)
    return one


def rescaled(record, a, out, count):
    to = {"double": f64, "f32-product": f64, "f32-product-if-per-tensor": f64}.get(record["rescale"]["scale"], f32)

    def one(codes):
        n = len(codes)
        ratio = to(to(a.scale / out.scale) / n)
        if record["pool"]["scale"] != "in/out/count":
            ratio = to(a.scale / to(out.scale * n))
        return requantize(record, ratio, out)(window_sum(record, codes, a.zero))
    return one


def rescale_divide(record, a, out, count):  # 7.4 (d): the rescale, then the division
    first = bare(record, form(record, a, out))

    def one(codes):
        value = Fraction(first(window_sum(record, codes, a.zero)), len(codes))
        return finish(record, round_to_int(value, record["pool"]["round"]), out)
    return one


def rescale_area(record, a, out, kernel):
    """Where padding counts, the area is in the scale (7.4 d, count_include_pad)."""
    return rescaled(record, a, out, kernel)


def two_stage(record, a, out, kernel):  # 8.2 (d) PDP
    def one(codes):
        value = window_sum(record, codes, a.zero)
        for extent in (kernel[1], kernel[0]):
            value = round_to_int(Fraction(value * (65536 // extent), 65536), "half-away")
        return finish(record, value, out)
    return one


def dpu_factor(kernel):
    """N / 2^M of the area (8.4 d)."""
    known = {3: (7, 64), 5: (10, 256), 6: (7, 256), 7: (21, 1024), 14: (21, 4096)}
    if kernel[0] == kernel[1] and kernel[0] in known:
        return Fraction(*known[kernel[0]])
    area = kernel[0] * kernel[1]
    best = None
    for m in range((128 * area - 1).bit_length()):
        factor = Fraction(round_to_int(Fraction(1 << m, area), "half-away"), 1 << m)
        if best is None or abs(factor - Fraction(1, area)) < abs(best - Fraction(1, area)):
            best = factor
    return best


def dpu(record, a, out, kernel):
    factor = dpu_factor(kernel) * a.scale / out.scale

    def one(codes):
        value = round_to_int(window_sum(record, codes, a.zero) * factor, record["pool"]["round"])
        return finish(record, value, out)
    return one


def float_sum(record, a, out, kernel):  # ONNX Runtime, QLinearAveragePool
    def one(codes):
        total = Fraction(0)
        for code in codes:
            total = f32(total + f32(a.scale * (code - a.zero)))
        value = f32(f32(total / len(codes)) / out.scale)
        return ending(record, rescale.float_to_int(plus(value, out.zero, f32), record["pool"]["round"]), out)
    return one


def divided_multiplier(record, a, out, kernel):  # 2.4 MEAN
    rule = record["rescale"]
    whole = rescale.encode(dict(rule, reduced_bits=0), form(record, a, out))
    if whole.multiplier is None or whole.pre:
        raise Unsaid("a multiplier of another encoding")

    def one(codes):
        n = len(codes)
        left = rule["multiplier_bits"] - whole.shift
        bits = min(n.bit_length() - 1, 32, 31 + left)
        part = rescale.reduce(rule, (whole.multiplier << bits) // n, whole.shift + bits)
        return rescale.apply(rule, part, window_sum(record, codes, a.zero), out.zero, out.bounds, out.kind)
    return one


KINDS = {"divided-multiplier": divided_multiplier, "divide": divide, "reciprocal": reciprocal, "rescale": rescaled, "rescale-divide": rescale_divide,
         "two-stage": two_stage, "dpu": dpu, "float-sum": float_sum}
SAME_SCALES = ("divide", "reciprocal", "two-stage")  # between other scales they have no arithmetic of their own


WHOLE = ("two-stage", "dpu")  # they divide by the whole window


def avg_pool(network, x):
    """On an image; cells of the padding are counted as zero points or not at all. What hangs over never counts:
    `count_overhang` is of networks as they are quantized, whose padding then holds what counts."""
    rng = network.rng
    image = Image(network.image(x), rng.random() < 0.4)
    x = image.x
    rule = network.records("avg_pool", "", x)["pool"]
    kind, counted = rule["kind"], rng.random() < 0.5
    window = Window(rng, image.extent, (kind not in WHOLE or counted) and rng.random() < 0.5, rng.random() < 0.4)
    if kind == "float-sum" and window.kernel == image.extent:
        raise Unsaid("the whole image")
    out = network.tensor(image.shape(image.depth, window.out), x if kind in SAME_SCALES else None, kind=network.next_kind(x))
    record = network.records("avg_pool", out.name, x)

    def taps(n, c, i, j):
        cells = list(window.cells(i, j))
        if kind in WHOLE and any(p == OVER or p is None and not counted for p in cells):
            raise Refused("a window that reaches cells that do not count")
        inside = [image.code(n, c, *p) for p in cells if p not in (None, OVER)]
        return inside + [x.zero] * (cells.count(None) if counted else 0)

    def run():
        one = (rescale_area if counted and kind == "rescale-divide" else KINDS[kind])(record, x, out, window.kernel)
        return [one(taps(*place)) for place in image.order(image.depth, window.out)]
    network.node(out, "avg_pool(%s) {%s, %s%s%s}%s" % (
        x.name, image.layout(), window.text(), ", count_include_pad=true" if counted else "", ", ceil_mode=true" if window.ceil else "",
        network.bounds(out)), run)
    return out


def mean(network, x, op):
    """global_avg_pool and reduce_mean over an image's two last axes, reduce_mean and reduce_sum over others"""
    rng = network.rng
    x = network.image(x)
    axes = [2, 3] if op == "global_avg_pool" else sorted(rng.sample([1, 2, 3], rng.randint(1, 3)))
    kind = network.records(op, "", x)["pool"]["kind"]
    if kind == "float-sum":
        kind = "rescale"
    if kind in ("two-stage", "dpu") and axes != [2, 3] and op != "reduce_sum":
        raise Unsaid("the stages of other axes")
    same = kind in SAME_SCALES and op != "reduce_sum"
    shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
    out = network.tensor(shape, x if same else None, kind=network.next_kind(x))
    record = network.records(op, out.name, x)
    if op == "reduce_sum":
        give_one(network, out, record)
    groups = {}
    for at, code in enumerate(x.codes):
        place, rest = [], at
        for extent in reversed(x.shape):
            place.insert(0, rest % extent)
            rest //= extent
        groups.setdefault(tuple(0 if i in axes else p for i, p in enumerate(place)), []).append(code)

    def run():
        if op == "reduce_sum":
            last = requantize(record, form(record, x, out), out)
            one = lambda codes: last(window_sum(record, codes, x.zero))
        else:
            one = KINDS["rescale" if kind == "rescale-divide" else kind](record, x, out, [x.shape[2], x.shape[3]])
        return [one(groups[place]) for place in sorted(groups)]
    attributes = "" if op == "global_avg_pool" else " {axes=%s}" % ints(axes)
    network.node(out, "%s(%s)%s%s" % (op, x.name, attributes, network.bounds(out)), run)
    return out
