/* The shipped matrix units against rows of real cards and of models that were verified on them
 * (test/vectors/matrix-units, all rows where ../shared is there), and unit files that are wrong. */
#include <stdio.h>
#include <string.h>

#include "schemes/mac/mac.h"
#include "test/support/npz.h"
#include "test/support/support.h"

enum { MAX_K = 64 };

/* Columns of a file of rows. */
struct rows {
    struct npz *z;
    size_t n, k, scales;
    const int64_t *a, *b, *c, *d, *scale_a, *scale_b;
};

static const int64_t *column(struct rows *r, const char *name, size_t *width)
{
    size_t n;
    struct npz_shape shape;
    const int64_t *x = npz_i64(r->z, name, &n, &shape);
    assert_non_null(x);
    r->n = shape.dim[0];
    *width = shape.ndim > 1 ? shape.dim[1] : 1;
    return x;
}

static struct rows open_rows(const char *file, const char *c, const char *d)
{
    char path[128];
    struct rows r = {0};
    size_t one;
    snprintf(path, sizeof path, "matrix-units/%s.npz", file);
    r.z = npz_vectors(path);
    assert_non_null(r.z);
    r.a = column(&r, "a", &r.k);
    r.b = column(&r, "b", &r.k);
    r.c = column(&r, c, &one);
    r.d = column(&r, d, &one);
    if (npz_has(r.z, "scale_a")) {
        r.scale_a = column(&r, "scale_a", &r.scales);
        r.scale_b = column(&r, "scale_b", &r.scales);
    }
    assert_true(r.k <= MAX_K && r.scales <= MAX_K);
    return r;
}

/* The dot of row i; zeros fill the last step, they count for nothing. */
static uint32_t dot(const struct rows *r, const assay_mac *m, size_t i)
{
    uint32_t a[2 * MAX_K] = {0}, b[2 * MAX_K] = {0};
    uint8_t scale_a[MAX_K] = {0}, scale_b[MAX_K] = {0};
    const size_t group = (size_t)m->group;
    for (size_t j = 0; j < r->k; j++) {
        a[j] = (uint32_t)r->a[i * r->k + j];
        b[j] = (uint32_t)r->b[i * r->k + j];
    }
    for (size_t j = 0; j < r->scales; j++) {
        scale_a[j] = (uint8_t)r->scale_a[i * r->scales + j];
        scale_b[j] = (uint8_t)r->scale_b[i * r->scales + j];
    }
    const assay_mac_row row = {
        (r->k + group - 1) / group * group, a, b, (uint32_t)r->c[i], scale_a, scale_b};
    return mac_dot(m, &row);
}

static void compare(const struct rows *r, const char *file, const assay_mac_unit *u, size_t i,
                    int64_t expected)
{
    const uint32_t got = dot(r, &u->record, i);
    if (got != (uint32_t)expected)
        fail_msg("%s under %s, row %zu: %08x, expected %08x", file, u->name, i, got,
                 (uint32_t)expected);
}

static assay_mac_unit unit(const char *name)
{
    assay_mac_unit u;
    assay_error err;
    if (mac_open(name, &u, &err) != ASSAY_OK)
        fail_msg("%s", err.text);
    return u;
}

/* Rows in contract by `d`; where the smallest maximum decides (flag bit 2 alone) by `d_floor`,
 * whose reading the units' least_max is. */
static void every_unit_has_its_rows(void **state)
{
    enum { NO_TRUTH = 1 | 2 | 8 | 64 };
    (void)state;
    for (const char *const *name = assay_mac_units(); *name != NULL; name++) {
        const assay_mac_unit u = unit(*name);
        struct rows r = open_rows(*name, "c", "d");
        size_t w, compared = 0;
        const int64_t *ok = column(&r, "contract_ok", &w), *floor = NULL, *flags = NULL;
        assert_string_equal(u.name, *name);
        if (npz_has(r.z, "d_floor")) {
            floor = column(&r, "d_floor", &w);
            flags = column(&r, "flags", &w);
        }
        size_t in_contract = 0;
        for (size_t i = 0; i < r.n; i++)
            in_contract += ok[i] != 0;
        for (size_t i = 0; i < r.n; i++) {
            const bool by_floor = floor != NULL && !ok[i] && (flags[i] & NO_TRUTH) == 0;
            const bool by_d = ok[i] || in_contract == 0;
            if (by_d || by_floor)
                compare(&r, *name, &u, i, by_floor ? floor[i] : r.d[i]);
            compared += by_d || by_floor;
        }
        print_message("%s: %zu of %zu rows\n", *name, compared, r.n);
        assert_true(compared > r.n / 2);
        npz_close(r.z);
    }
}

