"""Sums of many codes and running sums, products of codes, maxima (schemes/FORMULAS.md)."""
from fractions import Fraction

import edges
import elements
import fixedpoint as fp
from network import ints
from numbers_exact import Unsaid, f32, f64, round_to_int
from pools import window_sum
from windows import OVER, Image, Window


def total_of(record, a, out):
    """A function of the codes that are added."""
    rule = record["add"]
    bits = min(rule["bits"], 31 - a.kind[0])
    if rule["kind"] != "left-shift" or bits < 1:
        last = elements.requantize(record, elements.form(record, a, out), out)
        return lambda codes: last(window_sum(record, codes, a.zero))
    to = f32 if rule["scale"] == "float32" else f64
    last = elements.requantize(record, to(2 * a.scale / to((1 << bits) * out.scale)), out)

    def one(codes):  # 2.4 ADD_N: a term of -z beside those of all operands, each rescaled by s / 2 s
        terms = [code - a.zero for code in codes] + ([-a.zero] if rule["extra_zero_point"] else [])
        terms.append(window_sum(record, codes, 0) - sum(codes))  # what the accumulator narrowed away
        return last(fp.w32(sum(fp.srdhm(fp.w32(term << bits), 1 << 30) for term in terms)))
    return one


def add_n(network, x):
    rng = network.rng
    others = [network.constant(x.shape, x) if rng.random() < 0.7 else x for _ in range(rng.randint(0, 4))]
    out = network.tensor(x.shape, kind=network.next_kind(x))
    record = network.records("add_n", out.name, x)

    def run():
        one = total_of(record, x, out)
        return [one(own) for own in zip(*[t.codes for t in [x] + others])]
    network.node(out, "add_n(%s)%s" % (", ".join(t.name for t in [x] + others), network.bounds(out)), run)
    return out


