"""The kinds of ADD and of average pools (sections add and pool of schemes/record/record.def), and an output."""
import math
from fractions import Fraction

import bundle_arrays as tensors
from record_rules import Rescale, Unknown, f32, formed, narrow, rounded, shifted, to_int, wrap


class Output:
    def __init__(self, bundle, node):
        name = node["outputs"][0]
        entry = bundle.entry[name]
        self.zero, self.scale = int(bundle.zero(name)), f32(bundle.scale(name))
        self.bits, self.signed = entry["bits"], not entry["dtype"].startswith("u")
        self.lo, self.hi = tensors.bounds(bundle, node, name)
        if node["op"] == "relu":
            self.lo = max(self.lo, self.zero)
        given = node["attributes"]
        self.act_lo = self.lo if "act_lo" in given or node["op"] == "relu" else -math.inf
        self.act_hi = self.hi if "act_hi" in given else math.inf

    def clamp(self, v):
        return min(max(v, self.lo), self.hi)

    def store(self, k, v):
        """A value as the output's type holds it."""
        if k["store"] == "wrap":
            v = min(max(v, self.act_lo), self.act_hi)
            return wrap(v, self.bits) if self.signed else v % 2**self.bits
        return self.clamp(v)

    def finish(self, k, v):
        zero = 0 if k["zero_point"] == "before" else self.zero
        return self.store(k, narrow(v + zero, k["sum_bits"], k["sum_overflow"]))


def adder(rec, s1, s2, out, sign):
    """ADD and SUB of centred codes x, y."""
    a, k = rec["add"], rec["rescale"]
    kind, bits, mode = a["kind"], a["bits"], a["round"]
    r1, r2 = f32(s1 / out.scale), f32(s2 / out.scale)
    if kind == "left-shift":
        real = f32 if a["scale"] == "float32" else float
        t = real(2) * max(real(s1), real(s2))
        u1, u2 = (Rescale(k, float(real(s) / t)) for s in (s1, s2))
        uo = Rescale(k, float(t / (real(2**bits) * real(out.scale))))
        return lambda x, y: uo.code(wrap(u1.value(wrap(x << bits, 32)) +
                                         sign * u2.value(wrap(y << bits, 32)), 32), out)
    if kind == "common-exponent":
        shift = bits - (math.frexp(float(max(r1, r2)))[1] - 1)
        m1, m2 = (round(float(r) * 2.0**shift) for r in (r1, r2))
        return lambda x, y: out.finish(k, shifted(wrap(x * m1 + sign * y * m2, 32), shift, mode))
    if kind == "separate":
        u1, u2 = (Rescale(k, formed(k, s, f32(1), out.scale, True), (s, f32(1), out.scale))
                  for s in (s1, s2))
        return lambda x, y: out.finish(k, u1.value(x) + sign * u2.value(y))
    if kind == "align-power-of-two":
        e1, e2, eo = (math.frexp(float(s))[1] for s in (s1, s2, out.scale))
        coarse = max(e1, e2)
        return lambda x, y: out.finish(k, shifted(
            shifted(x << bits, coarse - e1, a["align_round"]) +
            sign * shifted(y << bits, coarse - e2, a["align_round"]), bits + eo - coarse, mode))
    if kind == "plain":
        return lambda x, y: out.finish(k, x + sign * y)

    def end(f):
        if a["zero_point"] == "inside":
            return out.store(k, to_int(f32(f + f32(out.zero)), mode))
        return out.store(k, to_int(f, mode) + out.zero)
    if kind == "float-real":
        return lambda x, y: end(f32(f32(f32(f32(x) * s1) + sign * f32(f32(y) * s2)) / out.scale))
    if kind == "float-ratio":
        return lambda x, y: end(f32(f32(f32(x) * r1) + sign * f32(f32(y) * r2)))
    if kind == "fixed-scale":
        fixed = f32(2.0**-bits)
        f1, f2, fo = f32(s1 / fixed), f32(s2 / fixed), f32(fixed / out.scale)
        return lambda x, y: out.store(k, to_int(f32(f32(f32(
            to_int(f32(f32(x) * f1), mode) + sign * to_int(f32(f32(y) * f2), mode)) * fo) +
            f32(out.zero)), mode))
    raise Unknown(f"add.kind {kind}")


def pooler(op, rec, s_in, zero, out, sides, include_pad):
    """A sum of raw codes over `count` cells of a window with these sides."""
    depth = math.prod(sides)
    p, k = rec["pool"], rec["rescale"]
    kind = p["kind"]
    ratio = formed(k, s_in, f32(1), out.scale, True)
    steps = (s_in, f32(1), out.scale)
    if op == "reduce_sum":
        unit = Rescale(k, ratio, steps)
        return lambda s, n: unit.code(s - n * zero, out)

    def divided(n):
        if k["scale"] in ("f32", "f32-reciprocal", "f32-steps"):
            if p["scale"] == "in/out/count":
                return float(f32(f32(s_in / out.scale) / f32(n)))
            return float(f32(s_in / f32(out.scale * f32(n))))
        return float(s_in) / float(out.scale) / n

    def to_output(code):
        if (s_in, zero) == (out.scale, out.zero):
            return out.store(k, code)
        return Rescale(k, ratio, steps).code(code - zero, out)
    if kind == "divide":
        if p["keep_zero_point"]:
            return lambda s, n: to_output(rounded(Fraction(s, n), p["round"]))
        return lambda s, n: to_output(rounded(Fraction(s - n * zero, n), p["round"]) + zero)
    if kind == "reciprocal":
        def reciprocal(s, n):
            e = (n - 1).bit_length()
            return to_output(shifted((s - n * zero) * (((2**30 + 1) << e) // n), 30 + e,
                                     "half-up") + zero)
        return reciprocal
    if kind == "two-stage":
        def two(s, n):
            v = s - n * zero
            for side in reversed(sides):
                v = shifted(v * (65536 // side), 16, "half-away")
            return to_output(v + zero)
        return two
    if kind == "rescale-divide" and op == "avg_pool" and not include_pad:
        unit = Rescale(k, ratio, steps)
        return lambda s, n: out.finish(k, rounded(Fraction(unit.value(s - n * zero), n),
                                                  p["round"]))
    if kind in ("rescale", "rescale-divide") or (kind == "float-sum" and op != "avg_pool"):
        return lambda s, n: Rescale(k, divided(n)).code(s - n * zero, out)
    if kind == "divided-multiplier":
        def divided_multiplier(s, n):
            unit = Rescale(k, ratio)
            m, shift = unit.listed
            room = min(n.bit_length() - 1, 32, 31 + k["multiplier_bits"] - shift)
            unit.m, unit.shift = (m << max(room, 0)) // n, shift + max(room, 0)
            return unit.code(s - n * zero, out)
        return divided_multiplier
    if kind == "dpu":
        known = {3: (7, 6), 5: (10, 8), 6: (7, 8), 7: (21, 10), 14: (21, 12)}
        if len(sides) == 2 and sides[0] == sides[1] and sides[0] in known:
            n_, m_ = known[sides[0]]
        else:
            trials = [(round_half_away(2**b / depth), b)
                      for b in range(math.ceil(math.log2(128 * depth)))]
            n_, m_ = min(trials, key=lambda t: abs(t[0] / 2 ** t[1] - 1 / depth))
        more = math.frexp(float(out.scale))[1] - math.frexp(float(s_in))[1]
        return lambda s, n: out.finish(k, shifted((s - n * zero) * n_, m_ + more, p["round"]))
    raise Unknown(f"pool.kind {kind}")


def round_half_away(x):
    return rounded(Fraction(x), "half-away")
