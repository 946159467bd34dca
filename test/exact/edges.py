"""Floats to codes and back: section convert."""
from fractions import Fraction

import rescale
from numbers_exact import clamp, f32, f64, plus, times

ONE = Fraction(1)


def quantize(record, out):
    rule = record["convert"]
    inverse = f32(ONE / out.scale)

    def one(x):
        to = f64 if rule["division"] == "divide-float64" else f32
        value = times(x, inverse, f32) if rule["division"] == "reciprocal" else to(x / out.scale)
        if rule["zero_point"] == "inside":
            whole = rescale.float_to_int(plus(value, out.zero, to), rule["round"])
        else:
            whole = rescale.float_to_int(value, rule["round"]) + out.zero
        return clamp(whole, out.low, out.high)
    return one


def dequantize(record, x):
    """A product of 41 bits at most: exact in float64, and once rounded in float32."""
    return lambda p: f32(x.scale * (p - x.zero))


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
