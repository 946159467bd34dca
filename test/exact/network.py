"""A network under work: its text, its tensors, and what the model says of each."""
from fractions import Fraction

import edges
from numbers_exact import Refused, Unsaid, f32, number, signed_range


def ints(values):
    return "[" + ",".join(map(str, values)) + "]"


def count_of(shape):
    size = 1
    for extent in shape:
        size *= extent
    return size


def range_of(kind):
    """kind: (bits, signed)"""
    return signed_range(kind[0]) if kind[1] else (0, (1 << kind[0]) - 1)


class Tensor:
    """codes: C order. low, high: the codes it may hold. bounds: of a fused activation."""

    def __init__(self, name, shape, kind, scale, zero):
        self.name, self.shape, self.kind, self.scale, self.zero = name, shape, kind, scale, zero
        self.low, self.high = range_of(kind)
        self.codes, self.given, self.bounds, self.given_zero, self.given_scale = None, False, None, None, None

    def last_zero(self):
        """The zero point of the rescale that makes it: its own, or what the scheme's file states for the node."""
        return self.zero if self.given_zero is None else self.given_zero

    def element(self):
        return "%s%d" % ("i" if self.kind[1] else "u", self.kind[0])

    def count(self):
        return count_of(self.shape)

    def file_kind(self):
        return "%sint%d" % ("" if self.kind[1] else "u", 8 if self.kind[0] <= 8 else 16 if self.kind[0] <= 16 else 32)

    def file_values(self):
        return self.codes

    def taken(self, values):
        """What a file holds as the model's numbers."""
        return values

    def type(self):
        return "%s[%s] q(%s,%d)" % (self.element(), ",".join(map(str, self.shape)), number(self.scale), self.zero)


class Floats(Tensor):
    """codes: rationals, or 0 and 1 with element bool."""

    def __init__(self, name, shape, word="f32"):
        Tensor.__init__(self, name, shape, (8, word != "bool"), 1, 0)
        self.word = word

    def file_kind(self):
        return "float32"

    def file_values(self):
        return [float(v) for v in self.codes]

    def taken(self, values):
        return values if self.word == "bool" else [Fraction(v) for v in values]

    def type(self):
        return "%s[%s]" % (self.word, ",".join(map(str, self.shape)))


