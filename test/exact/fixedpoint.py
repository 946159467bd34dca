"""gemmlowp's fixed-point functions and TFLite's on top of them, as their sources (schemes/SOURCES.md) have them.
int32 throughout: additions wrap, F_k has k integer bits."""
from fractions import Fraction

from numbers_exact import INT32_MAX, INT32_MIN, Unsaid, clamp, exponent, round_to_int, wrap


def srdhm(a, b):
    return INT32_MAX if a == b == INT32_MIN else a * b + (1 << 30) >> 31


def rdbp(x, e):
    return round_to_int(Fraction(x, 1 << e), "half-away")


def w32(x):
    return wrap(x, 32)


def srmbp(x, e):
    return clamp(x << e, INT32_MIN, INT32_MAX) if e > 0 else rdbp(x, -e)


def half_sum(a, b):
    return round_to_int(Fraction(a + b + (1 if a + b >= 0 else -1), 2), "trunc")


def clz32(x):
    return 32 - x.bit_length()


def exp_first(a):
    """exp of F_0 in [-1/4, 0)"""
    x = w32(a + (1 << 28))
    x2 = srdhm(x, x)
    x3, x4 = srdhm(x2, x), srdhm(x2, x2)
    t = rdbp(w32(srdhm(w32(rdbp(x4, 2) + x3), 715827883) + x2), 1)
    return w32(1895147668 + srdhm(1895147668, w32(x + t)))


FACTORS = {-2: 1672461947, -1: 1302514674, 0: 790015084, 1: 290630308, 2: 39332535, 3: 720401, 4: 242}


def exp_neg(a, k):
    """exp of a <= 0 in F_k, in F_0"""
    if a == 0:
        return INT32_MAX
    fraction = 31 - k
    quarter = 1 << fraction - 2
    low = (a & quarter - 1) - quarter
    result = exp_first(srmbp(low, k))
    rest = w32(low - a)
    for e, factor in FACTORS.items():
        if k > e and rest >> fraction + e & 1:
            result = srdhm(result, factor)
    return 0 if k > 5 and a < -(1 << 36 - k) else result


def inverse_core(a):
    half = half_sum(a, INT32_MAX)
    x = w32(1515870810 + srdhm(half, -1010580540))
    for _ in range(3):
        x = w32(x + srmbp(srdhm(x, w32((1 << 29) - srdhm(half, x))), 2))
    return x


def one_over_one_plus(a):
    return srmbp(inverse_core(a), 1)


def logistic(a, k):
    if a == 0:
        return 1 << 30
    p = one_over_one_plus(exp_neg(-abs(a), k))
    return p if a > 0 else INT32_MAX - p


def tanh(a, k):
    if a == 0:
        return 0
    t = srmbp(w32(inverse_core(exp_neg(-abs(a), k + 1)) - (1 << 29)), 2)
    return t if a > 0 else -t


def reciprocal(x, digits):
    """(1 / x in F_0, bits over the unit)"""
    h = clz32(x)
    return one_over_one_plus((x << h & 0xffffffff) - (1 << 31)), digits - h


def inverse_sqrt(x):
    """(multiplier, shift to the left)"""
    if x <= 1:
        return INT32_MAX, 0
    s = 11
    while x >= 1 << 29:
        x, s = x // 4, s + 1
    spare = (clz32(x) - 1) // 2 - 1
    s, x = s - spare, x << 2 * spare
    half, z = rdbp(x >> 1, 1), 1 << 28
    for _ in range(5):
        cube = srmbp(srdhm(srdhm(z, z), z), 6)
        z = srmbp(w32(srdhm((1 << 28) + (1 << 27), z) - srdhm(half, cube)), 3)
    z = srdhm(z, 1518500250)
    return (w32(z << -s), 0) if s < 0 else (z, -s)


def logarithm(raw, k_in, k_out):
    """of raw >= 1 in F_k_in, in F_k_out"""
    a = k_out + 1
    quarter = rdbp(1 << 29, a)
    ha, zb = clz32(raw), srdhm(raw, 1518500250)
    ra = srmbp(srdhm(srmbp(raw, ha - 1), 1518500250), 1)
    pa = w32(srmbp(k_in - ha, 31 - a) + quarter)
    hb = clz32(zb) - 1
    rb, pb = srmbp(raw, hb), w32(srmbp(k_in - hb, 31 - a) - quarter)
    r, z = min(ra, rb), max(pa, pb)
    p, q = half_sum(r, 1805811301), w32(2 * (r - 1805811301))
    c = srdhm(q, q)
    top = w32(srdhm(q, r) + srdhm(w32(srdhm(q, c)), 117049297))
    low = w32(srdhm(p, w32(1057819769 + q + srdhm(127690142, c))) + srdhm(638450708, q))
    return srmbp(w32(srdhm(z, 1488522236) + srdhm(rdbp(top, a), one_over_one_plus(low))), 1)


def quantize_multiplier(real):
    """QM(d): (31-bit multiplier, shift to the left)"""
    if real == 0:
        return 0, 0
    e = exponent(real)
    m = round_to_int(Fraction(real) * Fraction(2) ** (31 - e), "half-away")
    if m == 1 << 31:
        m, e = m >> 1, e + 1
    return (0, 0) if e < -31 else (m, e)


def by_multiplier(x, m, shift, single):
    """MBQM_D, or MBQM_S with any rounding"""
    if single:
        return round_to_int(Fraction(x * m) / Fraction(2) ** (31 - shift), single)
    return rdbp(srdhm(w32(x << max(shift, 0)), m), max(-shift, 0))


PLAIN = {"encoding": "multiplier", "multiplier_bits": 31, "multiplier_round": "half-away", "multiplier_renormalise": True,
         "exponent_by_log": False, "reduced_bits": 0, "pre_shift": "none", "operand_bits": 0, "product_bits": 0,
         "result_bits": 0, "sum_bits": 32, "shift_min": -1100, "shift_max": 62, "store": "saturate", "zero_point": "after"}


def single(record):
    """The mode of rescales that round once (TFLITE_SINGLE_ROUNDING has half-up); None: they round twice."""
    rule = record["rescale"]
    if all(rule[name] == value for name, value in PLAIN.items()):
        if rule["round"] == [(31, "half-up"), (None, "half-away")] and rule["left_shift"] == "wrap":
            return None
        if len(rule["round"]) == 1 and rule["round"][0][0] is None and rule["left_shift"] == "product":
            return rule["round"][0][1]
    raise Unsaid("the fixed-point kernels are of TFLite's two builds")
