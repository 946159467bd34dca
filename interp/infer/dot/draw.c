/* Rows drawn; see draw.h. */
#include "interp/infer/dot/draw.h"

#include <string.h>

#include "interp/infer/dot/numbers.h"

typedef struct drawing {
    rows_random *r;
    const infer_dot_rows *like;
    infer_dot_draft *d;
} drawing;

static int64_t among(const drawing *g, int64_t lo, int64_t hi)
{
    return infer_dot_among(g->r, lo, hi);
}

static bool one_in(const drawing *g, int n)
{
    return among(g, 1, n) == 1;
}

static enum assay_mac_format format(const drawing *g, int column)
{
    return g->like->column[column].format;
}

static void clear(const drawing *g)
{
    for (int c = 0; c < DOT_COLUMNS; c++)
        memset(g->d->value[c], 0, g->like->column[c].width * sizeof *g->d->value[c]);
    for (int c = DOT_SCALE_A; c <= DOT_SCALE_B; c++)
        for (size_t i = 0; i < g->like->column[c].width; i++)
            g->d->value[c][i] = infer_dot_number(g->r, format(g, c), false, 0, true);
}

/* Draws scales near 1, each its own. */
static void scales(const drawing *g, int64_t reach)
{
    for (int c = DOT_SCALE_A; c <= DOT_SCALE_B; c++)
        for (size_t i = 0; i < g->like->column[c].width; i++)
            g->d->value[c][i] =
                infer_dot_number(g->r, format(g, c), false, among(g, -reach, reach), one_in(g, 2));
}

/* Exponents of products. */
static void product_range(const drawing *g, int *lo, int *hi)
{
    int a[2], b[2];
    infer_dot_exponents(format(g, DOT_A), &a[0], &a[1]);
    infer_dot_exponents(format(g, DOT_B), &b[0], &b[1]);
    *lo = a[0] + b[0];
    *hi = a[1] + b[1];
}

/* Sets the elements at place i so that their product has this exponent, if the formats allow it. */
static void product(const drawing *g, size_t i, bool negative, int64_t e, bool plain)
{
    int a[2], b[2];
    infer_dot_exponents(format(g, DOT_A), &a[0], &a[1]);
    infer_dot_exponents(format(g, DOT_B), &b[0], &b[1]);
    const int64_t lo = apply_clamp_to(e - b[1], a[0], a[1]),
                  hi = apply_clamp_to(e - b[0], a[0], a[1]);
    const int64_t middle = apply_clamp_to(e / 2, lo, hi),
                  first = one_in(g, 2) ? middle : among(g, lo, hi);
    const bool of_a = one_in(g, 2);
    g->d->value[DOT_A][i] =
        infer_dot_number(g->r, format(g, DOT_A), negative && of_a, first, plain);
    g->d->value[DOT_B][i] =
        infer_dot_number(g->r, format(g, DOT_B), negative && !of_a, e - first, plain);
}

static size_t place(const drawing *g)
{
    return (size_t)among(g, 0, (int64_t)g->like->k - 1);
}

/* Another place, more often a near one. */
static size_t neighbour(const drawing *g, size_t i)
{
    const size_t k = g->like->k;
    size_t j = i;
    for (int tries = 0; j == i && tries < 20; tries++)
        j = one_in(g, 3)   ? place(g)
            : one_in(g, 2) ? i ^ (size_t)1
                           : (i + (size_t)among(g, 1, 8)) % k;
    return j < k ? j : place(g);
}

/* The distance of two exponents. */
static int64_t apart(const drawing *g)
{
    return among(g, -4, one_in(g, 4) ? 72 : one_in(g, 2) ? 32 : 16);
}

/* An exponent of products, near 1 or anywhere. */
static int64_t middle(const drawing *g)
{
    int lo, hi;
    product_range(g, &lo, &hi);
    return one_in(g, 6) ? among(g, lo, hi)
                        : among(g, apply_clamp_to(-24, lo, hi), apply_clamp_to(24, lo, hi));
}

static bool sign(const drawing *g)
{
    return rows_next(g->r) & 1;
}

/* The accumulator with this exponent, or next to nothing. */
static void draw_c(const drawing *g, int64_t e)
{
    const enum assay_mac_format f = format(g, DOT_C);
    g->d->value[DOT_C][0] = one_in(g, 8) ? infer_dot_any(g->r, f, -1)
                                         : infer_dot_number(g->r, f, sign(g), e, one_in(g, 4));
}

