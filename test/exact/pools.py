"""Average pools: the kinds of record.def, with the formulas of shared/targets/arithmetic.md (sections named).
Raw codes are added in the accumulator; zero points are taken off after it."""
from fractions import Fraction

import rescale
import sums
from elements import bare, ending, finish, form, requantize
from layers import Window
from numbers_exact import Unsaid, f32, f64, plus, round_to_int


def window_sum(record, codes, zero):
    return sums.accumulate(record["accumulator"], codes, 0) - zero * len(codes)


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


def float_sum(record, a, out, kernel):  # onnxruntime.md QLinearAveragePool
    def one(codes):
        total = Fraction(0)
        for code in codes:
            total = f32(total + f32(a.scale * (code - a.zero)))
        value = f32(f32(total / len(codes)) / out.scale)
        return ending(record, rescale.float_to_int(plus(value, out.zero, f32), record["pool"]["round"]), out)
    return one


KINDS = {"divide": divide, "reciprocal": reciprocal, "rescale": rescaled, "rescale-divide": rescale_divide,
         "two-stage": two_stage, "dpu": dpu, "float-sum": float_sum}
SAME_SCALES = ("divide", "reciprocal", "two-stage")  # between other scales they have no arithmetic of their own


def avg_pool(network):
    """On an image of its own; taps of the padding are not counted."""
    rng = network.rng
    extent = [rng.randint(2, 5), rng.randint(2, 5)]
    kind = network.record["pool"]["kind"]
    window = Window(rng, extent, kind in ("divide", "reciprocal") and rng.random() < 0.4)
    if kind == "float-sum" and window.kernel == extent:
        raise Unsaid("the whole image")
    x = network.input([1, 1] + extent)
    out = network.tensor([1, 1] + window.out, x if kind in SAME_SCALES else None)
    record = network.records("avg_pool", out.name)

    def run():
        one = KINDS[kind](record, x, out, window.kernel)
        places = [window.places(i, j) for i in range(window.out[0]) for j in range(window.out[1])]
        return [one([x.codes[p[0] * extent[1] + p[1]] for p in places_of if p]) for places_of in places]
    network.node(out, "avg_pool(%s) {%s}" % (x.name, window.text()), run)
    return out
