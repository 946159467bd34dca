"""Transcendental functions, rounded once to a float format from 60 digits, and what the last bit of a C library
may leave open."""
import math
from decimal import Decimal, getcontext
from fractions import Fraction

from numbers_exact import Unsaid, exponent, f32, f64

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
         "floor": lambda x, to: Fraction(math.floor(x)), "ceil": lambda x, to: Fraction(math.ceil(x)),
         "sign": lambda x, to: sign(x), "sqrt": lambda x, to: to(Fraction(decimal(x).sqrt())) if x >= 0 else None,
         "reciprocal": lambda x, to: to(ONE / x) if x else None}
LIBRARY = {"exp": lambda x, to: to(exp(x)), "sigmoid": sigmoid, "tanh": lambda x, to: to(tanh(x)),
           "sin": lambda x, to: to(sin(x)), "erf": lambda x, to: to(erf(x)),
           "log": lambda x, to: to(Fraction(decimal(x).ln())) if x > 0 else None}


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
