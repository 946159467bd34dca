"""A matrix unit's dot product in rationals, written from the parameters' descriptions alone (schemes/mac/README.md):
no integer grid, no shift, nothing shared with schemes/mac/.

A record is a dictionary of parameters as a unit file has them, defaults filled in by `complete`. Numbers are those of
mac_numbers.py."""
from fractions import Fraction as Q

from mac_numbers import FORMATS, NAN, Number, is_inf, infinity, power, log2_floor, decode, cut

DEFAULTS = dict(
    instruction=0, order=None, k_order="ascending", chains=1, start="accumulator", accumulator="joined", flush_in="none",
    flush_acc="none", a_digits=None, b_digits=None, phases=1, scale="e8m0", scale_block=0, scale_place="term",
    exact_group=1, product_round=None, product_limit=None, sum="aligned", lanes=1, align_bits=None,
    align_cut="trunc", least_max=None, zero_exponent=None, sum_align_bits=None, acc_align_bits=None, acc_drop=None,
    sum_cut="floor", out_round="half-even", acc_round="half-even", out_frac=0, overflow="infinity", flush_out="none",
    zero_sign="sum", nan=None, nan_rule="pattern", promote=0, split_k=1, split_sum="chain", outer_round="half-even")


def complete(record):
    unknown = set(record) - set(DEFAULTS) - {"a", "b", "acc", "out", "group"}
    assert not unknown, unknown
    return {**DEFAULTS, **record}


