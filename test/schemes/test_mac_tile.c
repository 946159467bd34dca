/* Sums of 16 columns at a time beside the unit's own dots, of every shipped unit that is taken, and
 * of those with one parameter changed that still are: any patterns, small ones, and sums that
 * cancel; with scales where the unit has them. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "schemes/mac/chain.h"
#include "schemes/mac/formats.h"
#include "schemes/mac/parameters.h"
#include "schemes/mac/scale.h"
#include "schemes/mac/tile.h"
#include "test/schemes/mac_tile_operands.h"
#include "test/support/mac_values.h"

enum { STEPS = 4, TRIALS = 400 };

static void run_tile(const assay_mac *m, size_t k, size_t block, const columns *c, mac_running *run)
{
    static mac_tile_scale scales[256];
    const mac_tile t = {.unit = m,
                        .a_run = (int64_t)block,
                        .b_run = (int64_t)block,
                        .value = &c->b[0][0],
                        .exponent = &c->b_exponent[0][0],
                        .scale = m->scale_block > 0 ? &c->b_scale[0][0] : NULL,
                        .scales = scales};
    if (m->scale_block > 0)
        mac_tile_scales(m, scales);
    mac_tile_run(&t, c->a, c->a_exponent, c->a_scale, 0, k, run);
}

/* How many columns were compared. */
static int compare(test_rng *r, const char *name, const assay_mac *m, size_t k, const operands *o)
{
    static columns c;
    const bool scaled = m->scale_block > 0;
    const size_t block = scaled ? (size_t)m->scale_block : k;
    mac_running run = {.odd = {false}};
    int compared = 0;
    lay_out(m, k, k / block, o, &c);
    run_tile(m, k, block, &c, &run);
    for (int j = 0; j < MAC_TILE; j++) {
        const assay_mac_rows in = {.k = k,
                                   .a = o->a,
                                   .b = o->b[j],
                                   .scale_a = scaled ? o->a_scale : NULL,
                                   .scale_b = scaled ? o->b_scale[j] : NULL};
        if (c.special[j] || run.odd[j])
            continue;
        const uint32_t expected = test_mac_dot(m, &in);
        if (mac_tile_pattern(&run, j) != expected)
            fail_msg("%s, k %zu, seed state %llu: column %d is %08x, expected %08x", name, k,
                     (unsigned long long)test_random(r), j, mac_tile_pattern(&run, j), expected);
        compared++;
    }
    return compared;
}

/* Rows of elements of more than 8 bits, as units store them and widened. */
typedef struct wide_rows {
    uint32_t pattern[1 + MAC_TILE][K], stored[1 + MAC_TILE][K];
} wide_rows;

/* A pattern: any, of few exponents, near zero. */
static uint32_t draw_wide(test_rng *r, int64_t format, int way)
{
    const struct assay_mac_layout *l = mac_layout_of((enum assay_mac_format)format);
    const int64_t field = way == 0   ? test_between(r, 0, (1 << l->exponent_bits) - 1)
                          : way == 1 ? l->bias + test_between(r, -3, 3)
                                     : test_between(r, 0, 2);
    const int64_t fraction = test_between(r, 0, (1 << l->fraction_bits) - 1);
    const uint32_t pattern =
        (uint32_t)((test_between(r, 0, 1) << l->exponent_bits | field) << l->fraction_bits |
                   fraction);
    return format == ASSAY_MAC_TF32 ? pattern << 13 : pattern;
}

static void draw_wide_rows(test_rng *r, const assay_mac *m, size_t k, wide_rows *w)
{
    const int way = (int)test_between(r, 0, 2);
    for (int row = 0; row <= MAC_TILE; row++)
        for (size_t i = 0; i < k; i++)
            w->pattern[row][i] = draw_wide(r, row == 0 ? m->a : m->b, way);
    for (size_t i = 0; m->a == m->b && i + 1 < k; i += 2) { /* column 0 cancels, but for little */
        w->pattern[0][i + 1] = w->pattern[0][i];
        w->pattern[1][i + 1] =
            w->pattern[1][i] ^ 1U << (mac_layout_of((enum assay_mac_format)m->a)->bits - 1);
    }
    for (int row = 0; row <= MAC_TILE; row++)
        for (size_t i = 0; i < k; i++) {
            if ((row == 0 ? m->a : m->b) == ASSAY_MAC_TF32)
                w->stored[row][i] = w->pattern[row][i];
            else
                ((uint16_t *)w->stored[row])[i] = (uint16_t)w->pattern[row][i];
        }
}

