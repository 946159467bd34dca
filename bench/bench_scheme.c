/* ns per element of requantize over a row of 1,024 accumulators of one tensor, for every preset;
 * its ratio to a memcpy of the same rows; and how long opening a scheme takes. Medians. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schemes/scheme.h"

enum { N = 1024, REPEAT = 100, RUNS = 21 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *runs)
{
    qsort(runs, RUNS, sizeof *runs, ascending);
    return runs[RUNS / 2];
}

static double requantize_ns(const assay_scheme *s, const assay_unit *u, const int64_t *acc,
                            int32_t *out)
{
    double runs[RUNS];
    for (int r = 0; r < RUNS; r++) {
        double start = now();
        for (int i = 0; i < REPEAT; i++) {
            if (u != NULL)
                s->vt->requantize(u, acc, N, 0, out);
            else
                memcpy(out, acc, N * sizeof *out);
            __asm__ volatile("" : : "r"(out) : "memory");
        }
        runs[r] = (now() - start) / (REPEAT * N);
    }
    return median(runs);
}

static double open_ms(const char *name)
{
    double runs[RUNS];
    for (int r = 0; r < RUNS; r++) {
        assay_scheme *s;
        double start = now();
        if (assay_scheme_open(name, &s, NULL) == ASSAY_OK)
            assay_scheme_free(s);
        runs[r] = (now() - start) * 1e-6;
    }
    return median(runs);
}

/* An 8-bit conv of the scheme's own types; scales are powers of two where they must be. */
static assay_unit *prepare(const assay_scheme *s, assay_error *err)
{
    assay_scheme_caps caps;
    assay_scheme_get_caps(s, &caps);
    const float fine = caps.power_of_two ? 0.0078125f : 0.0123f, out_scale = 0.0625f;
    const int32_t zero = 0;
    assay_type t[3];
    for (int i = 0; i < 3; i++) {
        unsigned bits = i == 1 ? caps.weight_bits : caps.activation_bits;
        bool is_signed = i == 1 ? caps.weight_signed : caps.activation_signed;
        t[i] =
            (assay_type){.elem = {ASSAY_KIND_INT, (uint8_t)bits, is_signed}, .rank = 1, .dim = {1}};
        t[i].q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, i == 2 ? &out_scale : &fine, &zero};
    }
    assay_unit_spec spec = {.size = sizeof spec,
                            .op = "conv",
                            .node = "bench",
                            .in = t,
                            .n_in = 2,
                            .out = &t[2],
                            .depth = 64,
                            .act_lo = -INFINITY,
                            .act_hi = INFINITY};
    assay_unit *u = NULL;
    return s->vt->prepare(s, &spec, &u, err) == ASSAY_OK ? u : NULL;
}

int main(void)
{
    static int64_t acc[N];
    static int32_t out[N];
    uint32_t x = 20261121;
    for (int i = 0; i < N; i++) {
        x = x * 1664525 + 1013904223; /* Numerical Recipes */
        acc[i] = (int32_t)x >> 14;    /* 18 bits, signed */
    }
    double base = requantize_ns(NULL, NULL, acc, out);
    printf("%-20s %8s %10s %10s\n%-20s %8.3f\n", "scheme", "ns", "x memcpy", "open ms", "memcpy",
           base);
    for (const char *const *name = assay_scheme_presets(); *name != NULL; name++) {
        assay_error err;
        assay_scheme *s;
        if (assay_scheme_open(*name, &s, &err) != ASSAY_OK) {
            fprintf(stderr, "%s\n", err.text);
            return 2;
        }
        assay_unit *u = prepare(s, &err);
        if (u == NULL) {
            fprintf(stderr, "%s\n", err.text);
            return 2;
        }
        double ns = requantize_ns(s, u, acc, out);
        printf("%-20s %8.3f %10.1f %10.3f\n", *name, ns, ns / base, open_ms(*name));
        s->vt->release(u);
        assay_scheme_free(s);
    }
    return 0;
}
