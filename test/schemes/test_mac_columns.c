/* Dots of 16 columns with all that is above a unit's steps (places of an instruction, chains,
 * phases, promotion, parts of K; any result format and rounding) beside the unit's own dots: of
 * every shipped unit that is taken, and of drawn records. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "schemes/mac/columns.h"
#include "schemes/mac/parameters.h"
#include "schemes/mac/scale.h"
#include "test/support/mac_values.h"

enum { K = 512, PLACES = 4 * K, COLUMNS = MAC_TILE, TILES = 6, RECORDS = 24 };

/* Patterns as numbers, and as units store them: row 0 is A's. */
typedef struct rows {
    size_t n; /* elements that are drawn; zeros fill up the rest */
    uint32_t pattern[1 + COLUMNS][K];
    uint64_t stored[1 + COLUMNS][K];
    uint32_t scale[1 + COLUMNS][K], stored_scale[1 + COLUMNS][K];
} rows;

/* A pattern: any, of few exponents, near zero. */
static uint32_t draw(test_rng *r, int64_t f, int way)
{
    const enum assay_mac_format format = (enum assay_mac_format)f;
    const assay_mac_layout *l = mac_layout_of(format);
    if (l->specials == ASSAY_MAC_INTEGER)
        return (uint32_t)test_between(r, 0, 255);
    const int64_t max = (1 << l->exponent_bits) - 1,
                  near = l->bias + test_between(r, -3, 3) > 0 ? l->bias : 1;
    const int64_t field = way == 0   ? test_between(r, 0, max)
                          : way == 1 ? near
                                     : test_between(r, 0, 2);
    const uint64_t magnitude = (uint64_t)field << l->fraction_bits |
                               (uint64_t)test_between(r, 0, (1 << l->fraction_bits) - 1);
    return (uint32_t)mac_pattern_of(format, mac_is_signed(format) && test_between(r, 0, 1),
                                    magnitude);
}

static void draw_rows(test_rng *r, const assay_mac *m, size_t n, size_t k, rows *out)
{
    const int way = (int)test_between(r, 0, 2);
    memset(out, 0, sizeof *out);
    out->n = n;
    for (int row = 0; row <= COLUMNS; row++)
        for (size_t i = 0; i < out->n; i++) {
            const int64_t format = row == 0 ? m->a : m->b;
            out->pattern[row][i] = draw(r, format, test_between(r, 0, 9) ? way : 1);
            mac_store(format, out->stored[row], i, out->pattern[row][i]);
        }
    for (int row = 0; row <= COLUMNS && m->scale_block > 0; row++)
        for (size_t i = 0; i < k / (size_t)m->scale_block; i++) {
            out->scale[row][i] = draw(r, m->scale, 1);
            mac_store(m->scale, out->stored_scale[row], i, out->scale[row][i]);
        }
}

