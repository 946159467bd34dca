/* Element-wise ops of two plain integers; see integers.h. */
#include "graph/core/integers.h"

bool assay_integers_divide(assay_op op)
{
    switch (op) {
#define QUOTIENT(ID, integers, y) case ASSAY_OP_##ID:
#define BINARY(ID, integers, y)
#include "graph/core/binary.def"
        return true;
    default:
        return false;
    }
}

/* Unsigned arithmetic wraps where signed overflow would be undefined. */
static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t product(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t power_of(int64_t base, int64_t exponent)
{
    int64_t result = 1;
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = product(result, base);
        base = product(base, base);
    }
    return result;
}

static int64_t shifted_left(int64_t x, int64_t by)
{
    return by < 0 ? x : by > 63 ? 0 : (int64_t)((uint64_t)x << by);
}

static int64_t shifted_right(int64_t x, int64_t by)
{
    return by < 0 ? x : x >> (by > 63 ? 63 : by);
}

/* Toward zero; the remainder has the sign of a. */
static int64_t quotient(int64_t a, int64_t b)
{
    return b == -1 ? difference(0, a) : a / b;
}

static int64_t remainder_of(int64_t a, int64_t b)
{
    return b == -1 ? 0 : a % b;
}

/* Whether the quotient of a and b is below the one toward zero. */
static bool is_lower(int64_t a, int64_t b)
{
    const int64_t rest = remainder_of(a, b);
    return rest != 0 && (rest < 0) != (b < 0);
}

#define INTEGERS(value)                                                                            \
    *y = (value);                                                                                  \
    return true;
#define NONE return false;
#define BINARY(ID, integers, floats)                                                               \
    case ASSAY_OP_##ID:                                                                            \
        integers
#define INTEGRAL(ID, value)          BINARY(ID, INTEGERS(value), )
#define COMPARISON(ID, kinds, value) BINARY(ID, INTEGERS(value), )

bool assay_integers_binary(assay_op op, bool truncated, int64_t x, int64_t z, int64_t *y)
{
    switch (op) {
#include "graph/core/binary.def"
    default:
        return false;
    }
}

assay_op assay_op_merge(assay_op op)
{
    switch (op) {
    case ASSAY_OP_REDUCE_SUM:
    case ASSAY_OP_REDUCE_MEAN:
        return ASSAY_OP_ADD;
    case ASSAY_OP_REDUCE_PROD:
        return ASSAY_OP_MUL;
    case ASSAY_OP_REDUCE_MAX:
        return ASSAY_OP_MAX;
    case ASSAY_OP_REDUCE_MIN:
        return ASSAY_OP_MIN;
    default:
        return ASSAY_OP_COUNT;
    }
}
