"""What only moves codes, chooses among them, or names their places; table lookups of a network's own."""
import divide
from network import Tensor, count_of, ints
from many import lines_of
from numbers_exact import Unsaid


def places(shape):
    """Every index of a shape, in C order."""
    if not shape:
        return [()]
    return [(i,) + rest for i in range(shape[0]) for rest in places(shape[1:])]


def flat(shape, index):
    at = 0
    for extent, i in zip(shape, index):
        at = at * extent + i
    return at


def taken(network, x, shape, text, source):
    """Each output element is an input element, at source(index), or a code where that is an int already."""
    out = network.tensor(shape, x)

    def run():
        found = [source(index) for index in places(shape)]
        return [x.codes[flat(x.shape, at)] if isinstance(at, tuple) else at for at in found]
    network.node(out, text, run)
    return out


def sliced(network, x):
    rng = network.rng
    step = [rng.choice([1, 1, -1, 2, -2]) for _ in x.shape]
    begin = [rng.randrange(n) for n in x.shape]
    room = [(n - 1 - b) // s + 1 if s > 0 else b // -s + 1 for n, b, s in zip(x.shape, begin, step)]
    size = [rng.randint(1, r) for r in room]
    return taken(network, x, size, "slice(%s) {begin=%s, step=%s, size=%s}" % (x.name, ints(begin), ints(step), ints(size)),
                 lambda index: tuple(b + i * s for b, i, s in zip(begin, index, step)))


def padded(network, x):
    """Constant: the zero point, the least code (-inf), or a code; edge and reflect."""
    rng = network.rng
    mode = rng.choice(["constant", "edge", "reflect"])
    limit = [n - 1 if mode == "reflect" else 2 for n in x.shape]
    begin, end = ([rng.randint(0, min(m, 2)) for m in limit] for _ in "be")
    value, words = x.zero, ""
    if mode == "constant" and rng.random() < 0.3:
        value, words = x.low, ", value=-inf"
    elif mode == "constant" and rng.random() < 0.5:
        value = rng.randint(x.low, x.high)
        words = ", has_code=true, code=%d" % value

    def source(index):
        found = []
        for i, b, n in zip(index, begin, x.shape):
            i -= b
            if mode == "constant" and not 0 <= i < n:
                return value
            if mode == "edge":
                i = min(max(i, 0), n - 1)
            elif n > 1:
                i = -i if i < 0 else 2 * (n - 1) - i if i >= n else i
            found.append(i)
        return tuple(found)
    shape = [b + n + e for b, n, e in zip(begin, x.shape, end)]
    return taken(network, x, shape, "pad(%s) {begin=%s, end=%s, mode=%s%s}" % (x.name, ints(begin), ints(end), mode, words), source)


def gathered(network, x):
    rng = network.rng
    axis = rng.randrange(len(x.shape))
    at = [rng.randrange(x.shape[axis]) for _ in range(rng.randint(1, 4))]
    name = "n%d" % len(network.lines)
    network.lines.append("const %s: i64[%d] = %s" % (name, len(at), ints(at)))
    shape = x.shape[:axis] + [len(at)] + x.shape[axis + 1:]
    return taken(network, x, shape, "gather(%s, %s) {axis=%d}" % (x.name, name, axis),
                 lambda index: index[:axis] + (at[index[axis]],) + index[axis + 1:])


def spread(network, x):
    shape = [network.rng.randint(1, 3)] + x.shape
    return taken(network, x, shape, "expand(%s) {shape=%s}" % (x.name, ints(shape)), lambda index: index[1:])


def blocks(network, x):
    """Depth to space of NCHW images, either order (ONNX DepthToSpace), and back."""
    rng, block = network.rng, 2
    batch, rest = rng.randint(1, 2), [rng.randint(1, 2) for _ in "hw"]
    depth, order, back = rng.randint(1, 2), rng.choice(["dcr", "crd"]), rng.random() < 0.4
    wide, tall = [batch, depth * 4] + rest, [batch, depth] + [2 * n for n in rest]

    def packed(n, c, r, q):
        """The channel of a code at (n, c, r, q) of the tall image."""
        cell = r % block * block + q % block
        return (n, cell * depth + c if order == "dcr" else c * block * block + cell, r // block, q // block)
    x = network.input(tall if back else wide)
    if not back:
        return taken(network, x, tall, "depth_to_space(%s) {block=2, order=%s}" % (x.name, order), lambda index: packed(*index))
    found = {packed(*index): index for index in places(tall)}
    return taken(network, x, wide, "space_to_depth(%s) {block=2, order=%s}" % (x.name, order), lambda index: found[index])


def looked_up(network, x):
    """A table of the network's own: an entry per code, from the least."""
    if x.kind[0] > 12:
        raise Unsaid("a long table; one of more than 16 bits is refused")
    out = network.tensor(x.shape, kind=network.other_kind())
    table = network.draw_codes(out.kind, x.high - x.low + 1)
    network.lines.append("const t%s: %s[%d] = %s" % (out.name, out.element(), len(table), ints(table)))
    network.node(out, "lookup(%s, t%s)" % (x.name, out.name), lambda: [table[p - x.low] for p in x.codes])
    return out


class Places(Tensor):
    """Indices: plain integers of 64 bits."""

    def __init__(self, name, shape):
        Tensor.__init__(self, name, shape, (64, True), 1, 0)

    def type(self):
        return "i64[%s]" % ",".join(map(str, self.shape))


def found(network, x):
    """Where an axis has its greatest or least code, the first of them or the last. An output of its own."""
    rng = network.rng
    op, axis, last = rng.choice(["arg_max", "arg_min"]), rng.randrange(len(x.shape)), rng.random() < 0.4
    out = Places("t%d" % len(network.tensors), [1 if i == axis else n for i, n in enumerate(x.shape)])
    network.tensors.append(out)

    def run():
        made = []
        for line in lines_of(x, axis):
            own = [x.codes[i] for i in line]
            best = (max if op == "arg_max" else min)(own)
            at = [i for i, code in enumerate(own) if code == best]
            made.append(at[-1 if last else 0])
        return made
    network.node(out, "%s(%s) {axis=%d%s}" % (op, x.name, axis, ", select_last=true" if last else ""), run)
    return x


def selected(network, x):
    """Codes of two operands of the same parameters, by a comparison of x with a constant."""
    y, bar = network.constant(x.shape, x), network.constant(x.shape, x)
    flags = network.floats(x.shape, "bool")
    record = network.records("less", flags.name, x)

    def run():
        less = divide.compare(record, x, bar, "less")
        return [less(p, q) for p, q in zip(x.codes, bar.codes)]
    network.node(flags, "less(%s, %s)" % (x.name, bar.name), run)
    if network.late:
        return x
    out = network.tensor(x.shape, x)
    network.node(out, "select(%s, %s, %s)" % (flags.name, x.name, y.name),
                 lambda: [p if f else q for f, p, q in zip(flags.codes, x.codes, y.codes)])
    return out


def node(network, x):
    kinds = [sliced, padded, gathered, spread, blocks, looked_up, found, selected]
    return network.rng.choice(kinds if x.count() * 3 < 400 else [looked_up, found, selected])(network, x)