static void zeros(const drawing *g)
{
    const bool alike = one_in(g, 2), first[2] = {sign(g), sign(g)};
    for (int c = DOT_A; c <= DOT_B; c++)
        for (size_t i = 0; i < g->like->k; i++) {
            const enum assay_mac_format f = format(g, c);
            const enum assay_mac_specials s = mac_layout_of(f)->specials;
            const bool has = s != ASSAY_MAC_FNUZ && s != ASSAY_MAC_INTEGER;
            const bool negative = alike ? first[c] : sign(g);
            g->d->value[c][i] = has && negative ? mac_pattern_of(f, true, 0) : 0;
        }
    if (one_in(g, 4))
        draw_c(g, among(g, -30, 30));
    else if (one_in(g, 2))
        g->d->value[DOT_C][0] = infer_dot_any(g->r, format(g, DOT_C), one_in(g, 3) ? 1 : -1);
    else
        g->d->value[DOT_C][0] = mac_pattern_of(format(g, DOT_C), sign(g), 0);
}

/* Some numbers, and one or two patterns that are not numbers. */
static void specials(const drawing *g)
{
    for (int64_t n = among(g, 1, 3); n > 0; n--)
        product(g, place(g), sign(g), middle(g), false);
    const int column =
        (int)among(g, DOT_A, g->like->column[DOT_SCALE_A].width > 0 ? DOT_SCALE_B : DOT_C);
    const size_t i = (size_t)among(g, 0, (int64_t)g->like->column[column].width - 1);
    g->d->value[column][i] = infer_dot_special(g->r, format(g, column));
    if (one_in(g, 3))
        g->d->value[DOT_C][0] = infer_dot_special(g->r, format(g, DOT_C));
    else if (one_in(g, 2))
        g->d->value[DOT_B][place(g)] = infer_dot_special(g->r, format(g, DOT_B));
}

static void one(const drawing *g)
{
    const size_t i = place(g);
    if (one_in(g, 3)) {
        g->d->value[DOT_A][i] = infer_dot_any(g->r, format(g, DOT_A), (int)among(g, -1, 1));
        g->d->value[DOT_B][i] = infer_dot_any(g->r, format(g, DOT_B), (int)among(g, -1, 1));
    } else
        product(g, i, sign(g), middle(g), false);
}

static void join(const drawing *g)
{
    const int64_t e = middle(g);
    const bool plain = one_in(g, 3);
    product(g, place(g), sign(g), e, plain);
    draw_c(g, one_in(g, 2) ? e - apart(g) : e + apart(g));
}

static void two(const drawing *g)
{
    const size_t i = place(g), j = neighbour(g, i);
    const int64_t e = middle(g);
    product(g, i, sign(g), e, one_in(g, 3));
    product(g, j, sign(g), e - apart(g), one_in(g, 3));
    if (one_in(g, 3))
        product(g, neighbour(g, i), sign(g), e - apart(g), one_in(g, 3));
}

/* A large number, the same with the other sign elsewhere, and small ones: what is lost between the
 * two tells which sums come between them. One of the two may be the accumulator. */
static void masks(const drawing *g)
{
    int lo, hi;
    product_range(g, &lo, &hi);
    const int64_t large = one_in(g, 3)
                              ? hi
                              : among(g, apply_clamp_to(0, lo, hi), apply_clamp_to(40, lo, hi)),
                  small = large - among(g, 6, one_in(g, 2) ? 28 : 60);
    const bool negative = sign(g), sparse = one_in(g, 2), plain = one_in(g, 2);
    for (size_t i = 0; i < g->like->k; i++)
        if (!sparse || one_in(g, 4))
            product(g, i, !plain && sign(g), small, plain);
    const size_t i = place(g), j = neighbour(g, i);
    product(g, i, negative, large, true);
    if (one_in(g, 4))
        g->d->value[DOT_C][0] = infer_dot_number(g->r, format(g, DOT_C), !negative, large, true);
    else
        product(g, j, !negative, large, true);
}

/* A number, half a unit of what would be its last digit, and next to nothing: how that is rounded
 * tells whether the last is seen. */