class Network:
    """records: a function of an op, a node's name, its first operand and whether it lacks the wide bias that makes
    weighted nodes wide: the record in force for it. given: what the scheme's file states for a node, by its name."""

    def __init__(self, rng, record, records):
        self.rng, self.record, self.records = rng, record, records
        types = record["types"]
        self.kind = (types["activation_bits"], types["activation_signed"])
        self.inputs, self.lines, self.tensors, self.sums, self.late = [], [], [], {}, None
        self.nodes, self.given = 0, {}

    def state(self):
        return len(self.inputs), len(self.lines), len(self.tensors), self.nodes

    def back_to(self, state):
        del self.inputs[state[0]:], self.lines[state[1]:], self.tensors[state[2]:]
        self.nodes = state[3]
        kept = {t.name for t in self.tensors}
        self.given = {name: own for name, own in self.given.items() if name in kept}

    def other_kind(self):
        """A kind that the section accepts lets in, or the scheme's own. Nothing computes with u32."""
        rule = self.record["accepts"]
        bits = self.rng.choice([self.kind[0], rule["activation_bits"] or self.kind[0]])
        signed = self.kind[1] != (rule["activation_either_sign"] and self.rng.random() < 0.5)
        return min(bits, 31 + signed), signed

    def next_kind(self, x):
        """That of x, seldom another."""
        return self.other_kind() if self.rng.random() < 0.15 else x.kind

    def draw_scale(self, low, high):
        if self.record["types"]["power_of_two_scales"]:
            return Fraction(2) ** round(self.rng.uniform(low, high))
        return f32(Fraction(2.0 ** self.rng.uniform(low, high)))

    def draw_zero(self, kind, rule):
        if rule == "middle":
            return 0 if kind[1] else 1 << kind[0] - 1
        return 0 if rule == "none" else self.rng.randint(*range_of(kind))

    def draw_codes(self, kind, count, narrow=False):
        low, high = range_of(kind)
        low += narrow
        inside = lambda: self.rng.randint(low, high)
        return [self.rng.choice([low, high, inside(), inside()]) for _ in range(count)]

    def tensor(self, shape, like=None, prefix="t", kind=None):
        """A new activation; like: has the parameters of that one."""
        rule = self.record["types"]["activation_zero_point"]
        kind = like.kind if like else kind or self.kind
        if kind[0] > 8 and not self.record["types"]["wide_zero_point"]:
            rule = "none"
        scale = like.scale if like else self.draw_scale(-6, 1)
        zero = like.zero if like else self.draw_zero(kind, rule)
        made = Tensor("%s%d" % (prefix, len(self.tensors)), shape, kind, scale, zero)
        self.tensors.append(made)
        return made

    def floats(self, shape, word="f32"):
        made = Floats("t%d" % len(self.tensors), shape, word)
        self.tensors.append(made)
        return made

    def flags(self, op, x, y, maker):
        """A comparison: an output of its own."""
        out = self.floats(x.shape, "bool")
        record = self.records(op, out.name, x)

        def run():
            one = maker(record, x, y, op)
            return [one(p, q) for p, q in zip(x.codes, y.codes)]
        self.node(out, "%s(%s, %s)" % (op, x.name, y.name), run)

    def reshaped(self, x, shape):
        out = self.tensor(shape, x)
        self.node(out, "reshape(%s) {shape=%s}" % (x.name, ints(shape)), lambda: list(x.codes))
        return out

    def image(self, x=None):
        """x in four dimensions, or a new input."""
        if x is None or self.rng.random() < 0.4:
            return self.input([1, self.rng.randint(1, 3), self.rng.randint(1, 5), self.rng.randint(1, 5)])
        return x if len(x.shape) == 4 else self.reshaped(x, [1] + self.factors(x.count(), 3))

    def factors(self, count, parts):
        """A shape of so many elements."""
        shape = []
        for _ in range(parts - 1):
            shape.append(self.rng.choice([d for d in range(1, count + 1) if count % d == 0 and d <= 8]))
            count //= shape[-1]
        return shape + [count]

    def input(self, shape):
        made = self.tensor(shape)
        made.codes, made.given = self.draw_codes(made.kind, count_of(shape)), True
        self.inputs.append("input %s: %s" % (made.name, made.type()))
        return made

    def constant(self, shape, like=None):
        made = self.tensor(shape, like, "c")
        self.tensors.remove(made)
        made.name = "c%d" % len(self.lines)
        made.codes = self.draw_codes(made.kind, count_of(shape))
        self.lines.append("const %s: %s = %s" % (made.name, made.type(), ints(made.codes)))
        return made

    def bounds(self, out):
        """Sometimes a fused activation, its bounds as codes, or real ones that become codes as convert says."""
        if self.rng.random() < 0.7:
            return ""
        if self.rng.random() < 0.4:
            ends = [self.draw_real(out) for _ in "ab"]
            ends = [ends[0], None] if ends[0] <= ends[1] and self.rng.random() < 0.3 else sorted(ends)
            try:
                out.bounds = edges.bounds_of(self.record, out, *ends)
            except Refused:
                raise Unsaid("no code is left")
            return " act[%s,%s]" % (number(ends[0]), "inf" if ends[1] is None else number(ends[1]))
        out.bounds = sorted([self.rng.randint(out.low, out.high) for _ in "ab"])
        return " codes[%d,%d]" % tuple(out.bounds)

    def draw_real(self, out):
        """A real value near the type's range, ties of codes among them."""
        span = out.high - out.low
        return f32(out.scale * (Fraction(self.rng.randint(-span, 3 * span), 2) + out.low - out.zero))

    def node(self, out, text, function):
        """function: the codes. What the record refuses at a value is refused for the network."""
        self.lines.append("%s: %s = %s" % (out.name, out.type(), text))
        self.nodes += 1
        try:
            out.codes = function()
            assert isinstance(out, Floats) or all(out.low <= code <= out.high for code in out.codes), text
        except Refused as refusal:
            self.late = "%s: %s" % (out.name, refusal)

    def text(self):
        names = ", ".join(t.name for t in self.tensors if not t.given)
        return "graph g {\n  " + "\n  ".join(self.inputs + self.lines) + "\n  output %s\n}\n" % names
