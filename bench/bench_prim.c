/* ns per element of the arithmetic primitives over a row of 1,024 accumulators: the median of 31
 * runs, and its ratio to a memcpy of the same row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/prim_rows.h"

enum { N = 1024, REPEAT = 200, RUNS = 31 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void copy(const int32_t *acc, int32_t *out, size_t n)
{
    memcpy(out, acc, n * sizeof *out);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ns(void (*run)(const int32_t *, int32_t *, size_t), const int32_t *acc,
                        int32_t *out)
{
    double runs[RUNS];
    for (int r = 0; r < RUNS; r++) {
        double start = now();
        for (int i = 0; i < REPEAT; i++) {
            run(acc, out, N);
            __asm__ volatile("" : : "r"(out) : "memory"); /* the row counts as read */
        }
        runs[r] = (now() - start) / (REPEAT * N);
    }
    qsort(runs, RUNS, sizeof runs[0], ascending);
    return runs[RUNS / 2];
}

int main(void)
{
    static int32_t acc[N], out[N];
    uint32_t x = 20261121;
    for (int i = 0; i < N; i++) {
        x = x * 1664525 + 1013904223; /* Numerical Recipes */
        acc[i] = (int32_t)x >> 14;    /* 18 bits, signed */
    }
    double base = median_ns(copy, acc, out);
    printf("%-20s %8s %10s\n%-20s %8.3f %10.1f\n", "primitive", "ns", "x memcpy", "memcpy", base,
           1.0);
    for (size_t i = 0; i < prim_row_count; i++) {
        double ns = median_ns(prim_rows[i].run, acc, out);
        printf("%-20s %8.3f %10.1f\n", prim_rows[i].name, ns, ns / base);
    }
    return 0;
}
