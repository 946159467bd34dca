/* The shipped matrix units against rows of real cards and of models that were verified on them
 * (test/vectors/matrix-units, all rows where ../shared is there), and unit files that are wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/mac/mac.h"
#include "test/support/npz.h"
#include "test/support/support.h"

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
    return r;
}

/* Row-major patterns in as many bits as the format has, each row of k followed by zeros up to
 * `width`: they fill the last step and count for nothing. */
static void *stored(int64_t format, const int64_t *x, size_t n, size_t k, size_t width)
{
    const size_t bytes = (size_t)mac_layout_of((enum assay_mac_format)format)->bits / 8;
    uint8_t *out = calloc(n * width + 1, bytes);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++) /* little endian */
            memcpy(out + (i * width + j) * bytes, &x[i * k + j], bytes);
    return out;
}

static uint64_t taken(int64_t format, const void *x, size_t i)
{
    const size_t bytes = (size_t)mac_layout_of((enum assay_mac_format)format)->bits / 8;
    uint64_t v = 0;
    memcpy(&v, (const uint8_t *)x + i * bytes, bytes);
    return v;
}

/* Every row's result. */
static void *dots(const struct rows *r, const assay_mac *m)
{
    const size_t each = mac_multiple(m), k = (r->k + each - 1) / each * each;
    void *a = stored(m->a, r->a, r->n, r->k, k), *b = stored(m->b, r->b, r->n, r->k, k),
         *c = stored(m->acc, r->c, r->n, 1, 1), *d = calloc(r->n + 1, 8), *sa = NULL, *sb = NULL;
    assay_error err;
    assert_non_null(d);
    if (r->scales > 0) {
        sa = stored(m->scale, r->scale_a, r->n, r->scales, k / (size_t)m->scale_block);
        sb = stored(m->scale, r->scale_b, r->n, r->scales, k / (size_t)m->scale_block);
    }
    const assay_mac_rows rows = {k, a, b, c, sa, sb};
    assert_int_equal(mac_dots(m, r->n, &rows, d, &err), ASSAY_OK);
    free(a);
    free(b);
    free(c);
    free(sa);
    free(sb);
    return d;
}

static void compare(const char *file, const assay_mac_unit *u, const void *d, size_t i,
                    int64_t expected)
{
    const int64_t got = (int64_t)taken(u->record.out, d, i);
    if (got != expected)
        fail_msg("%s under %s, row %zu: %llx, expected %llx", file, u->name, i,
                 (unsigned long long)got, (unsigned long long)expected);
}

