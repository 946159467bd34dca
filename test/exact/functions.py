"""Transcendental functions, rounded once to a float format from 60 digits, and what the last bit of a C library
may leave open."""
import math
from decimal import Decimal, getcontext
from fractions import Fraction

from numbers_exact import Unsaid, exponent, f32, round_to_int

getcontext().prec = 60
ONE = Fraction(1)


def decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


def exp(value):
    """e^value as a rational of 60 digits; beyond what floats hold, its end."""
    value = Fraction(value)
    if value < -2000:
        return Fraction(0)
    return Fraction(decimal(min(value, Fraction(2000))).exp())


def sin(value):
    if abs(value) > 30:
        raise Unsaid("a sine whose series loses its digits")
    x = term = decimal(Fraction(value))
    total, n = Decimal(0), 0
    while abs(term) > Decimal(10) ** -55:
        total += term
        n += 2
        term = -term * x * x / (n * (n + 1))
    return Fraction(total)


def erf(value):
    x = decimal(Fraction(value))
    if abs(x) > 8:
        return ONE if x > 0 else -ONE
    term, total, n = x, Decimal(0), 0
    while abs(term) > Decimal(10) ** -50:
        total += term / (2 * n + 1)
        n += 1
        term = -term * x * x / n
    pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
    return Fraction(total * 2 / pi.sqrt())


def tanh(value):
    if abs(value) > 40:
        return ONE if value > 0 else -ONE
    e = exp(2 * Fraction(value))
    return (e - 1) / (e + 1)


def sigmoid(value, to):
    """1 / (1 + exp(-x)), each step rounded."""
    e = to(exp(-value))
    return Fraction(0) if e == math.inf else to(ONE / to(1 + e))


def sign(value):
    return Fraction((value > 0) - (value < 0))


EXACT = {"neg": lambda x, to: -x, "square": lambda x, to: to(x * x), "abs": lambda x, to: abs(x),
         "floor": lambda x, to: Fraction(math.floor(x)), "ceil": lambda x, to: Fraction(math.ceil(x)), "round": lambda x, to: Fraction(round_to_int(x, "half-even")),
         "sign": lambda x, to: sign(x), "sqrt": lambda x, to: to(Fraction(decimal(x).sqrt())) if x >= 0 else None,
         "reciprocal": lambda x, to: to(ONE / x) if x else None}
LIBRARY = {"exp": lambda x, to: to(exp(x)), "sigmoid": sigmoid, "tanh": lambda x, to: to(tanh(x)),
           "sin": lambda x, to: to(sin(x)), "erf": lambda x, to: to(erf(x)),
           "log": lambda x, to: to(Fraction(decimal(x).ln())) if x > 0 else None}


SQRT2 = Fraction(Decimal(2).sqrt())
ROOT_2_PI = Fraction((2 / Decimal("3.14159265358979323846264338327950288419716939937510582097494")).sqrt())


def cos(value):
    return sin(value + Fraction(Decimal("1.57079632679489661923132169163975144209858469968755291048747")))


def gelu(x):
    return x * (1 + erf(x / SQRT2)) / 2


def gelu_tanh(x):
    return x * (1 + tanh(ROOT_2_PI * (x + Fraction(0.044715) * x ** 3))) / 2


def softplus(x):
    return x if x > 100 else exp(x) if x < -100 else Fraction((1 + decimal(exp(x))).ln())


# Functions of several steps, whose own roundings nothing states: exact, and what the steps may be off by.
STEPS = {"elu": lambda x, a: x if x >= 0 else a * (exp(x) - 1), "gelu": lambda x, a: gelu(x), "gelu_tanh": lambda x, a: gelu_tanh(x),
         "softplus": lambda x, a: softplus(x), "hard_sigmoid": lambda x, a: min(max(a * x + Fraction(1, 2), Fraction(0)), ONE),
         "cos": lambda x, a: cos(x)}


def code_of_steps(name, x, alpha, to, ending):
    exact = STEPS[name](x, alpha)
    off = (abs(exact) + abs(x) + (1 if name in ("hard_sigmoid", "cos") else 0)) * Fraction(1, 1 << (21 if to is f32 else 50))
    codes = {ending(to(exact + k * off)) for k in (-1, 0, 1)}
    if len(codes) > 1:
        raise Unsaid("the steps of %s" % name)
    return codes.pop()


def rational_sigmoid(x):
    """MLAS (schemes/FORMULAS.md); fused multiply-adds."""
    x = min(max(x, Fraction(-18)), Fraction(18))
    square = f32(x * x)

    def polynomial(factors):
        value = f32(Fraction(factors[0]))
        for factor in factors[1:]:
            value = f32(value * square + f32(Fraction(factor)))
        return value
    return min(max(f32(f32(f32(x * polynomial(TOP)) / polynomial(BOTTOM)) + Fraction(1, 2)), Fraction(0)), ONE)


TOP = [4.37031012579801e-11, 1.15627324459942e-07, 6.08574864600143e-05, 8.51377133304701e-03, 2.48287947061529e-01]
BOTTOM = [6.10247389755681e-13, 5.76102136993427e-09, 6.29106785017040e-06, 1.70198817374094e-03, 1.16817656904453e-01,
          9.93151921023180e-01]


def neighbours(value, to):
    """The value and the floats beside it."""
    unit = Fraction(2) ** (exponent(value) - (24 if to is f32 else 53)) if value else 0
    return [to(value - unit), value, to(value + unit)]


def finite(name, to):
    """The function; nothing is said where it has no finite value."""
    function = EXACT.get(name) or LIBRARY[name]

    def one(x):
        value = function(x, to)
        if value is None or abs(value) == math.inf:
            raise Unsaid("%s has no finite value" % name)
        return value
    return one


def code_of(name, x, to, ending):
    """ending: from the function's value to a code. Where the last bit of a library decides nothing is said."""
    value = finite(name, to)(x)
    codes = [ending(v) for v in (neighbours(value, to) if name in LIBRARY else [value])]
    if min(codes) != max(codes):
        raise Unsaid("the last bit of a library's %s" % name)
    return codes[0]
