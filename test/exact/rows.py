"""Softmax and L2 norm: a row of codes, by the kinds of record.def and the targets of
schemes/SOURCES.md."""
import functools
import math
from fractions import Fraction

import fixedpoint as fp
import functions
import rescale
from numbers_exact import INT32_MIN, Unsaid, clamp, f32, f64, narrow, round_to_int, wrap
from tables import interpolate, points

ONE = Fraction(1)


def scaled_input(record, a, beta):  # 2.4 SOFTMAX
    limit = (1 << 30) - 1 if fp.single(record) else (1 << 31) - 1
    m, left = fp.quantize_multiplier(min(f64(f64(f64(beta) * a.scale) * (1 << 26)), Fraction(limit)))
    if m == 0 or left < 0:
        raise Unsaid("an input scale below 2^-26")
    return m, left, (31 << 26) // (1 << left)


def fixed_point(record, a, out, beta):
    m, left, radius = scaled_input(record, a, beta)

    def row(codes):
        top = max(codes)
        terms = [fp.exp_neg(fp.by_multiplier(c - top, m, left, fp.single(record)), 5) if c - top >= -radius else None
                 for c in codes]
        total = sum(fp.rdbp(e, 12) for e in terms if e is not None)
        inverse, over = fp.reciprocal(total, 12)
        shift = over + 31 - out.kind[0]
        return [out.low if e is None else clamp(fp.rdbp(fp.srdhm(inverse, e), shift) + out.low, out.low, out.high)
                for e in terms]
    return row


def float_table(record, a, out, beta):  # 3.1 SOFTMAX int8
    step = f32(-a.scale * beta)

    def row(codes):
        top = max(codes)
        terms = [f32(functions.exp(f32(step * (top - c)))) for c in codes]
        total = Fraction(0)
        for e in terms:
            total = f32(total + e)
        inverse = f32(ONE / f32(total * out.scale))
        return [clamp(round_to_int(f32(e * inverse), "half-away") + out.zero, out.low, out.high) for e in terms]
    return row