/* Some units have rows under a card's name only, or none. */
static bool has_rows(const char *name)
{
    char path[128], found[512];
    snprintf(path, sizeof path, "matrix-units/%s.npz", name);
    return npz_vectors_path(path, 0, found, sizeof found) != NULL;
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
        if (!has_rows(*name))
            continue;
        struct rows r = open_rows(*name, "c", "d");
        void *d = dots(&r, &u.record);
        size_t w, compared = 0;
        const int64_t *ok = NULL, *floor = NULL, *flags = NULL;
        assert_string_equal(u.name, *name);
        if (npz_has(r.z, "contract_ok"))
            ok = column(&r, "contract_ok", &w);
        if (npz_has(r.z, "d_floor")) {
            floor = column(&r, "d_floor", &w);
            flags = column(&r, "flags", &w);
        }
        size_t in_contract = 0;
        for (size_t i = 0; i < r.n; i++)
            in_contract += ok == NULL || ok[i] != 0;
        for (size_t i = 0; i < r.n; i++) {
            const bool by_d = ok == NULL || ok[i] || in_contract == 0;
            const bool by_floor = floor != NULL && !by_d && (flags[i] & NO_TRUTH) == 0;
            if (by_d || by_floor)
                compare(*name, &u, d, i, by_floor ? floor[i] : r.d[i]);
            compared += by_d || by_floor;
        }
        print_message("%s: %zu of %zu rows\n", *name, compared, r.n);
        assert_true(compared > r.n / 2);
        free(d);
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
    {"silicon-ada-bf16", "nv-ada-bf16-f32", NULL},
    {"silicon-ada-f16", "nv-ada-f16-f32", "nv-ada-f16-f16"},
    {"silicon-ada-tf32", "nv-ada-tf32-f32", NULL},
    {"silicon-ada-e4m3fn", "nv-ada-e4m3-f32", "nv-ada-e4m3-f16"},
    {"silicon-ada-e5m2", "nv-ada-e5m2-f32", "nv-ada-e5m2-f16"},
    {"silicon-l40s-e4m3fn", "nv-ada-e4m3-f32", NULL},
    {"silicon-l40s-e5m2", "nv-ada-e5m2-f32", NULL},
    {"silicon-l40s-f16", "nv-ada-f16-f32", "nv-ada-f16-f16"},
    {"silicon-h100-bf16", "nv-hopper-bf16-f32", NULL},
    {"silicon-h100-f16", "nv-hopper-f16-f32", "nv-hopper-f16-f16"},
    {"silicon-h100-tf32", "nv-hopper-tf32-k4-f32", NULL},
    {"silicon-h100-e4m3fn", "nv-hopper-e4m3-f32", "nv-hopper-mma-e4m3-f16"},
    {"silicon-h100-e5m2", "nv-hopper-e5m2-f32", "nv-hopper-mma-e5m2-f16"},
    {"silicon-h200-f16", "nv-hopper-f16-f32", "nv-hopper-f16-f16"},
    {"silicon-h200-e4m3fn", "nv-hopper-e4m3-f32", "nv-hopper-mma-e4m3-f16"},
    {"silicon-h200-e5m2", "nv-hopper-e5m2-f32", "nv-hopper-mma-e5m2-f16"},
    {"silicon-h200-bf16", "nv-hopper-bf16-f32", NULL},
    {"silicon-h200-tf32", "nv-hopper-tf32-k4-f32", NULL},
    {"silicon-l40s-bf16", "nv-ada-bf16-f32", NULL},
    {"silicon-l40s-tf32", "nv-ada-tf32-f32", NULL},
    {"silicon-b200-bf16", "nv-blackwell-bf16-f32", NULL},
    {"silicon-b200-tf32", "nv-blackwell-tf32-k4-f32", NULL},
    {"silicon-b200-e4m3fn", "nv-blackwell-mma-e4m3-f32", "nv-blackwell-mma-e4m3-f16"},
    {"silicon-b200-e5m2", "nv-blackwell-mma-e5m2-f32", "nv-blackwell-mma-e5m2-f16"},
    {"silicon-b200-f16", "nv-blackwell-f16-f32", "nv-blackwell-f16-f16"},
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
            void *d = dots(&r, &u.record);
            for (size_t k = 0; k < r.n; k++)
                compare(cards[i].file, &u, d, k, r.d[k]);
            free(d);
            npz_close(r.z);
        }
}