static int compare_wide(const char *name, const assay_mac *m, size_t k, const wide_rows *w)
{
    static float a[K], b[K][MAC_TILE];
    static int32_t a_exponent[K], b_exponent[K][MAC_TILE];
    mac_running run = {.odd = {false}};
    bool special[1 + MAC_TILE] = {false};
    int compared = 0;
    for (int row = 0; row <= MAC_TILE; row++)
        for (size_t i = 0; i < k; i++) {
            const mac_element e = mac_tile_element(m, row == 0 ? m->a : m->b, w->pattern[row][i]);
            *(row == 0 ? &a[i] : &b[i][row - 1]) = e.value;
            *(row == 0 ? &a_exponent[i] : &b_exponent[i][row - 1]) = e.unit;
            special[row] = special[row] || e.special;
        }
    const mac_tile t = {.unit = m,
                        .a_run = (int64_t)k,
                        .b_run = (int64_t)k,
                        .value = &b[0][0],
                        .exponent = &b_exponent[0][0]};
    mac_tile_run(&t, a, a_exponent, NULL, 0, k, &run);
    for (int j = 0; j < MAC_TILE; j++) {
        const assay_mac_rows in = {.k = k, .a = w->stored[0], .b = w->stored[1 + j]};
        if (special[0] || special[1 + j] || run.odd[j])
            continue;
        const uint32_t expected = test_mac_dot(m, &in);
        if (mac_tile_pattern(&run, j) != expected)
            fail_msg("%s, k %zu: column %d is %08x, expected %08x", name, k, j,
                     mac_tile_pattern(&run, j), expected);
        compared++;
    }
    return compared;
}

/* How many columns of so many tiles were compared. */
static int compare_tiles(test_rng *r, const char *name, const assay_mac *m, int trials)
{
    static operands o;
    static wide_rows w;
    const size_t multiple = mac_multiple(m);
    int compared = 0;
    for (int i = 0; i < trials && multiple <= K; i++) {
        const size_t steps = K / multiple < STEPS ? K / multiple : STEPS;
        const size_t k = multiple * (size_t)test_between(r, 1, (int64_t)steps);
        if (mac_tile_is_wide(m)) {
            draw_wide_rows(r, m, k, &w);
            compared += compare_wide(name, m, k, &w);
        } else {
            draw_all(r, m, k, &o);
            compared += compare(r, name, m, k, &o);
        }
    }
    return compared;
}

static void every_unit_taken(void **state)
{
    test_rng r = test_seed("columns of matrix units", 31);
    int taken = 0, scaled = 0;
    (void)state;
    for (const char *const *name = assay_mac_units(); *name; name++) {
        assay_mac_unit u;
        assay_error err;
        assert_ok(mac_open(*name, &u, &err), &err);
        if (!mac_tile_takes(&u.record))
            continue;
        const int compared = compare_tiles(&r, *name, &u.record, TRIALS);
        if (compared < TRIALS)
            fail_msg("%s: %d columns of %d tiles were compared", *name, compared, TRIALS);
        taken++;
        scaled += u.record.scale_block > 0;
    }
    print_message("# %d units, %d of them with scales\n", taken, scaled);
    assert_true(taken > scaled && scaled > 0);
}

/* Numbers of all sizes, of few (so that sums cancel), and around the least ones; infinities. */
static uint32_t draw_f32(test_rng *r, int way)
{
    const uint32_t sign = (uint32_t)test_between(r, 0, 1) << 31,
                   fraction = (uint32_t)test_between(r, 0, 0x7fffff);
    const int64_t field = way == 0   ? test_between(r, 0, 254)
                          : way == 1 ? test_between(r, 125, 129)
                          : way == 2 ? test_between(r, 50, 66)
                                     : test_between(r, 190, 255);
    return sign | (uint32_t)field << 23 |
           (field == 255 ? 0 : fraction & (way == 1 ? 0x700000 : ~0U));
}

/* Draws element i of a row as the unit stores it; its value. */
static float draw_held(test_rng *r, const assay_mac *m, int64_t format, int way, uint32_t *row,
                       size_t i)
{
    const uint32_t drawn =
        format == ASSAY_MAC_F32 ? draw_f32(r, way) : draw_wide(r, format, way % 3);
    const bool half = format == ASSAY_MAC_BF16 || format == ASSAY_MAC_F16;
    if (half)
        ((uint16_t *)row)[i] = (uint16_t)drawn;
    else
        row[i] = drawn;
    return mac_chain_number(m, format, ASSAY_MAC_NONE, false, drawn);
}

static void compare_chain(test_rng *r, const char *name, const assay_mac *m, int *numbers)
{
    static uint32_t a[K], b[MAC_CHAIN][K];
    static float wide_a[K], wide_b[K * MAC_CHAIN];
    const size_t multiple = mac_multiple(m), steps = 40 / multiple;
    const size_t k = multiple * (size_t)test_between(r, 1, steps ? (int64_t)steps : 1);
    const int way = (int)test_between(r, 0, 3);
    float y[MAC_CHAIN];
    if (k > K)
        return;
    for (size_t i = 0; i < k; i++) {
        wide_a[i] = draw_held(r, m, m->a, way, a, i);
        for (int j = 0; j < MAC_CHAIN; j++)
            wide_b[i * MAC_CHAIN + (size_t)j] = draw_held(r, m, m->b, way, b[j], i);
    }
    for (enum assay_isa isa = ASSAY_ISA_PORTABLE; isa <= ASSAY_ISA_AVX2; isa++) {
        bool odd[MAC_CHAIN] = {false};
        mac_chain_choose(isa)(m, wide_a, wide_b, k, y, odd);
        for (int j = 0; j < MAC_CHAIN; j++) {
            const assay_mac_rows in = {.k = k, .a = a, .b = b[j]};
            const uint32_t expected = test_mac_dot(m, &in);
            uint32_t found;
            memcpy(&found, &y[j], sizeof found);
            if (!odd[j] && found != expected)
                fail_msg("%s, k %zu: column %d is %08x, expected %08x", name, k, j, found,
                         expected);
            *numbers += !odd[j];
        }
    }
}