class Unit:
    def __init__(self, record):
        self.__dict__.update(complete(record))
        _, self.eb, self.fb, self.bias, _ = FORMATS[self.out]
        self.emin, self.emax = 1 - self.bias, (1 << self.eb) - 2 - self.bias

    # ---- single values ----

    def zero(self, negative):
        return Number(Q(0), negative and self.zero_sign != "plus", self.zero_exponent)

    def rounded(self, v, mode, fraction=None):
        """A value that is not 0 in the format `out`."""
        fraction = fraction or self.fb
        negative = v < 0
        if self.flush_out == "before" and abs(v) < power(self.emin):
            return self.zero(negative)
        e = log2_floor(abs(v))
        if self.flush_out == "after" and abs(cut(v, e - fraction, mode)) < power(self.emin):
            return self.zero(negative)
        r = cut(v, max(e, self.emin) - fraction, mode)
        if r == 0:
            return self.zero(negative)
        if abs(r) >= power(self.emax + 1):
            if self.overflow == "infinity":
                return infinity(negative)
            r = (2 - power(-fraction)) * power(self.emax) * (-1 if negative else 1)
        return Number(r, negative, max(log2_floor(abs(r)), self.emin))

    def pattern(self, x):
        sign = 1 << (self.eb + self.fb)
        if x == NAN:
            return self.nan
        if is_inf(x):
            return (sign if x[1] else 0) | ((1 << self.eb) - 1) << self.fb
        v = abs(x.value)
        if v == 0:
            return sign if x.negative else 0
        e = max(log2_floor(v), self.emin)
        m = v / power(e - self.fb)
        assert m.denominator == 1
        code = m.numerator + ((e - self.emin) << self.fb)
        return code | (sign if x.negative else 0)

    def element(self, f, pattern, flush):
        x = decode(f, pattern)
        if isinstance(x, Number):
            eb, bias = FORMATS[f][1], FORMATS[f][3]
            if flush != "none" and eb and x.value and abs(x.value) < power(1 - bias):
                x = Number(Q(0), x.negative, x.unit)
            if x.value == 0:
                x = Number(Q(0), x.negative and flush != "plus", self.zero_exponent)
        return x

    def accumulator_in(self, x):
        """A running value as a step reads it."""
        if isinstance(x, Number):
            if x.value == 0 or (self.flush_acc != "none" and abs(x.value) < power(self.emin)):
                return Number(Q(0), x.negative and self.flush_acc != "plus", self.zero_exponent)
        return x

    def widened(self, pattern):
        x = self.element(self.acc, pattern, self.flush_acc)
        if isinstance(x, Number) and x.value:
            x.unit = max(log2_floor(abs(x.value)), self.emin)
        return x

    # ---- products ----

    def digits(self, x, digits, second):
        """The leading `digits` digits of a significand from the unit digit on, or as many after those."""
        if digits is None:
            return Q(0) if second else x.value
        first = cut(x.value, x.unit - digits + 1, "trunc")
        return cut(x.value, x.unit - 2 * digits + 1, "trunc") - first if second else first

    def product(self, x, y, phase):
        if x == NAN or y == NAN:
            return NAN
        if is_inf(x) or is_inf(y):
            for other in (x, y):
                if not is_inf(other) and other.value == 0:
                    return NAN
            sign = [v[1] if is_inf(v) else v.negative for v in (x, y)]
            return infinity(sign[0] != sign[1])
        negative = x.negative != y.negative
        unit = None if x.unit is None or y.unit is None else x.unit + y.unit
        if x.value == 0 or y.value == 0:
            return Number(Q(0), negative, unit)
        v = self.digits(x, self.a_digits, phase & 1) * self.digits(y, self.b_digits, phase >> 1)
        return Number(v, negative, unit if v or self.zero_exponent is not None else None)

    def scaled(self, x, scales):
        for s in scales:
            if x == NAN or s == NAN:
                return NAN
            if is_inf(x) or is_inf(s):
                if any(not is_inf(v) and v.value == 0 for v in (x, s)):
                    return NAN
                signs = [v[1] if is_inf(v) else v.negative for v in (x, s)]
                x = infinity(signs[0] != signs[1])
            else:
                unit = None if x.unit is None or s.unit is None else x.unit + s.unit
                x = Number(x.value * s.value, x.negative != s.negative, unit)
        return x

    def exactly(self, terms):
        """The exact sum of some products; their exponents do not count."""
        special = self.special(terms)
        if special is not None:
            return special
        total = sum((t.value for t in terms), Q(0))
        counts = total != 0 or self.zero_exponent is not None
        negative = total < 0 or (total == 0 and all(t.negative for t in terms))
        return Number(total, negative, 0 if counts else None)

    def limited(self, x, whole):
        """`whole`: no operand of the step is an infinity or NaN; only then a large product counts as one."""
        if isinstance(x, Number):
            if whole and self.product_limit is not None and abs(x.value) >= power(self.product_limit):
                return infinity(x.negative)
            if self.product_round is not None:
                x = self.rounded(x.value, self.product_round) if x.value else self.zero(x.negative)
        return x

    def terms(self, pairs, phase, acc):
        """pairs: (a, b, scales) of a step."""
        products = [self.product(a, b, phase) for a, b, _ in pairs]
        scales = [s for _, _, s in pairs]
        if self.exact_group > 1:
            g = self.exact_group
            products = [self.exactly(products[i:i + g]) for i in range(0, len(products), g)]
            scales = scales[::g]
        products = [self.scaled(p, s) for p, s in zip(products, scales)]
        whole = self.special(products + [acc]) is None
        return [self.limited(p, whole) for p in products]

    # ---- sums ----

    @staticmethod
    def special(terms):
        if NAN in terms:
            return NAN
        infinite = {t[1] for t in terms if is_inf(t)}
        return NAN if len(infinite) > 1 else infinity(infinite.pop()) if infinite else None

    def exact_zero(self, terms):
        return self.zero(self.zero_sign == "ieee" and all(t.negative for t in terms))

    def add(self, terms, mode, fraction=None):
        """Exact sum of numbers, rounded once."""
        special = self.special(terms)
        if special is not None:
            return special
        total = sum((t.value for t in terms), Q(0))
        return self.rounded(total, mode, fraction) if total else self.exact_zero(terms)

    def aligned(self, terms):
        """(sum, exponent of its alignment or None) after each term is cut."""
        units = [t.unit for t in terms if t.unit is not None]
        if not units:
            return Q(0), None
        e = max(units)
        if self.least_max is not None:
            e = max(e, self.least_max)
        if self.align_bits is None:
            return sum(t.value for t in terms), e
        return sum(cut(t.value, e - self.align_bits, self.align_cut) for t in terms), e

    def lane_sums(self, terms):
        sums = [self.aligned(terms[i::self.lanes]) for i in range(self.lanes)]
        exponents = [e for _, e in sums if e is not None]
        if not exponents:
            return Q(0), None
        e = max(exponents)
        if self.lanes == 1 or self.align_bits is None:
            return sum(s for s, _ in sums), e
        return sum(cut(s, e - self.align_bits, self.sum_cut) for s, _ in sums), e

    def two_sums(self, terms, acc):
        """Sum and accumulator against the larger of their exponents."""
        special = self.special(terms + [acc])
        if special is not None:
            return special
        s, e = self.lane_sums(terms)
        c = acc.value
        top = max([x for x in (e, acc.unit) if x is not None], default=None)
        if top is not None:
            if self.acc_drop is not None and acc.unit is not None and acc.unit < top - self.acc_drop:
                c = Q(0)
            if self.sum_align_bits is not None:
                s = cut(s, top - self.sum_align_bits, self.sum_cut)
            if self.acc_align_bits is not None:
                c = cut(c, top - self.acc_align_bits, self.sum_cut)
        total = s + c
        return self.rounded(total, self.acc_round, self.out_frac) if total else self.exact_zero(terms + [acc])

    def pairs(self, values):
        """Neighbours are added until one is left; every sum is rounded."""
        while len(values) > 1:
            values = [self.add(values[i:i + 2], self.out_round, self.out_frac) if i + 1 < len(values) else values[i]
                      for i in range(0, len(values), 2)]
        return values[0]

    def sum_of(self, terms):
        """A step's products alone, in the format `out`."""
        if self.sum == "pairs":
            return self.add([self.pairs(terms)], self.out_round, self.out_frac)
        special = self.special(terms)
        if special is not None:
            return special
        s, _ = self.lane_sums(terms)
        return self.rounded(s, self.out_round, self.out_frac) if s else self.exact_zero(terms)

    def step(self, running, pairs, phase):
        acc = self.accumulator_in(running)
        terms = self.terms(pairs, phase, acc)
        if self.accumulator == "aligned":
            return self.two_sums(terms, acc)
        if self.accumulator == "after":
            return self.add([self.sum_of(terms), acc], self.acc_round, self.out_frac)
        terms.append(acc)
        special = self.special(terms)
        if special is not None:
            return special
        s, _ = self.aligned(terms)
        return self.rounded(s, self.out_round, self.out_frac) if s else self.exact_zero(terms)

    # ---- instructions ----

    def instruction_of(self, running, pairs):
        if self.order is not None:
            pairs = [pairs[i] for i in self.order]
        group = self.group or len(pairs)
        values = [running] if self.start == "accumulator" else [Number(Q(0), False, self.zero_exponent)] * self.chains
        for i in range(0, len(pairs), group):
            for phase in range(self.phases):
                chain = i // group % self.chains
                values[chain] = self.step(values[chain], pairs[i:i + group], phase)
        if self.start == "accumulator":
            return values[0]
        return self.add([self.pairs(values), self.accumulator_in(running)], self.acc_round, self.out_frac)

    def quiet(self, f, pattern):
        """A NaN of format f as a quiet one of `out`: its fraction's digits stay at the top."""
        _, eb, fb, _, _ = FORMATS[f]
        if f == "tf32":
            pattern, fb = pattern, 23
        sign, m = pattern >> (eb + fb) & 1, pattern & ((1 << fb) - 1)
        m = m << (self.fb - fb) if self.fb >= fb else m >> (fb - self.fb)
        return sign << (self.eb + self.fb) | ((1 << self.eb) - 1) << self.fb | m | 1 << (self.fb - 1)

    def first_nan(self, acc, acc_pattern, acc_format, codes):
        """The pattern of a result that is NaN: the first operand that is NaN, in the order of K, A before B."""
        if self.nan_rule == "operand":
            for a, b in codes:
                if decode(self.a, a) == NAN:
                    return self.quiet(self.a, a)
                if decode(self.b, b) == NAN:
                    return self.quiet(self.b, b)
            if acc == NAN:
                return self.quiet(acc_format, acc_pattern)
        return self.nan

    def partial(self, acc, acc_pattern, acc_format, a, b, scales):
        """Instruction after instruction; the value and its pattern."""
        flush = self.flush_in
        n = self.instruction or len(a)
        for i in range(0, len(a), n):
            pairs = [(self.element(self.a, x, flush), self.element(self.b, y, flush), s)
                     for x, y, s in zip(a[i:i + n], b[i:i + n], scales[i:i + n])]
            result = self.instruction_of(acc, pairs)
            pattern = self.first_nan(acc, acc_pattern, acc_format, list(zip(a[i:i + n], b[i:i + n]))) \
                if result == NAN else self.pattern(result)
            acc, acc_pattern, acc_format = result, pattern, self.out
        return acc, acc_pattern

    # ---- above instructions ----

    def outer(self, x, xp, y, yp, factor=None):
        """x + y * factor, one rounding: values and patterns."""
        z = self.accumulator_in(y)
        if factor is not None:
            z = self.scaled(z, [factor])
        r = self.add([self.accumulator_in(x), z], self.outer_round)
        if r != NAN:
            return r, self.pattern(r)
        if self.nan_rule == "operand":
            return r, xp if x == NAN else yp if y == NAN else self.nan
        return r, self.nan

    def slice(self, a, b, sa, sb, acc=None):
        """A slice of K from acc = (value, pattern, format), or from +0."""
        zero = (Number(Q(0), False, self.zero_exponent), 0, self.out)
        k, block = len(a), self.scale_block or 1
        at_terms = self.scale_block and self.scale_place == "term"
        scales = [(sa[i // block], sb[i // block]) if at_terms else () for i in range(k)]
        if not self.promote:
            return self.partial(*(acc or zero), a, b, scales)
        x, xp, xf = acc or zero
        if x == NAN:
            xp = self.quiet(xf, xp) if self.nan_rule == "operand" else self.nan
        for i in range(0, k, self.promote):
            n = slice(i, i + self.promote)
            y, yp = self.partial(*zero, a[n], b[n], scales[n])
            factor = None
            if self.scale_block and self.scale_place == "promoted":
                s, t = sa[i // block], sb[i // block]
                factor = NAN if NAN in (s, t) else Unit(dict(a="f32", b="f32", acc="f32", out="f32", group=1)).outer_factor(s, t)
            x, xp = self.outer(x, xp, y, yp, factor)
        return x, xp

    def outer_factor(self, s, t):
        """The product of two scales in f32."""
        for u, v in ((s, t), (t, s)):
            if is_inf(u):
                return NAN if not is_inf(v) and v.value == 0 else infinity((u[1]) != (v[1] if is_inf(v) else v.negative))
        v = s.value * t.value
        return self.rounded(v, "half-even") if v else Number(Q(0), s.negative != t.negative, None)

    def dot(self, a, b, c=0, scale_a=(), scale_b=()):
        a, b, scale_a, scale_b = list(a), list(b), list(scale_a), list(scale_b)
        if self.k_order == "descending":
            for x in (a, b, scale_a, scale_b):
                x.reverse()
        sa, sb = ([self.element(self.scale, s, "none") for s in x] for x in (scale_a, scale_b))
        acc = (self.widened(c), c, self.acc)
        if self.split_k == 1:
            return self.slice(a, b, sa, sb, acc)[1]
        n = len(a) // self.split_k
        m = n // self.scale_block if self.scale_block else 0
        parts = [self.slice(a[i * n:i * n + n], b[i * n:i * n + n], sa[i * m:i * m + m], sb[i * m:i * m + m])
                 for i in range(self.split_k)]
        x, xp, xf = acc
        if x == NAN:
            xp = self.quiet(xf, xp) if self.nan_rule == "operand" else self.nan
        while self.split_sum == "pairs" and len(parts) > 1:
            parts = [self.outer(*parts[i], *parts[i + 1]) if i + 1 < len(parts) else parts[i]
                     for i in range(0, len(parts), 2)]
        for y, yp in parts:
            x, xp = self.outer(x, xp, y, yp)
        return xp