/* Outputs of real cards: every row counts. */
static const struct card {
    const char *file, *f32, *f16;
} cards[] = {
    {"silicon-v100-f16", "nv-volta-f16-f32", "nv-volta-f16-f16"},
    {"silicon-a100-bf16", "nv-ampere-bf16-f32", NULL},
    {"silicon-a100-f16", "nv-ampere-f16-f32", "nv-ampere-f16-f16"},
    {"silicon-a100-tf32", "nv-ampere-tf32-f32", NULL},
    {"silicon-a2-bf16", "nv-ampere-bf16-f32", NULL},
    {"silicon-a2-f16", "nv-ampere-f16-f32", "nv-ampere-f16-f16"},
    {"silicon-a2-tf32", "nv-ampere-tf32-f32", NULL},
    {"silicon-ada-bf16", "nv-ampere-bf16-f32", NULL},
    {"silicon-ada-f16", "nv-ampere-f16-f32", "nv-ampere-f16-f16"},
    {"silicon-ada-tf32", "nv-ampere-tf32-f32", NULL},
    {"silicon-ada-e4m3fn", "nv-ada-e4m3-f32", NULL},
    {"silicon-ada-e5m2", "nv-ada-e5m2-f32", NULL},
    {"silicon-l40s-e4m3fn", "nv-ada-e4m3-f32", NULL},
    {"silicon-l40s-e5m2", "nv-ada-e5m2-f32", NULL},
    {"silicon-l40s-f16", "nv-ampere-f16-f32", "nv-ampere-f16-f16"},
    {"silicon-h100-bf16", "nv-hopper-bf16-f32", NULL},
    {"silicon-h100-f16", "nv-hopper-f16-f32", "nv-hopper-f16-f16"},
    {"silicon-h100-tf32", "nv-hopper-tf32-f32", NULL},
    {"silicon-h100-e4m3fn", "nv-hopper-e4m3-f32", NULL},
    {"silicon-h100-e5m2", "nv-hopper-e5m2-f32", NULL},
    {"silicon-h200-f16", "nv-hopper-f16-f32", "nv-hopper-f16-f16"},
    {"silicon-h200-e4m3fn", "nv-hopper-e4m3-f32", NULL},
    {"silicon-h200-e5m2", "nv-hopper-e5m2-f32", NULL},
    {"silicon-h200-bf16", "nv-hopper-bf16-f32", NULL},
    {"silicon-h200-tf32", "nv-hopper-tf32-f32", NULL},
    {"silicon-l40s-bf16", "nv-ampere-bf16-f32", NULL},
    {"silicon-l40s-tf32", "nv-ampere-tf32-f32", NULL},
    {"silicon-b200-bf16", "nv-hopper-bf16-f32", NULL},
    {"silicon-b200-tf32", "nv-hopper-tf32-f32", NULL},
    {"silicon-b200-f16", "nv-blackwell-f16-f32", "nv-hopper-f16-f16"},
};
enum { N_CARDS = sizeof cards / sizeof *cards };

static void every_row_of_a_card(void **state)
{
    (void)state;
    for (int i = 0; i < N_CARDS; i++)
        for (int half = 0; half < 2; half++) {
            const char *name = half ? cards[i].f16 : cards[i].f32;
            if (name == NULL)
                continue;
            const assay_mac_unit u = unit(name);
            struct rows r =
                open_rows(cards[i].file, half ? "c_f16" : "c_f32", half ? "d_f16" : "d_f32");
            for (size_t k = 0; k < r.n; k++)
                compare(&r, cards[i].file, &u, k, r.d[k]);
            npz_close(r.z);
        }
}