static void chains(void **state)
{
    test_rng r = test_seed("chains of IEEE steps", 32);
    int taken = 0, numbers = 0;
    (void)state;
    for (const char *const *name = assay_mac_units(); *name; name++) {
        assay_mac_unit u;
        assay_error err;
        assert_ok(mac_open(*name, &u, &err), &err);
        if (!mac_chain_takes(&u.record))
            continue;
        const int before = numbers;
        for (int i = 0; i < TRIALS; i++)
            compare_chain(&r, *name, &u.record, &numbers);
        if (numbers - before < TRIALS * MAC_CHAIN / 2)
            fail_msg("%s: %d columns of %d tiles were compared", *name, numbers - before, TRIALS);
        taken++;
    }
    print_message("# %d units, %d columns\n", taken, numbers);
    assert_int_equal(taken, 13); /* f32's four, CDNA1's four, CDNA2's three, BFDOT's two */
}

static struct {
    int taken, left, compared;
} tried;

static void try_unit(test_rng *r, const char *what, const assay_mac *m)
{
    if (mac_contradiction(m))
        return;
    if (mac_tile_takes(m))
        tried.compared += compare_tiles(r, what, m, 4);
    else if (mac_chain_takes(m))
        compare_chain(r, what, m, &tried.compared);
    else {
        tried.left++;
        return;
    }
    tried.taken++;
}

/* A parameter of a unit at each of its values; B's format with A's, too. */
static void try_parameter(test_rng *r, const char *name, const assay_mac *unit,
                          const assay_mac_parameter *p)
{
    int64_t v[64];
    assay_mac m = *unit;
    const size_t n = test_mac_values(p, *mac_member(&m, p), v);
    for (size_t j = 0; j < n; j++) {
        char what[256];
        m = *unit;
        *mac_member(&m, p) = v[j];
        snprintf(what, sizeof what, "%s with %s %lld", name, p->name, (long long)v[j]);
        try_unit(r, what, &m);
        if (strcmp(p->name, "a") == 0) {
            m.b = m.a;
            try_unit(r, what, &m);
        }
    }
}

/* Two parameters at once, drawn. */
static void try_pairs(test_rng *r, const char *name, const assay_mac *unit, int trials)
{
    size_t n_parameters;
    const assay_mac_parameter *p = mac_parameters(&n_parameters);
    for (int i = 0; i < trials; i++) {
        char what[256];
        assay_mac m = *unit;
        int length = snprintf(what, sizeof what, "%s", name);
        for (int k = 0; k < 2; k++) {
            int64_t v[64];
            const assay_mac_parameter *q = &p[test_between(r, 0, (int64_t)n_parameters - 1)];
            const size_t n = test_mac_values(q, *mac_member(&m, q), v);
            if (n == 0)
                continue;
            const int64_t value = v[test_between(r, 0, (int64_t)n - 1)];
            *mac_member(&m, q) = value;
            length += snprintf(what + length, sizeof what - (size_t)length, ", %s %lld", q->name,
                               (long long)value);
        }
        try_unit(r, what, &m);
    }
}

/* Takes no unit whose numbers are others. */
static void one_or_two_parameters_changed(void **state)
{
    test_rng r = test_seed("units with one parameter changed", 33);
    size_t n_parameters;
    const assay_mac_parameter *p = mac_parameters(&n_parameters);
    (void)state;
    for (const char *const *name = assay_mac_units(); *name; name++) {
        assay_mac_unit u;
        assay_error err;
        assert_ok(mac_open(*name, &u, &err), &err);
        if (!mac_tile_takes(&u.record) && !mac_chain_takes(&u.record))
            continue;
        for (size_t i = 0; i < n_parameters; i++)
            try_parameter(&r, *name, &u.record, &p[i]);
        try_pairs(&r, *name, &u.record, mac_chain_takes(&u.record) ? 2000 : 200);
    }
    print_message("# %d units taken, %d not, %d columns\n", tried.taken, tried.left,
                  tried.compared);
    assert_true(tried.taken > 500 && tried.left > 500 && tried.compared > tried.taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_unit_taken), cmocka_unit_test(chains),
                                       cmocka_unit_test(one_or_two_parameters_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
