"""Floats to codes and back: section convert."""
import math
from fractions import Fraction

import rescale
from numbers_exact import Refused, clamp, f32, f64, plus, times

ONE = Fraction(1)


def whole_of(record, out):
    """A function of floats: their codes, beyond the type too."""
    rule = record["convert"]
    inverse = f32(ONE / out.scale)

    def one(x):
        to = f64 if rule["division"] == "divide-float64" else f32
        value = times(x, inverse, f32) if rule["division"] == "reciprocal" else to(x / out.scale)
        if rule["zero_point"] == "inside":
            return rescale.float_to_int(plus(value, out.zero, to), rule["round"])
        return rescale.float_to_int(value, rule["round"]) + out.zero
    return one


def quantize(record, out):
    one = whole_of(record, out)
    return lambda x: clamp(one(x), out.low, out.high)


def bounds_of(record, out, low, high):
    """Real bounds as codes of the type; high None: there is none, so that what wraps does so above."""
    one = whole_of(record, out)
    ends = one(low), out.high if high is None else one(high)
    if ends[0] > out.high or ends[1] < out.low:
        raise Refused("a fused activation that leaves no code of the output")
    return [clamp(ends[0], out.low, out.high), math.inf if high is None else clamp(ends[1], out.low, out.high)]


def dequantize(record, x):
    """In the precision that convert says; floats are binary32."""
    to = f32 if record["convert"]["dequantize"] == "float32" else f64
    return lambda p: f32(to(x.scale * to(p - x.zero)))


def floats_to_codes(network, x):
    """x: a tensor of floats"""
    out = network.tensor(x.shape)
    record = network.records("quantize", out.name, x)

    def run():
        one = quantize(record, out)
        return [one(v) for v in x.codes]
    network.node(out, "quantize(%s)" % x.name, run)
    return out


def there_and_back(network, x):
    """Floats are an output of their own, so that nothing takes the pair for a rescale."""
    real = network.floats(x.shape)
    record = network.records("dequantize", real.name, x)
    network.node(real, "dequantize(%s)" % x.name, lambda: [dequantize(record, x)(p) for p in x.codes])
    return floats_to_codes(network, real)


def given(network, shape):
    """Floats of an input, ties of the codes among them."""
    rng = network.rng
    x = network.floats(shape)
    network.inputs.append("input %s: %s" % (x.name, x.type()))
    x.given = True
    x.codes = [f32(Fraction(rng.choice([rng.uniform(-3, 3), rng.uniform(-300, 300), rng.randint(-64, 64) / 32,
                                        rng.choice([-1, 1]) * 10.0 ** rng.randint(5, 30)]))) for _ in range(x.count())]
    return floats_to_codes(network, x)