static void tie(const drawing *g)
{
    const int all = mac_layout_of(g->like->out)->fraction_bits;
    const int64_t e = middle(g), digits = one_in(g, 3) ? among(g, 1, all) : all;
    const size_t i = place(g);
    const bool of_c = one_in(g, 3);
    if (of_c)
        draw_c(g, e);
    else
        product(g, i, sign(g), e, one_in(g, 3));
    if (of_c || !one_in(g, 3))
        product(g, neighbour(g, i), sign(g), e - digits - 1, one_in(g, 2));
    if (!of_c && one_in(g, 2))
        draw_c(g, e - among(g, digits + 2, 72));
    else
        product(g, neighbour(g, i), sign(g), e - among(g, digits + 2, 72), one_in(g, 2));
}

/* An exponent of products near the greatest of the results: most of those below it can be added. */
static int64_t top(const drawing *g)
{
    int lo, hi, of_out[2];
    product_range(g, &lo, &hi);
    infer_dot_exponents(g->like->out, &of_out[0], &of_out[1]);
    return (hi < of_out[1] ? hi : of_out[1]) - among(g, 0, 3);
}

/* Sets the product at i to one whose last digit is half a unit of the result's last, if the formats
 * have one. */
static bool half(const drawing *g, size_t i, int64_t e, int64_t digits)
{
    bool found = false;
    for (int tries = 0; tries < 64 && !found; tries++) {
        product(g, i, sign(g), e, false);
        found = digits + 2 == infer_dot_product_digits(format(g, DOT_A), g->d->value[DOT_A][i],
                                                       format(g, DOT_B), g->d->value[DOT_B][i]);
    }
    return found;
}

/* A product of half a unit of the accumulator's last digit and one digit below that. */
static void half_and_more(const drawing *g, size_t i, int64_t e, int64_t digits)
{
    const int bits = mac_layout_of(format(g, DOT_A))->fraction_bits;
    draw_c(g, e);
    product(g, i, sign(g), e - digits - 1, true);
    if (bits > 0)
        g->d->value[DOT_A][i] |= (uint64_t)1 << among(g, 0, bits - 1);
}

/* A tie within one step of a chain: a product that ends in one by itself, and next to nothing in
 * the accumulator or another product. */
static void step_tie(const drawing *g)
{
    const int all = mac_layout_of(g->like->out)->fraction_bits;
    const int64_t e = one_in(g, 2) ? top(g) : middle(g),
                  digits = one_in(g, 3) ? among(g, 1, all) : all,
                  small = e - among(g, digits + 2, 72);
    const size_t i = place(g), j = neighbour(g, i);
    if (!half(g, i, e, digits))
        half_and_more(g, i, e, digits);
    else if (one_in(g, 3))
        product(g, j, sign(g), small, one_in(g, 2));
    else
        g->d->value[DOT_C][0] =
            one_in(g, 2) ? infer_dot_any(g->r, format(g, DOT_C), -1)
                         : infer_dot_number(g->r, format(g, DOT_C), sign(g), small, true);
}

/* Numbers of one sign and one size: where few digits are kept of each, their sum has more digits
 * than the result only by its carries. */
static void carry(const drawing *g)
{
    const int64_t e = middle(g);
    const bool negative = sign(g), plain = one_in(g, 2);
    for (size_t i = 0; i < g->like->k; i++)
        if (plain || !one_in(g, 8))
            product(g, i, negative, e, plain);
    if (one_in(g, 2))
        product(g, place(g), sign(g), e - among(g, 4, 32), one_in(g, 2));
    g->d->value[DOT_C][0] = infer_dot_number(g->r, format(g, DOT_C), negative != one_in(g, 4),
                                             e + among(g, -2, 4), one_in(g, 8));
}

static void few(const drawing *g)
{
    const int64_t e = middle(g);
    for (int64_t n = among(g, 2, 6); n > 0; n--)
        product(g, place(g), sign(g), e - apart(g), one_in(g, 4));
    if (one_in(g, 2))
        draw_c(g, e - apart(g));
}

/* The least normal number of the results, or one near the greatest, and a product that is hardly
 * more than the last digit there, toward what the format does not hold. */
static void brink(const drawing *g)
{
    int e[2];
    infer_dot_exponents(g->like->out, &e[0], &e[1]);
    const bool low = one_in(g, 2), negative = sign(g);
    const int64_t end = e[low ? 0 : 1], last = end - mac_layout_of(g->like->out)->fraction_bits;
    const size_t i = place(g);
    if (one_in(g, 2))
        product(g, i, negative, end, low);
    else
        g->d->value[DOT_C][0] = infer_dot_number(g->r, format(g, DOT_C), negative, end, low);
    product(g, neighbour(g, i), negative != low, last - among(g, -3, 3), one_in(g, 2));
}

