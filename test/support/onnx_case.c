/* Reading node tests: just enough of protobuf's wire format. */
#include "test/support/onnx_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/text/npy.h"
#include "test/support/support.h"

/* ---- the wire format: varints, and fields of four kinds ---- */

typedef struct wire {
    const unsigned char *at, *end;
} wire;

typedef struct field {
    int number;
    uint64_t value; /* varint and fixed kinds */
    wire bytes;     /* length-delimited kind; else empty */
} field;

static uint64_t varint(wire *w)
{
    uint64_t v = 0;
    for (int shift = 0; w->at < w->end && shift < 64; shift += 7) {
        unsigned char b = *w->at++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
    fail_msg("a varint does not end");
    return 0;
}

static uint64_t fixed(wire *w, size_t n)
{
    uint64_t v = 0;
    assert_true((size_t)(w->end - w->at) >= n);
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)*w->at++ << 8 * i;
    return v;
}

static bool next(wire *w, field *f)
{
    if (w->at == w->end)
        return false;
    uint64_t tag = varint(w);
    *f = (field){.number = (int)(tag >> 3)};
    switch (tag & 7) {
    case 0:
        f->value = varint(w);
        return true;
    case 1:
        f->value = fixed(w, 8);
        return true;
    case 5:
        f->value = fixed(w, 4);
        return true;
    case 2: {
        uint64_t n = varint(w);
        assert_true(n <= (uint64_t)(w->end - w->at));
        f->bytes = (wire){w->at, w->at + n};
        w->at += n;
        return true;
    }
    default:
        fail_msg("wire type %d", (int)(tag & 7));
        return false;
    }
}

static wire find(wire w, int number)
{
    field f;
    while (next(&w, &f))
        if (f.number == number)
            return f.bytes;
    return (wire){0};
}

/* ---- tensors ---- */

static const struct {
    size_t size; /* in raw data; 0: not read */
    assay_elem elem;
} dtypes[17] = {
    [1] = {4, {ASSAY_KIND_F32, 32, true}},
    [2] = {1, {ASSAY_KIND_INT, 8, false}},
    [3] = {1, {ASSAY_KIND_INT, 8, true}},
    [4] = {2, {ASSAY_KIND_INT, 16, false}},
    [5] = {2, {ASSAY_KIND_INT, 16, true}},
    [6] = {4, {ASSAY_KIND_INT, 32, true}},
    [7] = {8, {ASSAY_KIND_INT, 64, true}},
    [9] = {1, {ASSAY_KIND_BOOL, 8, false}},
    [12] = {4, {ASSAY_KIND_INT, 32, false}},
    [10] = {2, {ASSAY_KIND_F32, 32, true}}, /* float16 is widened */
    [11] = {8, {ASSAY_KIND_F32, 32, true}}, /* float64 is rounded */
};

/* Stores element i, given as its bits, in native order. */
static void store(onnx_case_tensor *t, int64_t i, uint64_t bits)
{
    size_t size = dtypes[t->dtype].size;
    if (t->dtype == 11) {
        double wide;
        memcpy(&wide, &bits, sizeof wide);
        ((float *)t->data)[i] = (float)wide;
        return;
    }
    if (t->dtype == 10) {
        uint16_t half = (uint16_t)bits;
        ((float *)t->data)[i] = (float)text_npy_get(&half, ASSAY_NPY_F2, 0);
        return;
    }
    uint8_t v8 = (uint8_t)bits;
    uint16_t v16 = (uint16_t)bits;
    uint32_t v32 = (uint32_t)bits;
    const void *from = size == 1 ? (void *)&v8 : size == 2 ? (void *)&v16 : (void *)&v32;
    memcpy((char *)t->data + (size_t)i * size, size == 8 ? &bits : from, size);
}