def integer_table(record, a, out, beta):  # 5.1 SOFTMAX qu8
    def row(codes):
        scale = min(f64(Fraction((1 << 32) - 1, len(codes))), Fraction((1 << 23) - 1))
        top = max(codes)
        terms = [round_to_int(f64(scale * f64(functions.exp(f64((c - top) * f64(a.scale * beta))))), "half-even") for c in codes]
        total = sum(terms)
        return [min(out.high, out.low + ((e << 8) + total // 2) // total) for e in terms]
    return row


def q31_table(record, a, out, beta):  # Glow, CPU backend
    def row(codes):
        top = max(codes)
        terms = [min(round_to_int(f32(functions.exp(f32(a.scale * beta * (c - top)))) * (1 << 31), "half-away"),
                     (1 << 32) - 1) for c in codes]
        unit = round_to_int(f32(65536 / out.scale), "half-away")
        return [clamp(round_to_int(Fraction(e * unit, sum(terms) << 16), "half-up") + out.zero, out.low, out.high)
                for e in terms]
    return row


def beyond_float32(out):
    """INT32_MIN + zero point, clamped after it wrapped, or the low bits of it."""
    value = wrap(INT32_MIN + out.zero, 32)
    return clamp(value, out.low, out.high) if out.kind[1] else wrap(value, out.kind[0], False)


def float_sum(record, a, out, beta):  # ONNX Runtime QLinearSoftmax
    def row(codes):
        largest = f32((Fraction(2) - Fraction(1, 1 << 23)) * (1 << 127) / len(codes))
        shift = f64(f64(max(Fraction(math.log(float(largest))) - 5, 0)) / a.scale)
        top = max(codes)
        terms = [f32(f64(functions.exp(f64(f64(c - top + shift) * a.scale)))) for c in codes]
        total = Fraction(0)
        for e in terms:
            total = f32(total + e)
        unit = f32(Fraction(math.floor(f32(ONE / out.scale))))
        return [beyond_float32(out) if abs(f32(e * unit)) == math.inf else
                clamp(rescale.float_to_int(f32(f32(e * unit) / total), "half-even") + out.zero, out.low, out.high)
                for e in terms]
    return row


@functools.cache
def lut_16_points():
    return (points(lambda x: f32(functions.exp(x)), Fraction(-10), Fraction(0), -ONE, ONE),
            points(lambda x: f32(ONE / f32(1 + x)), Fraction(0), ONE, -ONE, ONE))


def lut_16(record, a, out, beta):  # 2.4 SOFTMAX int16
    exps, inverses = lut_16_points()
    m, left = fp.quantize_multiplier(f64(f64(a.scale * f32(beta)) / f64(Fraction(10, 65535))))

    def row(codes):
        top = max(codes)
        terms = [interpolate(exps, clamp(fp.by_multiplier(c - top, m, left, fp.single(record)) + 32767, -32768, 32767))
                 for c in codes]
        total = sum(terms)
        h = fp.clz32(total)
        x = (total << h - 1) + (1 << 13) >> 14
        inverse = interpolate(inverses, clamp(x - 98304, -32768, 32767))
        return [clamp(e * inverse + (1 << 30 - h) >> 31 - h, 0, 32767) for e in terms]
    return row



def i_bert(record, a, out, beta):  # 8.1 iexp, ACC_SCALE; I-BERT's polynomial in units of the scale
    ln2 = math.floor(f64(Fraction(math.log(2.0)) / a.scale))
    if ln2 == 0 or record["rescale"]["encoding"] != "float32":
        raise Unsaid("a scale above ln 2")
    b = math.floor(f64(Fraction(1.353) / a.scale))
    c = math.floor(Fraction(0.344) / Fraction(0.3585) / (a.scale * a.scale))

    def power(q):
        z = -q * (65536 // ln2) >> 16
        return (q + z * ln2 + b) ** 2 + c >> z

    def row(codes):
        terms = [power(c - max(codes)) for c in codes]
        factor = f32(127 / f32(sum(terms)))
        rule = record["rescale"]
        shares = [rescale.float_to_int(f32(f32(e) * factor), rule["round"][0][1], rule["float_overflow"],
                                       rule["float_rounding"]) for e in terms]
        return [clamp(narrow(v + out.zero, rule["sum_bits"], rule["sum_overflow"]), out.low, out.high) for v in shares]
    return row


SOFTMAX = {"i-bert": i_bert, "fixed-point": fixed_point, "float-table": float_table, "integer-table": integer_table,
           "q31-table": q31_table, "float-sum": float_sum, "lut-16": lut_16}


def log_softmax(record, a, out, beta):  # schemes/FORMULAS.md
    m, left, radius = scaled_input(record, a, beta)
    once = fp.single(record)
    rm, rleft = fp.quantize_multiplier(f64(Fraction(1 << 31 - left, m)))

    def row(codes):
        top = max(codes)
        scaled = {c: fp.by_multiplier(c - top, m, left, once) for c in codes if c - top >= -radius}
        total = sum(fp.rdbp(fp.exp_neg(scaled[c], 5), 12) for c in codes if c in scaled)
        log = fp.logarithm(total, 12, 5)
        least = max(-radius - 1, fp.by_multiplier(log + INT32_MIN, rm, rleft, once))
        return [clamp(fp.rdbp(scaled[c] - log, 22) + out.zero, out.low, out.high) if c - top > least else out.low
                for c in codes]
    return row


def l2_norm(record, a, out, beta):  # 2.4 L2NORM
    def row(codes):
        total = sum((c - a.zero) ** 2 for c in codes)
        m, left = fp.inverse_sqrt(total)
        return [clamp(fp.by_multiplier(c - a.zero, m, left + 7, fp.single(record)), out.low, out.high) for c in codes]
    return row


def node(network, x, op="softmax"):
    """Over the last axis, each row on its own."""
    rng, rule = network.rng, network.records(op, "", x)["softmax"]
    out = network.tensor(x.shape, kind=x.kind)
    kind = rule["kind"]
    bits, signed = out.kind
    if op == "softmax" and (out.kind != (16, True) if kind == "lut-16" else bits > 8):
        raise Unsaid("codes of another width")
    beta = ONE
    if op == "log_softmax":
        out.scale, out.zero = Fraction(1, 16), out.high
    elif op == "l2_norm":
        out.scale, out.zero = Fraction(1, 1 << bits - 1), 0
    elif kind == "lut-16":
        out.scale, out.zero = Fraction(1, 1 << 15), 0
    elif kind in ("fixed-point", "integer-table"):
        out.scale, out.zero = Fraction(1, 1 << bits), out.low
    elif kind == "i-bert":
        out.scale, out.zero = f32(Fraction(1, 127)), 0
    elif rng.random() < 0.6:
        out.scale, out.zero = Fraction(1, 1 << bits), out.low
    if kind in ("fixed-point", "float-table", "lut-16", "q31-table", "integer-table", "float-sum") and op != "l2_norm" and rng.random() < 0.4:
        beta = f32(Fraction(rng.uniform(0.3, 3)))
    record = network.records(op, out.name, x)
    depth = x.shape[-1]

    def run():
        kinds = {"softmax": SOFTMAX.get(record["softmax"]["kind"]), "l2_norm": l2_norm, "log_softmax": log_softmax}
        one = kinds[op](record, x, out, beta)
        return [c for at in range(0, len(x.codes), depth) for c in one(x.codes[at:at + depth])]
    attributes = {"softmax": "axis=%d" % (len(x.shape) - 1), "log_softmax": "axis=%d" % (len(x.shape) - 1),
                  "l2_norm": "axis=%d, epsilon=0.0" % (len(x.shape) - 1)}
    text = attributes[op] + (", beta=%s" % repr(float(beta)) if beta != 1 else "")
    network.node(out, "%s(%s) {%s}" % (op, x.name, text), run)
    return out