static void ends(const drawing *g)
{
    const int end = one_in(g, 2) ? 1 : -1;
    size_t i = place(g);
    for (int64_t n = among(g, 0, 3); n > 0; n--, i = neighbour(g, i)) {
        const int of_b = one_in(g, 3) ? -end : end;
        g->d->value[DOT_A][i] = infer_dot_any(g->r, format(g, DOT_A), end);
        g->d->value[DOT_B][i] = one_in(g, 2)
                                    ? infer_dot_number(g->r, format(g, DOT_B), sign(g), 0, true)
                                    : infer_dot_any(g->r, format(g, DOT_B), of_b);
    }
    g->d->value[DOT_C][0] =
        one_in(g, 3) ? 0 : infer_dot_any(g->r, format(g, DOT_C), one_in(g, 4) ? -end : end);
}

static void many(const drawing *g)
{
    const int64_t e = middle(g), reach = one_in(g, 2) ? 4 : 16;
    for (size_t i = 0; i < g->like->k; i++)
        if (!one_in(g, 8))
            product(g, i, sign(g), e + among(g, -reach, reach), false);
    if (!one_in(g, 3))
        draw_c(g, e + among(g, -reach, reach));
}

static void wide(const drawing *g)
{
    const int end = (int)among(g, -1, 1);
    for (size_t i = 0; i < g->like->k; i++) {
        g->d->value[DOT_A][i] = infer_dot_any(g->r, format(g, DOT_A), end);
        g->d->value[DOT_B][i] = infer_dot_any(g->r, format(g, DOT_B), one_in(g, 4) ? 0 : -end);
    }
    g->d->value[DOT_C][0] = infer_dot_any(g->r, format(g, DOT_C), 0);
}

size_t infer_dot_rungs(const infer_dot_rows *like)
{
    return like->k < INFER_DOT_RUNGS ? like->k : INFER_DOT_RUNGS;
}

/* All products small but the one at `first`, and what cancels it: the product at `second`, or the
 * accumulator where they are the same. */
static void cancel(const drawing *g, size_t first, size_t second)
{
    int lo, hi, of_c[2];
    product_range(g, &lo, &hi);
    infer_dot_exponents(format(g, DOT_C), &of_c[0], &of_c[1]);
    const int64_t large = apply_clamp_to(40, lo, hi < of_c[1] - 1 ? hi : of_c[1] - 1),
                  small = large - 66 > lo ? large - 66 : lo;
    for (size_t i = 0; i < g->like->k; i++)
        product(g, i, i == second && i != first, i == first || i == second ? large : small, true);
    if (first == second)
        g->d->value[DOT_C][0] = infer_dot_number(g->r, format(g, DOT_C), true, large, true);
}

static void ladder(const drawing *g)
{
    const size_t i = place(g);
    cancel(g, i, one_in(g, 2) ? i : neighbour(g, i));
}

void infer_dot_rung(rows_random *r, const infer_dot_rows *like, size_t i, infer_dot_draft *d)
{
    const drawing g = {r, like, d};
    d->probe = DOT_LADDER;
    clear(&g);
    const size_t first = i < infer_dot_rungs(like) ? i : place(&g);
    cancel(&g, first, i < infer_dot_rungs(like) ? i : neighbour(&g, first));
}

void infer_dot_draw(rows_random *r, const infer_dot_rows *like, enum infer_dot_probe probe,
                    infer_dot_draft *d)
{
    static void (*const how[INFER_DOT_N_PROBES])(const drawing *g) = {
        [DOT_ZEROS] = zeros, [DOT_SPECIAL] = specials, [DOT_ONE] = one,
        [DOT_JOIN] = join,   [DOT_LADDER] = ladder,    [DOT_TWO] = two,
        [DOT_TIE] = tie,     [DOT_MASKS] = masks,      [DOT_FEW] = few,
        [DOT_ENDS] = ends,   [DOT_BRINK] = brink,      [DOT_MANY] = many,
        [DOT_WIDE] = wide,   [DOT_CARRY] = carry,      [DOT_STEP_TIE] = step_tie,
    };
    const drawing g = {r, like, d};
    d->probe = probe;
    clear(&g);
    how[probe](&g);
    if (like->column[DOT_SCALE_A].width > 0 && one_in(&g, 2))
        scales(&g, one_in(&g, 4) ? 60 : 6);
}
