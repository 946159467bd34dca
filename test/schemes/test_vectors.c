/* Every vector file of the targets against the presets: see vectors.h. */
#include "test/support/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct npz *vectors_open(const char *file)
{
    char path[256];
    snprintf(path, sizeof path, "%s.npz", file);
    struct npz *z = npz_vectors(path);
    assert_non_null(z);
    return z;
}

const int64_t *vectors_ints(struct npz *z, const char *name, size_t *n)
{
    const int64_t *v = npz_i64(z, name, n, NULL);
    assert_non_null(v);
    return v;
}

const double *vectors_reals(struct npz *z, const char *name, size_t *n)
{
    const double *v = npz_f64(z, name, n, NULL);
    assert_non_null(v);
    return v;
}

static struct target {
    char name[32];
    size_t files, tuples;
} targets[32];

void vectors_count(const char *file, size_t tuples)
{
    size_t length = strcspn(file, "/");
    struct target *t = targets;
    while (t->name[0] != '\0' && (strncmp(t->name, file, length) != 0 || t->name[length] != '\0'))
        t++;
    memcpy(t->name, file, length);
    t->files++;
    t->tuples += tuples;
    printf("# %s: %zu tuples\n", file, tuples);
}

static int total(void **state)
{
    (void)state;
    size_t all = 0;
    for (const struct target *t = targets; t->name[0] != '\0'; all += t->tuples, t++)
        printf("# %-12s %10zu tuples in %zu files, 0 mismatches\n", t->name, t->tuples, t->files);
    printf("# %zu tuples\n", all);
    return 0;
}

int main(void)
{
    struct CMUnitTest tests[512];
    size_t n = vectors_requant_tests(tests);
    n += vectors_derive_tests(tests + n);
    n += vectors_unit_tests(tests + n);
    n += vectors_tosa_tests(tests + n);
    n += vectors_exact_tests(tests + n);
    return _cmocka_run_group_tests("vectors", tests, n, NULL, total);
}