/* The smallest dots that tell units apart: schemes/SOURCES.md. */
static void smallest_dots(void **state)
{
    static const struct {
        const char *unit;
        uint32_t a[2], b[2], c, d;
    } dots[] = {
        {"nv-volta-f16-f32", {0x3c00, 0x8c00}, {0x3c00, 0x0c00}, 0, 0x3f800000},
        {"nv-turing-f16-f32", {0x3c00, 0x8c00}, {0x3c00, 0x0c00}, 0, 0x3f7fffff},
        {"nv-turing-f16-f32", {0x3c00, 0x8c00}, {0x3c00, 0x0800}, 0, 0x3f800000},
        {"nv-hopper-f16-f32", {0x3c00, 0x8c00}, {0x3c00, 0x0800}, 0, 0x3f7fffff},
        {"nv-hopper-e4m3-f32", {0x38, 0x08}, {0x38, 0x00}, 0, 0x3f800000},
        {"nv-ampere-f16-f32", {0, 0}, {0x6400, 0}, 1, 1}, /* a zero has no exponent */
        {"nv-ampere-f16-f32", {0x8000, 0}, {0x3c00, 0}, 0x80000000, 0},
        {"nv-ampere-f16-f32", {0x7c00, 0}, {0, 0}, 0, 0x7fffffff},
        {"nv-ampere-f16-f32", {0x7c00, 0xfc00}, {0x3c00, 0x3c00}, 0, 0x7fffffff},
        {"nv-ampere-f16-f32", {0xfc00, 0}, {0x3c00, 0}, 0, 0xff800000},
        {"nv-ampere-f16-f32", {0, 0}, {0, 0}, 0x7fc00000, 0x7fffffff},
    };
    (void)state;
    for (size_t i = 0; i < sizeof dots / sizeof *dots; i++) {
        const assay_mac_unit u = unit(dots[i].unit);
        uint32_t a[MAX_K] = {dots[i].a[0], dots[i].a[1]}, b[MAX_K] = {dots[i].b[0], dots[i].b[1]};
        const assay_mac_row row = {(size_t)u.record.group, a, b, dots[i].c, NULL, NULL};
        const uint32_t d = mac_dot(&u.record, &row);
        if (d != dots[i].d)
            fail_msg("dot %zu under %s: %08x, expected %08x", i, u.name, d, dots[i].d);
    }
}

