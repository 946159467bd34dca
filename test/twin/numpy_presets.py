"""Rescales of single accumulators, ADD and pools of five presets, on Python's integers and floats, for numpy_model.py. The
formulas are those of TFLite and Glow (schemes/SOURCES.md), and npu16.yaml's comments for that example."""
import math

import numpy as np

from bundle_arrays import half_away
from record_rules import glow_triplet

f32 = np.float32


# ---- roundings on Python integers and floats ----
def half_up_shift(n, s):
    return (n + (1 << (s - 1))) >> s if s > 0 else n << -s


def half_away_shift(n, s):
    return n if s == 0 else (half_up_shift(n, s) if n >= 0 else -half_up_shift(-n, s))


def wrap32(x):
    return (x + 2**31) % 2**32 - 2**31


def quantize_multiplier(d, cap=False):
    """TFLite: d = m * 2^(shift - 31), m of 31 bits."""
    if d == 0:
        return 0, 0
    q, e = math.frexp(d)
    m = half_away(q * 2**31)
    if m == 2**31:
        m, e = m // 2, e + 1
    if e < -31:
        return 0, 0
    if cap and e > 30:
        return 2**31 - 1, 30
    return m, e


def mbqm_double(x, m, shift):
    left, right = max(shift, 0), max(-shift, 0)
    return half_away_shift(half_up_shift(wrap32(x << left) * m, 31), right)


def mbqm_single(x, m, shift):
    return half_up_shift(x * m, 31 - shift)


def glow_scale(x, t):
    pre, post, m = t
    y = wrap32((x >> pre) * m)
    return half_up_shift(y, post) if post else y