static float scale_of(const assay_mac *m, uint32_t pattern)
{
    const uint32_t bits = mac_to_f32((enum assay_mac_format)m->scale, pattern);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

typedef struct packed {
    float a[PLACES], b[PLACES][COLUMNS];
    int32_t a_exponent[PLACES], b_exponent[PLACES][COLUMNS];
    float promoted_a[K], promoted_b[K][COLUMNS];
    bool special[1 + COLUMNS];
} packed;

static size_t pack(const mac_levels *l, const rows *in, size_t k, packed *p)
{
    static mac_place place[PLACES];
    const size_t places = mac_levels_length(l, in->n);
    const size_t blocks = l->unit.scale_block > 0 ? k / (size_t)l->unit.scale_block : 0;
    mac_levels_places(l, in->n, place);
    memset(p->special, 0, sizeof p->special);
    for (size_t i = 0; i < places; i++)
        for (int row = 0; row <= COLUMNS; row++) {
            const uint32_t pattern = place[i].element < 0 ? 0 : in->pattern[row][place[i].element];
            const mac_element e = mac_levels_element(l, row > 0, pattern, place[i].phase);
            *(row == 0 ? &p->a[i] : &p->b[i][row - 1]) = e.value;
            *(row == 0 ? &p->a_exponent[i] : &p->b_exponent[i][row - 1]) = e.unit;
            p->special[row] |= e.special;
        }
    for (size_t i = 0; i < blocks; i++)
        for (int row = 0; row <= COLUMNS; row++)
            *(row == 0 ? &p->promoted_a[i] : &p->promoted_b[i][row - 1]) =
                scale_of(&l->unit, in->scale[row][i]);
    return places;
}

static void say_and_fail(const char *name, const assay_mac *m, const rows *in, int j,
                         uint32_t found, uint32_t expected)
{
    size_t n;
    const assay_mac_parameter *all = mac_parameters(&n);
    print_message("# %s:", name);
    for (size_t i = 0; i < n; i++) {
        char value[1200];
        mac_print(&all[i], m, value, sizeof value);
        print_message(" %s: %s", all[i].name, value);
    }
    fail_msg("%zu elements, column %d is %08x, expected %08x", in->n, j, found, expected);
}

/* How many columns of a tile were compared. */
static int compare(const char *name, const mac_levels *l, const rows *in, size_t k)
{
    static packed p;
    const assay_mac *m = &l->unit;
    const size_t places = pack(l, in, k, &p);
    const mac_columns c = {.levels = l,
                           .b = {.unit = &l->steps,
                                 .a_run = (int64_t)k,
                                 .b_run = (int64_t)k,
                                 .value = &p.b[0][0],
                                 .exponent = &p.b_exponent[0][0]},
                           .a = p.a,
                           .a_exponent = p.a_exponent,
                           .promoted_a = p.promoted_a,
                           .promoted_b = &p.promoted_b[0][0]};
    float y[COLUMNS];
    bool odd[COLUMNS] = {false};
    int compared = 0;
    mac_columns_run(&c, 0, places, y, odd);
    for (int j = 0; j < COLUMNS; j++) {
        const assay_mac_rows one = {.k = k,
                                    .a = in->stored[0],
                                    .b = in->stored[1 + j],
                                    .scale_a = in->stored_scale[0],
                                    .scale_b = in->stored_scale[1 + j]};
        const uint32_t expected = test_mac_dot(m, &one);
        uint32_t found;
        memcpy(&found, &y[j], sizeof found);
        if (p.special[0] || p.special[1 + j] || odd[j])
            continue;
        if (found != expected)
            say_and_fail(name, m, in, j, found, expected);
        compared++;
    }
    return compared;
}

static struct {
    int taken, above, compared;
} tried;

/* Units under block scales are test_mac_tile's. */
static void try_unit(test_rng *r, const char *name, const assay_mac *m)
{
    static rows in;
    const size_t multiple = mac_multiple(m);
    const bool promoted = m->scale_place == ASSAY_MAC_PROMOTED;
    mac_levels l;
    if (mac_contradiction(m) || multiple > K || (m->scale_block > 0 && !promoted) ||
        !mac_levels_of(m, ASSAY_ISA_AVX2, &l))
        return;
    tried.taken++;
    tried.above += !l.plain;
    for (int i = 0; i < TILES; i++) {
        const size_t max = K / multiple < 4 ? K / multiple : 4;
        const size_t k = multiple * (size_t)test_between(r, 1, (int64_t)max);
        mac_levels_of(m, i % 2 ? ASSAY_ISA_AVX2 : ASSAY_ISA_PORTABLE, &l);
        const int64_t filled = l.plain ? 0 : test_between(r, 0, (int64_t)multiple - 1);
        draw_rows(r, m, k - (size_t)filled, k, &in);
        tried.compared += compare(name, &l, &in, k);
    }
}

/* ---- drawn records ---- */

static void draw_order(test_rng *r, assay_mac *m)
{
    const int64_t group = m->group > 0 ? m->group : 4;
    m->instruction = group * test_between(r, 1, 4);
    m->order = m->instruction <= ASSAY_MAC_MAX_ORDER ? m->instruction : 0;
    for (int64_t i = 0; i < m->order; i++) {
        const int64_t j = test_between(r, 0, i);
        m->places[i] = m->places[j];
        m->places[j] = (uint8_t)i;
    }
}

static void draw_level(test_rng *r, assay_mac *m)
{
    const int64_t each = m->instruction > 0 ? m->instruction : m->group;
    switch (test_between(r, 0, 7)) {
    case 0:
        draw_order(r, m);
        break;
    case 1:
        m->start = ASSAY_MAC_START_ZERO;
        m->chains = test_between(r, 1, 5);
        break;
    case 2:
        m->promote = each * test_between(r, 1, 3);
        break;
    case 3:
        m->split_k = test_between(r, 1, 7);
        m->split_sum = test_between(r, 0, 1);
        break;
    case 4:
        m->k_order = ASSAY_MAC_DESCENDING;
        break;
    case 5:
        m->phases = test_between(r, 1, 4);
        m->a_digits = test_between(r, 1, 6);
        m->b_digits = test_between(r, 1, 6);
        break;
    case 6:
        m->promote = each * 2;
        m->scale_block = m->promote * test_between(r, 1, 2);
        m->scale_place = ASSAY_MAC_PROMOTED;
        m->scale = test_between(r, 0, 1) ? ASSAY_MAC_F32 : ASSAY_MAC_UE4M3;
        break;
    default:
        m->acc_round = test_between(r, 0, ASSAY_ROUND_COUNT - 1);
        m->outer_round = test_between(r, 0, ASSAY_ROUND_COUNT - 1);
        m->out_round = test_between(r, 0, ASSAY_ROUND_COUNT - 1);
    }
}

static void draw_result(test_rng *r, assay_mac *m)
{
    static const struct {
        int64_t format, nan;
    } results[] = {{ASSAY_MAC_F32, 0x7fc00000}, {ASSAY_MAC_F16, 0x7e00}, {ASSAY_MAC_BF16, 0x7fc0}};
    const int i = (int)test_between(r, 0, 2);
    m->acc = m->out = results[i].format;
    m->nan = results[i].nan;
}

static void draw_parameter(test_rng *r, assay_mac *m)
{
    size_t n;
    int64_t v[64];
    const assay_mac_parameter *all = mac_parameters(&n),
                              *p = &all[test_between(r, 0, (int64_t)n - 1)];
    const size_t values = test_mac_values(p, *mac_member(m, p), v);
    if (values > 0 && p->kind != ASSAY_MAC_FORMAT)
        *mac_member(m, p) = v[test_between(r, 0, (int64_t)values - 1)];
}

static void every_unit(void **state)
{
    test_rng r = test_seed("columns of units with all that is above steps", 34);
    int left = 0;
    (void)state;
    for (const char *const *name = assay_mac_units(); *name; name++) {
        assay_mac_unit u;
        assay_error err;
        mac_levels l;
        assert_ok(mac_open(*name, &u, &err), &err);
        left += !mac_levels_of(&u.record, ASSAY_ISA_PORTABLE, &l);
        const int before = tried.compared;
        for (int i = 0; i < 10; i++)
            try_unit(&r, *name, &u.record);
        if (u.record.scale_block == 0 && u.record.out != ASSAY_MAC_F64 &&
            tried.compared - before < 10 * TILES)
            fail_msg("%s: %d columns were compared", *name, tried.compared - before);
    }
    print_message("# %d units are not taken\n", left);
    assert_int_equal(left, 1); /* f64-fma4 */
}

static void drawn_records(void **state)
{
    test_rng r = test_seed("columns of drawn records", 35);
    (void)state;
    tried.taken = tried.above = tried.compared = 0;
    for (const char *const *name = assay_mac_units(); *name; name++) {
        assay_mac_unit u;
        assay_error err;
        assert_ok(mac_open(*name, &u, &err), &err);
        for (int i = 0; i < RECORDS; i++) {
            assay_mac m = u.record;
            char what[128];
            snprintf(what, sizeof what, "%s, changed (%d)", *name, i);
            for (int64_t n = test_between(&r, 1, 3); n > 0; n--)
                draw_level(&r, &m);
            if (test_between(&r, 0, 1))
                draw_result(&r, &m);
            if (test_between(&r, 0, 1))
                draw_parameter(&r, &m);
            mac_drop_unread(&m);
            try_unit(&r, what, &m);
        }
    }
    print_message("# %d records taken, %d of them with something above steps, %d columns\n",
                  tried.taken, tried.above, tried.compared);
    assert_true(tried.above > 500 && tried.compared > 20 * tried.taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_unit),
                                       cmocka_unit_test(drawn_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
