/* Whole operators against tables; see op_vectors.h. */
#include "test/support/op_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool op_vectors_open(const char *file, op_vectors *v)
{
    char relative[200], path[600];
    v->file = file;
    snprintf(relative, sizeof relative, "%s.npz", file);
    if (!npz_vectors_path(relative, 1, path, sizeof path)) {
        printf("# SKIP %s: no such vectors here\n", file);
        return false;
    }
    v->data = npz_open(path);
    memcpy(path + strlen(path) - 3, "json", 5);
    v->about = json_load_file(path, 0, NULL);
    assert_non_null(v->data);
    assert_non_null(v->about);
    return true;
}

void op_vectors_close(op_vectors *v)
{
    npz_close(v->data);
    json_decref(v->about);
}

double op_vectors_number(const json_t *o, const char *key, double otherwise)
{
    const json_t *j = json_object_get(o, key);
    return j != NULL ? json_number_value(j) : otherwise;
}

const char *op_vectors_word(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s != NULL ? s : "";
}

void op_unit_describe(op_unit *b, const char *op, int in_bits, int out_bits, const json_t *c)
{
    memset(b, 0, sizeof *b);
    double in = op_vectors_number(c, "in_scale", 1);
    b->scale[0] = (float)op_vectors_number(c, "a_scale", in);
    b->scale[1] = (float)op_vectors_number(c, "b_scale", in);
    b->scale[2] = (float)op_vectors_number(c, "out_scale", 1);
    b->zero[0] = (int32_t)op_vectors_number(c, "a_zp", op_vectors_number(c, "in_zp", 0));
    b->zero[1] = (int32_t)op_vectors_number(c, "b_zp", 0);
    b->zero[2] = (int32_t)op_vectors_number(c, "out_zp", 0);
    for (int i = 0; i < 3; i++) {
        int bits = i < 2 ? in_bits : out_bits;
        b->type[i] = code_type((unsigned)abs(bits), bits < 0, &b->scale[i], &b->zero[i]);
    }
    b->spec = unit_spec(op, b->type, 2, &b->type[2]);
    b->spec.alpha = op_vectors_number(c, "alpha", op_vectors_number(c, "negative_slope", 1));
    b->spec.beta = op_vectors_number(c, "beta", 1);
    const char *act = op_vectors_word(c, "activation");
    if (strncmp(act, "RELU", 4) == 0)
        b->spec.act_lo = strcmp(act, "RELU_N1_TO_1") == 0 ? -1 : 0;
    if (strcmp(act, "RELU6") == 0)
        b->spec.act_hi = 6;
    if (strcmp(act, "RELU_N1_TO_1") == 0)
        b->spec.act_hi = 1;
}

void op_unit_prepare(op_unit *b, const char *scheme)
{
    assay_error err = {0};
    assert_ok(assay_scheme_open(scheme, &b->scheme, &err), &err);
    assert_ok(b->scheme->vt->prepare(b->scheme, &b->spec, &b->unit, &err), &err);
}

void op_unit_release(op_unit *b)
{
    b->scheme->vt->release(b->unit);
    assay_scheme_free(b->scheme);
}

void op_vectors_compare(const op_vectors *v, const char *what, const int32_t *got,
                        const int64_t *expected, size_t n, size_t *wrong)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != expected[i] && (*wrong)++ == 0)
            printf("# %s %s: element %zu is %d, expected %lld\n", v->file, what, i, got[i],
                   (long long)expected[i]);
}

void op_vectors_verdict(const op_vectors *v, const char *what, const char *scheme, size_t n,
                        size_t wrong)
{
    printf("# %-40s %-20s %-16s %8zu tuples, %zu mismatches\n", v->file, what, scheme, n, wrong);
    assert_int_equal(wrong, 0);
}