def round_div(n, d):
    """Half away from zero, as C's truncating division of n +- d / 2."""
    return (n + d // 2) // d if n > 0 else -((-n + d // 2) // d)


# ---- presets ----
# derive(op, s_in, s_w, s_out, per_channel) -> key and apply(op, acc, key, zero) -> code are the
# rescale of one accumulator; add(a, b, sign, ...) is ADD and SUB; pool takes the sum of `count` raw
# codes. Codes are before clamping. names: how a key is called in the manifest.
class Tflite:
    names = ("multiplier", "shift")

    def __init__(self, single):
        self.mbqm = mbqm_single if single else mbqm_double
        self.cap = single

    def quantize_multiplier(self, d):
        return quantize_multiplier(d, self.cap)

    def derive(self, op, s_in, s_w, s_out, per_channel):
        if op == "fc" and not per_channel:
            return self.quantize_multiplier(float(f32(s_in) * f32(s_w)) / float(s_out))
        return self.quantize_multiplier(float(s_in) * float(s_w) / float(s_out))

    def apply(self, op, acc, key, zero):
        return self.mbqm(acc, *key) + zero

    def add(self, a, b, sign, s1, s2, so, z1, z2, zo):
        real = float if sign > 0 else f32  # TFLM's SUB forms the ratios in float32
        t = real(2) * max(real(s1), real(s2))
        k1, k2 = (self.quantize_multiplier(float(real(s) / t)) for s in (s1, s2))
        ko = self.quantize_multiplier(float(t / (real(1 << 20) * real(so))))
        s = self.mbqm((a - z1) << 20, *k1) + sign * self.mbqm((b - z2) << 20, *k2)
        return self.mbqm(s, *ko) + zo

    def pool(self, op, raw, count, include_pad, s_in, s_out, z_in, z_out):
        if op in ("reduce_mean", "reduce_sum"):
            m, shift = self.quantize_multiplier(float(s_in) / float(s_out))
            if op == "reduce_mean":
                bits = min(count.bit_length() - 1, 32, 31 + shift)
                m, shift = (m << bits) // count, shift - bits
            return self.mbqm(raw - count * z_in, m, shift) + z_out
        code = round_div(raw, count)
        if (s_in, z_in) == (s_out, z_out):
            return code
        return self.mbqm(code - z_in, *self.quantize_multiplier(float(s_in) / float(s_out))) + z_out


class GlowInterpreter:
    names = None

    def derive(self, op, s_in, s_w, s_out, per_channel):
        return f32(f32(s_in) * f32(s_w)) / f32(s_out)

    def apply(self, op, acc, key, zero):
        product = f32(f32(acc) * key)
        if op in ("fc", "mul"):  # the offset is added after rounding, but elsewhere before
            return half_away(float(product)) + zero
        return half_away(float(f32(product + f32(zero))))

    def add(self, a, b, sign, s1, s2, so, z1, z2, zo):
        if sign < 0:  # ElementSub works in real numbers, ElementAdd at a fixed scale
            x = f32(f32(s1 / so) * f32(a - z1))
            y = f32(f32(s2 / so) * f32(b - z2))
            return half_away(float(f32(f32(x - y) + f32(zo))))
        fixed = f32(2.0**-15)
        x = half_away(float(f32(f32(a - z1) * f32(s1 / fixed))))
        y = half_away(float(f32(f32(b - z2) * f32(s2 / fixed))))
        return half_away(float(f32(f32(f32(x + y) * f32(fixed / so)) + f32(zo))))

    def pool(self, op, raw, count, include_pad, s_in, s_out, z_in, z_out):
        if op == "reduce_sum":
            return half_away(float(f32(f32(raw - count * z_in) * f32(s_in / s_out)))) + z_out
        scale = f32(f32(s_in / s_out) / f32(count))
        return half_away(float(f32(f32(f32(raw - count * z_in) * scale) + f32(z_out))))


class GlowCpu(GlowInterpreter):
    names = ("pre", "shift", "multiplier")

    def derive(self, op, s_in, s_w, s_out, per_channel):
        return glow_triplet(f32(f32(s_in) * f32(s_w)) / f32(s_out))

    def apply(self, op, acc, key, zero):
        return glow_scale(acc, key) + zero

    def add(self, a, b, sign, s1, s2, so, z1, z2, zo):
        x = glow_scale(a - z1, glow_triplet(s1 / so))
        return x + sign * glow_scale(b - z2, glow_triplet(s2 / so)) + zo

    def pool(self, op, raw, count, include_pad, s_in, s_out, z_in, z_out):
        ratio, centred = f32(s_in / s_out), raw - count * z_in
        if op == "reduce_sum":
            return glow_scale(centred, glow_triplet(ratio)) + z_out
        if op == "avg_pool" and not include_pad:
            return round_div(glow_scale(centred, glow_triplet(ratio)), count) + z_out
        return glow_scale(centred, glow_triplet(f32(ratio / f32(count)))) + z_out


class Npu16:
    """The narrow example: 16-bit multiplier of the double ratio, right shift 0..63, half up."""

    names = ("multiplier", "shift")

    def encode(self, real):
        fraction, exponent = math.frexp(real)
        m = half_away(fraction * 2**16)
        if m == 2**16:
            m, exponent = 2**15, exponent + 1
        shift = 16 - exponent
        if shift > 63:
            m, shift = half_away(real * 2.0**63), 63
        return m, shift

    def derive(self, op, s_in, s_w, s_out, per_channel):
        return self.encode(float(s_in) * float(s_w) / float(s_out))

    def apply(self, op, acc, key, zero):
        m, shift = key
        acc = min(max(acc, -(2**31)), 2**31 - 1)
        return half_up_shift(acc * m, shift) + zero

    def add(self, a, b, sign, s1, s2, so, z1, z2, zo):
        r1, r2 = f32(s1 / so), f32(s2 / so)
        shift = 15 - (math.frexp(float(max(r1, r2)))[1] - 1)
        k1, k2 = (round(float(r) * 2.0**shift) for r in (r1, r2))  # Python rounds half to even
        return half_up_shift((a - z1) * k1 + sign * (b - z2) * k2, shift) + zo

    def pool(self, op, raw, count, include_pad, s_in, s_out, z_in, z_out):
        real = float(s_in) / float(s_out)
        if op != "reduce_sum":
            real /= count
        return self.apply(op, raw - count * z_in, self.encode(real), z_out)


PRESETS = {
    "tflite": Tflite(False),
    "tflite-single": Tflite(True),
    "glow-interp": GlowInterpreter(),
    "glow-cpu": GlowCpu(),
    "npu16": Npu16(),
}