/* Elements of a typed list (varint or 4-byte), packed or one by one, or of raw_data. */
static void read_elements(wire w, onnx_case_tensor *t, int64_t count)
{
    size_t size = dtypes[t->dtype].size;
    int64_t i = 0;
    field f;
    while (next(&w, &f)) {
        bool is_float = f.number == 4, is_double = f.number == 10, raw = f.number == 9;
        if (!is_float && !is_double && !raw && f.number != 5 && f.number != 7 && f.number != 11)
            continue;
        if (!f.bytes.at && !raw) {
            assert_true(i < count);
            store(t, i++, f.value);
        }
        while (f.bytes.at != f.bytes.end) {
            assert_true(i < count);
            store(t, i++,
                  raw         ? fixed(&f.bytes, size)
                  : is_float  ? fixed(&f.bytes, 4)
                  : is_double ? fixed(&f.bytes, 8)
                              : varint(&f.bytes));
        }
    }
    assert_int_equal(i, count);
}

static void read_tensor(wire w, onnx_case_tensor *t)
{
    wire scan = w;
    field f;
    t->present = true;
    while (next(&scan, &f)) {
        if (f.number == 2)
            t->dtype = (int)f.value;
        if (f.number != 1)
            continue;
        bool packed = f.bytes.at;
        do {
            int64_t dim = (int64_t)(packed ? varint(&f.bytes) : f.value);
            if (t->rank < ASSAY_MAX_RANK)
                t->type.dim[t->rank] = dim;
            t->rank++;
        } while (packed && f.bytes.at != f.bytes.end);
    }
    if (t->dtype < 0 || t->dtype > 16 || dtypes[t->dtype].size == 0 || t->rank > ASSAY_MAX_RANK)
        return;
    t->type.rank = t->rank;
    t->type.elem = dtypes[t->dtype].elem;
    int64_t count = assay_shape_count(&t->type);
    t->data = calloc((size_t)count + 1, 8);
    assert_non_null(t->data);
    read_elements(w, t, count);
}

/* ---- a test's folder ---- */

static void read_file(const char *folder, int set, const char *kind, int k, int dtype,
                      onnx_case_tensor *t)
{
    char path[600];
    snprintf(path, sizeof path, "%s/test_data_set_%d/%s_%d.pb", folder, set, kind, k);
    if (dtype == 0 || access(path, R_OK) != 0)
        return;
    size_t length;
    char *bytes = test_read_file(path, &length);
    const unsigned char *at = (const unsigned char *)bytes;
    read_tensor((wire){at, at + length}, t);
    free(bytes);
    if (t->dtype != dtype) {
        free(t->data);
        *t = (onnx_case_tensor){0};
    }
}

/* A ValueInfo's name and element type; 0 when it is not a tensor. */
static char *name_of(wire info, int *dtype)
{
    wire name = find(info, 1), tensor = find(find(info, 2), 1);
    field f;
    *dtype = 0;
    while (next(&tensor, &f))
        if (f.number == 1)
            *dtype = (int)f.value;
    return strndup(name.at ? (const char *)name.at : "", (size_t)(name.end - name.at));
}

static void read_values(onnx_case *c, wire graph, const char *folder, int set)
{
    field f;
    while (next(&graph, &f)) {
        bool input = f.number == 11;
        int dtype;
        int *n = input ? &c->n_in : &c->n_out;
        if (f.number != 11 && f.number != 12)
            continue;
        assert_true(*n < ONNX_CASE_MAX);
        (input ? c->in_name : c->out_name)[*n] = name_of(f.bytes, &dtype);
        read_file(folder, set, input ? "input" : "output", *n, dtype,
                  &(input ? c->in : c->out)[*n]);
        ++*n;
    }
}

bool onnx_case_read(onnx_case *c, const char *folder, int set)
{
    char path[600];
    size_t length;
    memset(c, 0, sizeof *c);
    snprintf(path, sizeof path, "%s/test_data_set_%d", folder, set);
    if (access(path, R_OK) != 0)
        return false;
    snprintf(c->model, sizeof c->model, "%s/model.onnx", folder);
    char *bytes = test_read_file(c->model, &length);
    const unsigned char *at = (const unsigned char *)bytes;
    read_values(c, find((wire){at, at + length}, 7), folder, set);
    free(bytes);
    return true;
}

void onnx_case_free(onnx_case *c)
{
    for (int i = 0; i < ONNX_CASE_MAX; i++) {
        free(c->in_name[i]);
        free(c->out_name[i]);
        free(c->in[i].data);
        free(c->out[i].data);
    }
}