/* The smallest dots that tell units apart: schemes/SOURCES.md. */
static void smallest_dots(void **state)
{
    static const struct {
        const char *unit;
        int64_t a[2], b[2], c, d;
    } smallest[] = {
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
    for (size_t i = 0; i < sizeof smallest / sizeof *smallest; i++) {
        const assay_mac_unit u = unit(smallest[i].unit);
        const struct rows r = {
            .n = 1, .k = 2, .a = smallest[i].a, .b = smallest[i].b, .c = &smallest[i].c};
        void *d = dots(&r, &u.record);
        compare("smallest dots", &u, d, 0, smallest[i].d);
        free(d);
    }
}

/* The codes that rows rarely have: a scale that is NaN, Inf times zero in either order. */
static void not_numbers(void **state)
{
    const assay_mac_unit u = unit("nv-blackwell-mxf8-e5m2");
    static const int64_t one[] = {127}, nan[] = {255}, inf[32] = {0x7c}, zero[32] = {0}, c[] = {0};
    const struct rows rows[] = {
        {.n = 1,
         .k = 32,
         .scales = 1,
         .a = zero,
         .b = zero,
         .c = c,
         .scale_a = nan,
         .scale_b = one},
        {.n = 1,
         .k = 32,
         .scales = 1,
         .a = zero,
         .b = zero,
         .c = c,
         .scale_a = one,
         .scale_b = nan},
        {.n = 1, .k = 32, .scales = 1, .a = inf, .b = zero, .c = c, .scale_a = one, .scale_b = one},
        {.n = 1, .k = 32, .scales = 1, .a = zero, .b = inf, .c = c, .scale_a = one, .scale_b = one},
        {.n = 1, .k = 32, .scales = 1, .a = inf, .b = inf, .c = c, .scale_a = one, .scale_b = one},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *d = dots(&rows[i], &u.record);
        compare("not numbers", &u, d, 0, i < 4 ? 0x7fffffff : 0x7f800000);
        free(d);
    }
}

#define GOOD                                                                                       \
    "a: f16, b: f16, acc: f32, out: f32, group: 4, align_bits: 23, out_round: trunc, nan: "        \
    "0x7fc00000"

#define REST "group: 4, align_bits: 23, nan: 0x7fc00000, out_round: odd"

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
        {"unit: x\nmac: {" GOOD ", scale_block: -1}\n", "an integer from 0 to 4096"},
        {"unit: x\nmac: {" GOOD ", scale_block: [1]}\n", "an integer from 0 to 4096"},
        {"unit: x\nmac: {" GOOD ", out_frac: 53}\n", "an integer from 0 to 52"},
        {"unit: x\nmac: {a: f16, b: e8m0, acc: f32, out: f32, " REST "}\n", "formats of scales"},
        {"unit: x\nmac: {a: ue4m3, b: f16, acc: f32, out: f32, " REST "}\n", "formats of scales"},
        {"unit: x\nmac: {a: f16, b: ue4m3, acc: f32, out: f32, " REST "}\n", "formats of scales"},
        {"unit: x\nmac: {a: f16, b: f16, acc: f32, out: e5m2, " REST "}\n", "acc and out take"},
        {"unit: x\nmac: {a: f16, b: f16, acc: f16, out: bf16, " REST "}\n", "does not hold"},
        {"unit: x\nmac: {" GOOD ", out_frac: 99999999999999999999}\n", "an integer"},
        {"unit: x\nmac: {" GOOD ", out_frac: 3x}\n", "found \"3x\""},
        {"unit: x\nmac: {" GOOD ", align_cut: down}\n",
         "expected a rounding: half-up, half-away, half-even, half-zero, floor, trunc, ceil, odd, "
         "away"},
        {"unit: x\nmac: {a: f15}\n",
         "expected a format: f64, f32, tf32, bf16, f16, e5m2, e5m2fnuz, e4m3fn, "},
        {"unit: x\nmac: {a: f16, b: f16, acc: f32, out: f32, group: 4}\n", "nan is not given"},
        {"unit: x\nmac: {a: e8m0, b: f16, acc: f32, out: f32, group: 4, align_bits: 23, nan: "
         "0x7e00, "
         "out_round: odd}\n",
         "formats of scales"},
        {"unit: x\nmac: {a: f16, b: f16, acc: e5m2, out: f32, group: 4, align_bits: 23, nan: "
         "0x7e00, "
         "out_round: odd}\n",
         "acc and out take"},
        {"unit: x\nmac: {a: f16, b: f16, acc: f32, out: f16, group: 4, align_bits: 23, nan: "
         "0x7e00, "
         "out_round: odd}\n",
         "out does not hold"},
        {"unit: x\nmac: {a: f16, b: f16, acc: f16, out: f16, group: 4, align_bits: 23, nan: "
         "0x7e00, "
         "out_round: odd, out_frac: 11}\n",
         "more than the fraction bits of out"},
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