/* The codes that rows rarely have: a scale that is NaN, Inf times zero in either order. */
static void not_numbers(void **state)
{
    const assay_mac_unit u = unit("nv-blackwell-mxf8-e5m2");
    const uint8_t one[MAX_K] = {127}, nan[MAX_K] = {255};
    uint32_t inf[MAX_K] = {0x7c}, zero[MAX_K] = {0};
    const assay_mac_row rows[] = {
        {32, zero, zero, 0, nan, one},
        {32, zero, zero, 0, one, nan},
        {32, inf, zero, 0, one, one},
        {32, zero, inf, 0, one, one},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(mac_dot(&u.record, &rows[i]), 0x7fffffff);
    const assay_mac_row square = {32, inf, inf, 0, one, one};
    assert_int_equal(mac_dot(&u.record, &square), 0x7f800000);
}

#define GOOD                                                                                       \
    "a: f16, b: f16, acc: f32, out: f32, group: 4, align_bits: 23, out_round: trunc, nan: 0"

#define REST "group: 4, align_bits: 23, nan: 0, out_round: odd"

static void wrong_files(void **state)
{
    static const char *const wrong[][2] = {
        {"[1]", "no unit"},
        {"unit: x\n", "no unit"},
        {"mac: {" GOOD "}\n", "no unit"},
        {"unit: a-name-of-more-than-63-bytes-0123456789012345678901234567890123456789\n"
         "mac: {" GOOD "}\n",
         "at most 63 bytes"},
        {"unit: x\nmac: 3\n", "expected parameters"},
        {"unit: [x]\nmac: {" GOOD "}\n", "expected a name"},
        {"unit: x\ndescription: ''\nmac: {" GOOD "}\n", "expected a line"},
        {"unit: x\nmac: {" GOOD "}\nmak: 3\n", "unknown key \"mak\""},
        {"unit: x\nmac: {" GOOD ", aline_bits: 3}\n", "nearest: align_bits"},
        {"unit: x\nmac: {" GOOD ", scale_block: -1}\n", "an integer from 0 to 1024"},
        {"unit: x\nmac: {" GOOD ", scale_block: [1]}\n", "an integer from 0 to 1024"},
        {"unit: x\nmac: {" GOOD ", out_frac: 24}\n", "an integer from 0 to 23"},
        {"unit: x\nmac: {a: f16, b: e8m0, acc: f32, out: f32, " REST "}\n", "formats of scales"},
        {"unit: x\nmac: {a: ue4m3, b: f16, acc: f32, out: f32, " REST "}\n", "formats of scales"},
        {"unit: x\nmac: {a: f16, b: ue4m3, acc: f32, out: f32, " REST "}\n", "formats of scales"},
        {"unit: x\nmac: {a: f16, b: f16, acc: f32, out: e5m2, " REST "}\n", "acc and out take"},
        {"unit: x\nmac: {a: f16, b: f16, acc: f16, out: bf16, " REST "}\n", "does not hold"},
        {"unit: x\nmac: {" GOOD ", out_frac: 99999999999999999999}\n", "an integer"},
        {"unit: x\nmac: {" GOOD ", out_frac: 3x}\n", "found \"3x\""},
        {"unit: x\nmac: {" GOOD ", align_cut: down}\n", "expected a rounding"},
        {"unit: x\nmac: {a: f15}\n", "expected a format"},
        {"unit: x\nmac: {a: f16, b: f16, acc: f32, out: f32, group: 4, align_bits: 23, nan: 0}\n",
         "out_round is not given"},
        {"unit: x\nmac: {a: e8m0, b: f16, acc: f32, out: f32, group: 4, align_bits: 23, nan: 0, "
         "out_round: odd}\n",
         "formats of scales"},
        {"unit: x\nmac: {a: f16, b: f16, acc: e5m2, out: f32, group: 4, align_bits: 23, nan: 0, "
         "out_round: odd}\n",
         "acc and out take"},
        {"unit: x\nmac: {a: f16, b: f16, acc: f32, out: f16, group: 4, align_bits: 23, nan: 0, "
         "out_round: odd}\n",
         "out does not hold"},
        {"unit: x\nmac: {a: f16, b: f16, acc: f16, out: f16, group: 4, align_bits: 23, nan: 0, "
         "out_round: odd, out_frac: 11}\n",
         "more than out has"},
        {"unit: x\nmac: {a: f16, b: f16, acc: f16, out: f16, group: 4, align_bits: 23, nan: 65536, "
         "out_round: odd}\n",
         "wider than out"},
    };
    assay_mac_unit u;
    assay_error err;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_not_equal(mac_read("f", wrong[i][0], strlen(wrong[i][0]), &u, &err), ASSAY_OK);
        if (strstr(err.text, wrong[i][1]) == NULL)
            fail_msg("\"%s\" says \"%s\", expected \"%s\"", wrong[i][0], err.text, wrong[i][1]);
    }
    const char *good = "unit: x\nmac: {" GOOD "}\n";
    assert_int_equal(mac_read("f", good, strlen(good), &u, &err), ASSAY_OK);
    assert_int_not_equal(mac_read("f", "a: [", 4, &u, &err), ASSAY_OK);
    assert_int_not_equal(mac_open("nv-hoper-f16-f32", &u, &err), ASSAY_OK);
    assert_non_null(strstr(err.text, "nearest: nv-hopper-f16-f32"));
    assert_int_not_equal(mac_open("nowhere.yaml", &u, &err), ASSAY_OK);
    assert_int_not_equal(mac_open("nowhere.yml", &u, &err), ASSAY_OK);
    assert_int_not_equal(mac_open("./nowhere", &u, &err), ASSAY_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_has_its_rows),
        cmocka_unit_test(every_row_of_a_card),
        cmocka_unit_test(smallest_dots),
        cmocka_unit_test(not_numbers),
        cmocka_unit_test(wrong_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
