"""Resize of an image: nearest, and bilinear of integer weights (TFLite in schemes/SOURCES.md)."""
import math
from fractions import Fraction

import elements
import many
from network import ints
from numbers_exact import f32, number, round_to_int

HALF = Fraction(1, 2)


def place(coordinate, i, size, out):
    """Where an output's index lies in the input, exactly."""
    if coordinate == "align_corners":
        return Fraction(i * (size - 1), out - 1) if out > 1 else Fraction(0)
    if coordinate == "asymmetric":
        return Fraction(i * size, out)
    return (i + HALF) * Fraction(size, out) - HALF


def nearest(coordinate, how, i, size, out):
    """ONNX Resize, its nearest_mode."""
    mode = {"round_prefer_floor": lambda x: math.ceil(x - HALF), "round_prefer_ceil": lambda x: math.floor(x + HALF),
            "floor": math.floor, "ceil": math.ceil}[how]
    at = place(coordinate, i, size, out)
    return min(max(mode(at), 0), size - 1)


LINEAR = ["align_corners", "asymmetric", "tflite_half_pixel", "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"]


def weights(bits, coordinate, i, size, out, scale=None):
    """(lower, upper, weight of the upper), in the words of 2.4 RESIZE_BILINEAR, where F = 10; scale: a given one, for
    which schemes/FORMULAS.md has the step."""
    one = 1 << bits
    half = "half_pixel" in coordinate and not (coordinate == "pytorch_half_pixel" and out == 1)
    if coordinate == "align_corners" and out > 1:
        step = (((size - 1) << bits) + (out - 1) // 2) // (out - 1)
    elif scale:
        step = round_to_int(f32(one / scale), "half-up")
    else:
        step = ((size << bits) + out // 2) // out
    v = i * step + (step // 2 - one // 2 if half else 0)
    if scale and coordinate == "half_pixel_symmetric":
        v = i * step + ((size - 1) * one - (out - 1) * step) // 2
    lower = max(round_to_int(Fraction(v, one), "trunc"), 0)
    upper = min(round_to_int(Fraction(v + one - 1, one), "trunc"), size - 1)
    if lower >= size - 1:  # the page's kernel would read beyond the image; schemes/FORMULAS.md: v stays within
        return size - 1, size - 1, 0
    return lower, upper, v - one * lower


def bilinear(record, coordinate, at, position, extent, out_extent, scales):
    rule = record["resize"]
    rows, columns = (weights(rule["bits"], coordinate, p, n, o, scale) for p, n, o, scale in zip(position, extent, out_extent, scales))
    one, total = 1 << rule["bits"], 0
    for r, wr in ((rows[0], one - rows[2]), (rows[1], rows[2])):
        for c, wc in ((columns[0], one - columns[2]), (columns[1], columns[2])):
            total += at(r, c) * wr * wc
    return round_to_int(Fraction(total, one * one), rule["round"])


def node(network, x):
    """x: an image of one layout or the other."""
    rng = network.rng
    nhwc = rng.random() < 0.4
    batch, depth = x.shape[0], x.shape[3 if nhwc else 1]
    extent = x.shape[1:3] if nhwc else x.shape[2:]
    out_extent = [rng.randint(1, 6) for _ in extent]
    scales = [None, None]
    linear = network.records("resize", "", x)["resize"]["kind"] != "none" and rng.random() < 0.6
    coordinate = rng.choice(LINEAR if linear else
                            ["align_corners", "asymmetric", "half_pixel"])
    if linear and rng.random() < 0.4:  # the extents come from them in ONNX; a text may have any
        scales = [f32(Fraction(o, n) * (1 + Fraction(rng.randint(0, 99), 100 * o))) for n, o in zip(extent, out_extent)]
    how = rng.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    shape = [batch] + out_extent + [depth] if nhwc else [batch, depth] + out_extent
    out = network.tensor(shape, None if rng.random() < 0.4 else x, kind=network.next_kind(x))
    other = (out.scale, out.zero, out.kind) != (x.scale, x.zero, x.kind)  # drawn ones may be equal
    record = network.records("resize", out.name, x)
    change = (lambda: elements.requantize(record, elements.form(record, x, out), out)) if linear else (
        lambda: many.between(record, x, out))

    def at(n, d, r, c):
        index = ((n * extent[0] + r) * extent[1] + c) * depth + d if nhwc else \
            ((n * depth + d) * extent[0] + r) * extent[1] + c
        return x.codes[index]

    def value(n, d, r, c):
        if linear:
            return bilinear(record, coordinate, lambda i, j: at(n, d, i, j), (r, c), extent, out_extent, scales)
        return at(n, d, *(nearest(coordinate, how, p, s, o) for p, s, o in zip((r, c), extent, out_extent)))

    def run():
        planes = [(r, c) for r in range(out_extent[0]) for c in range(out_extent[1])]
        if not other:
            one = lambda code: elements.ending(record, code, out)
        elif linear:
            rescaled = change()
            one = lambda code: rescaled(code - x.zero)
        else:
            one = change()
        return [one(value(n, d, r, c)) for n in range(batch) for d, r, c in (
            [(d, r, c) for r, c in planes for d in range(depth)] if nhwc else
            [(d, r, c) for d in range(depth) for r, c in planes])]
    text = "layout=%s, coordinate=%s, size=%s, " % ("nhwc" if nhwc else "nchw", coordinate, ints(shape))
    text += "mode=linear" if linear else "nearest=" + how
    if scales[0]:
        own = [1, *scales, 1] if nhwc else [1, 1, *scales]
        text += ", scales=[%s]" % ",".join(map(number, own))
    network.node(out, "resize(%s) {%s}" % (x.name, text), run)
    return out