def lines_of(x, axis):
    """Elements' indices along an axis, a list for each line."""
    inner = 1
    for extent in x.shape[axis + 1:]:
        inner *= extent
    size = x.shape[axis]
    return [[outer * size * inner + i * inner + j for i in range(size)]
            for outer in range(x.count() // (size * inner)) for j in range(inner)]


def cumsum(network, x):
    rng = network.rng
    axis, exclusive, reverse = rng.randrange(len(x.shape)), rng.random() < 0.4, rng.random() < 0.4
    out = network.tensor(x.shape, kind=network.next_kind(x))
    record = network.records("cumsum", out.name, x)

    def run():
        one = total_of(record, x, out)
        made = [0] * x.count()
        for line in lines_of(x, axis):
            line = line[::-1] if reverse else line
            for count, at in enumerate(line):
                made[at] = one([x.codes[i] for i in line[:count + (not exclusive)]])
        return made
    network.node(out, "cumsum(%s) {axis=%d%s%s}" % (
        x.name, axis, ", exclusive=true" if exclusive else "", ", reverse=true" if reverse else ""), run)
    return out


def between(record, a, out):
    """What has other parameters than its input: a rescale, or a table (unary.rescale)."""
    if elements.same(a, out):
        return lambda p: elements.ending(record, p, out)
    return elements.change(record, a, out)


def clip(network, x):
    """Between real bounds, which become codes as the section convert says."""
    out = network.tensor(x.shape, x if network.rng.random() < 0.3 else None, kind=network.next_kind(x))
    record = network.records("clip", out.name, x)
    ends = sorted(f32(out.scale * Fraction(network.rng.randint(-80, 80), 2)) for _ in "ab")

    def run():
        out.bounds = edges.bounds_of(record, out, *ends)
        one = between(record, x, out)
        return [one(p) for p in x.codes]
    network.node(out, "clip(%s) {lo=%s, hi=%s}" % (x.name, float(ends[0]), float(ends[1])), run)
    return out


def extreme(network, x):
    """Greatest or least of an axis, then as rescale."""
    rng = network.rng
    op = rng.choice(["reduce_max", "reduce_min"])
    axis = rng.randrange(len(x.shape))
    out = network.tensor([1 if i == axis else n for i, n in enumerate(x.shape)], x if rng.random() < 0.4 else None, kind=network.next_kind(x))
    record = network.records(op, out.name, x)

    def run():
        one = between(record, x, out)
        return [one((max if op == "reduce_max" else min)(x.codes[i] for i in line)) for line in lines_of(x, axis)]
    network.node(out, "%s(%s) {axes=%s}%s" % (op, x.name, ints([axis]), network.bounds(out)), run)
    return out


def max_pool(network, x):
    """On an image; the padding is never the greatest."""
    rng = network.rng
    image = Image(network.image(x), rng.random() < 0.4)
    x = image.x
    window = Window(rng, image.extent, rng.random() < 0.5, rng.random() < 0.3)
    out = network.tensor(image.shape(image.depth, window.out), x if rng.random() < 0.4 else None, kind=network.next_kind(x))
    record = network.records("max_pool", out.name, x)

    def run():
        one = between(record, x, out)
        return [one(max(image.code(n, d, *p) for p in window.cells(i, j) if p not in (None, OVER)))
                for n, d, i, j in image.order(image.depth, window.out)]
    network.node(out, "max_pool(%s) {%s, %s%s}%s" % (
        x.name, image.layout(), window.text(), ", ceil_mode=true" if window.ceil else "", network.bounds(out)), run)
    return out


def moved(network, x):
    """What only moves codes."""
    rng = network.rng
    op = rng.choice(["concat", "reverse", "transpose", "tile"])
    axis = rng.randrange(len(x.shape))
    lines = lines_of(x, axis)
    if op == "concat":
        y = network.constant(x.shape, x)
        shape = [n * (1 + (i == axis)) for i, n in enumerate(x.shape)]
        text, rows = "concat(%s, %s) {axis=%d}" % (x.name, y.name, axis), [
            [x.codes[i] for i in line] + [y.codes[i] for i in line] for line in lines]
    elif op == "transpose" and len(x.shape) == 2:
        out = network.tensor(x.shape[::-1], x)
        network.node(out, "transpose(%s) {perm=[1,0]}" % x.name,
                     lambda: [x.codes[r * x.shape[1] + c] for c in range(x.shape[1]) for r in range(x.shape[0])])
        return out
    elif op == "tile":
        shape = [n * (1 + (i == axis)) for i, n in enumerate(x.shape)]
        text = "tile(%s) {repeats=%s}" % (x.name, ints([1 + (i == axis) for i in range(len(x.shape))]))
        rows = [[x.codes[i] for i in line] * 2 for line in lines]
    else:
        shape, text = x.shape, "reverse(%s) {axes=[%d]}" % (x.name, axis)
        rows = [[x.codes[i] for i in line[::-1]] for line in lines]
    out = network.tensor(shape, x)

    def run():
        made = [0] * out.count()
        for line, row in zip(lines_of(out, axis), rows):
            for at, code in zip(line, row):
                made[at] = code
        return made
    network.node(out, text, run)
    return out


def product(network, x):
    """reduce_prod (2.4, 2.2): each product is rescaled by s / s_out^(1/n)."""
    rng = network.rng
    axis = rng.randrange(len(x.shape))
    count = x.shape[axis]
    out = network.tensor([1 if i == axis else n for i, n in enumerate(x.shape)], kind=network.next_kind(x))
    record = network.records("reduce_prod", out.name, x)
    if not record["rescale"]["reduced_bits"]:
        raise Unsaid("no product of codes is defined")

    def run():
        real = f64(x.scale / Fraction(float(out.scale) ** (1.0 / count)))
        step, last = elements.bare(record, real), elements.requantize(record, real, out)
        made = []
        for line in lines_of(x, axis):
            total = x.codes[line[0]] - x.zero
            for at in line[1:]:
                total = step(total * (x.codes[at] - x.zero))
            made.append(last(total))
        return made
    network.node(out, "reduce_prod(%s) {axes=[%d]}" % (x.name, axis), run)
    return out
