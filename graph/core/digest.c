/* Digests of networks that do not depend on the batch size; see digest.h. */
#include "graph/core/digest.h"
#include "graph/memory.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "graph/core/type.h"

static void hash_int(XXH3_state_t *h, int64_t v)
{
    unsigned char byte[8];
    for (int i = 0; i < 8; i++)
        byte[i] = (unsigned char)((uint64_t)v >> (8 * i));
    XXH3_128bits_update(h, byte, sizeof byte);
}

static void hash_text(XXH3_state_t *h, const char *s)
{
    hash_int(h, (int64_t)strlen(s));
    XXH3_128bits_update(h, s, strlen(s));
}

static void hash_float(XXH3_state_t *h, float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    hash_int(h, bits);
}

/* Lists of extents and of copies may hold the batch size, or a multiple of it, anywhere: of those
 * the length counts; every other list is hashed whole. */
static void hash_list(XXH3_state_t *h, const char *field, const assay_list *l)
{
    const bool extents =
        strcmp(field, "shape") == 0 || strcmp(field, "size") == 0 || strcmp(field, "repeats") == 0;
    hash_int(h, l->n);
    for (int i = 0; i < l->n && !extents; i++)
        hash_int(h, l->v[i]);
}

static void hash_float_list(XXH3_state_t *h, const assay_float_list *l)
{
    hash_int(h, l->n);
    for (int i = 0; i < l->n; i++)
        hash_float(h, l->v[i]);
}

/* One function for each attribute struct, made from attr.def. */
#define HASH_I(h, field, value) hash_int(h, value)
#define HASH_B(h, field, value) hash_int(h, value)
#define HASH_E(h, field, value) hash_int(h, value)
#define HASH_F(h, field, value) hash_float(h, value)
#define HASH_L(h, field, value) hash_list(h, field, &(value))
#define HASH_G(h, field, value) hash_float_list(h, &(value))
#define ATTRS(name)                                                                                \
    static void hash_attr_##name(XXH3_state_t *h, const assay_attrs *a)                            \
    {                                                                                              \
        (void)h;                                                                                   \
        (void)a;
#define ATTRS_END(name)                       }
#define ATTR(name, kind, field, names, value) HASH_##kind(h, #field, a->name.field);
#include "graph/core/attr.def"

typedef void (*hash_attr_fn)(XXH3_state_t *, const assay_attrs *);
static const hash_attr_fn hash_attr[] = {
#define OP(ID, name, attr, min_in, max_in, n_out, shape, traits) hash_attr_##attr,
#include "graph/core/op.def"
};

static void hash_value(XXH3_state_t *h, const assay_graph *g, int id)
{
    if (id < 0) {
        hash_text(h, "");
        return;
    }
    const assay_value *v = &g->value[id];
    hash_text(h, v->name);
    hash_int(h, v->type.elem.kind);
    hash_int(h, v->type.elem.bits);
    hash_int(h, v->type.elem.is_signed);
    hash_int(h, v->type.rank);
}

assay_status assay_graph_digest(const assay_graph *g, char digest[33], assay_error *err)
{
    XXH3_state_t *h = XXH3_createState();
    if (!h)
        return assay_out_of_memory_for(err, "digest of a graph");
    XXH3_128bits_reset(h);
    for (int i = 0; i < g->n_inputs; i++)
        hash_value(h, g, g->input[i]);
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        hash_text(h, assay_op_get(n->op)->name);
        hash_attr[n->op](h, &n->attr);
        hash_float(h, n->act_lo);
        hash_float(h, n->act_hi);
        for (int j = 0; j < n->n_in; j++)
            hash_value(h, g, n->in[j]);
        for (int j = 0; j < n->n_out; j++)
            hash_value(h, g, n->out[j]);
    }
    for (int i = 0; i < g->n_outputs; i++)
        hash_value(h, g, g->output[i]);
    XXH128_hash_t d = XXH3_128bits_digest(h);
    XXH3_freeState(h);
    for (int i = 0; i < 16; i++) {
        uint64_t half = i < 8 ? d.high64 : d.low64;
        unsigned byte = (unsigned)(half >> (56 - 8 * (i % 8))) & 0xff;
        digest[2 * i] = "0123456789abcdef"[byte >> 4];
        digest[2 * i + 1] = "0123456789abcdef"[byte & 15];
    }
    digest[32] = '\0';
    return ASSAY_OK;
}

/* A bijective mix of 64 bits (the finalizer of MurmurHash3, public domain constants). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

static uint64_t mix_element(uint32_t bits)
{
    return mix((uint64_t)bits + 0x9e3779b97f4a7c15ULL);
}

static uint32_t element(const assay_value *v, int64_t i)
{
    uint32_t bits;
    memcpy(&bits, (const unsigned char *)v->data + 4 * i, sizeof bits);
    return bits;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* A number that divides how often each element stands in the constant is a divisor of this: of the
 * counts of a few elements. 1 of nearly all weights. */
static int64_t copies_at_most(const assay_value *v, int64_t n)
{
    enum { TRIED = 8 };
    int64_t copies = 0;
    for (int k = 0; k < TRIED && copies != 1 && n > 0; k++) {
        const uint32_t one = element(v, n * k / TRIED);
        int64_t count = 0;
        for (int64_t i = 0; i < n; i++)
            count += element(v, i) == one;
        copies = common_divisor(copies, count);
    }
    return copies;
}

static int by_bits(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The sum over sorted elements of which each counts as often as it stands there, divided by what
 * divides all these counts. */
static uint64_t sum_of_sorted(const uint32_t *sorted, int64_t n)
{
    int64_t copies = 0, next;
    uint64_t sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < n; i = next) {
            for (next = i + 1; next < n && sorted[next] == sorted[i];)
                next++;
            if (pass == 0)
                copies = common_divisor(copies, next - i);
            else
                sum += (uint64_t)((next - i) / copies) * mix_element(sorted[i]);
        }
    return sum;
}

static assay_status sum_once(const assay_value *v, int64_t n, uint64_t *sum, assay_error *err)
{
    uint32_t *sorted = malloc((size_t)n * sizeof *sorted + 1);
    if (!sorted)
        return assay_out_of_memory_for(err, "lineage of values");
    for (int64_t i = 0; i < n; i++)
        sorted[i] = element(v, i);
    qsort(sorted, (size_t)n, sizeof *sorted, by_bits);
    *sum = sum_of_sorted(sorted, n);
    free(sorted);
    return ASSAY_OK;
}

/* Of a constant: elements from one place along the axis to the next. */
static int64_t stride_of(const assay_type *t, int axis)
{
    int64_t stride = 1;
    for (int i = axis + 1; i < t->rank; i++)
        stride *= t->dim[i];
    return stride;
}

/* Whether all places along an axis hold the same. */
static bool repeats(const assay_value *v, int axis)
{
    const assay_type *t = &v->type;
    const size_t size = assay_elem_size(t->elem), n = (size_t)assay_shape_count(t);
    const size_t step = (size_t)stride_of(t, axis), room = step * (size_t)t->dim[axis];
    const char *data = v->data;
    if (t->rank < 2 || t->dim[axis] < 2)
        return false;
    for (size_t block = 0; block < n; block += room)
        if (memcmp(data + block * size, data + (block + step) * size, (room - step) * size) != 0)
            return false;
    return true;
}

/* The sum over the elements that are at the first place of every axis along which the constant
 * repeats, or over all. */
static uint64_t sum_by_axes(const assay_value *v, bool all)
{
    int64_t stride[ASSAY_MAX_RANK], extent[ASSAY_MAX_RANK];
    int n_repeated = 0;
    uint64_t sum = 0;
    for (int axis = 0; axis < v->type.rank && !all; axis++)
        if (repeats(v, axis)) {
            stride[n_repeated] = stride_of(&v->type, axis);
            extent[n_repeated++] = v->type.dim[axis];
        }
    for (int64_t i = 0, n = assay_shape_count(&v->type); i < n; i++) {
        bool again = false;
        for (int k = 0; k < n_repeated; k++)
            again |= i / stride[k] % extent[k] != 0;
        if (!again)
            sum += mix_element(element(v, i));
    }
    return sum;
}

static assay_status payload_digest(const assay_value *v, enum assay_lineage form, uint64_t *digest,
                                   assay_error *err)
{
    const int64_t n = assay_shape_count(&v->type);
    const bool once = form == ASSAY_LINEAGE && copies_at_most(v, n) > 1;
    uint64_t sum = 0;
    assay_status status = ASSAY_OK;
    if (once)
        status = sum_once(v, n, &sum, err);
    else
        sum = sum_by_axes(v, form != ASSAY_LINEAGE_BY_AXES);
    *digest = mix(sum);
    return status;
}

/* Sums the payloads of the constants that `v` depends on; mark[x] == stamp once x is visited. */
static uint64_t ancestors(const assay_graph *g, int v, const uint64_t *payload, int *mark,
                          int *stack)
{
    int depth = 0, stamp = v + 1;
    uint64_t sum = 0;
    stack[depth++] = v;
    mark[v] = stamp;
    while (depth > 0) {
        int x = stack[--depth];
        sum += payload[x];
        if (g->value[x].producer < 0)
            continue;
        const assay_node *n = &g->node[g->value[x].producer];
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] >= 0 && mark[n->in[i]] != stamp) {
                mark[n->in[i]] = stamp;
                stack[depth++] = n->in[i];
            }
    }
    return sum;
}

assay_status assay_value_lineage(const assay_graph *g, enum assay_lineage form, uint64_t *lineage,
                                 assay_error *err)
{
    size_t n = (size_t)(g->n_values > 0 ? g->n_values : 1);
    uint64_t *payload = calloc(n, sizeof *payload);
    int *mark = calloc(n, sizeof *mark);
    int *stack = calloc(n, sizeof *stack);
    assay_status status = ASSAY_OK;
    if (!payload || !mark || !stack) {
        status = assay_out_of_memory_for(err, "lineage of values");
    } else {
        for (int v = 0; v < g->n_values && !status; v++)
            if (g->value[v].data && g->value[v].type.elem.kind == ASSAY_KIND_F32)
                status = payload_digest(&g->value[v], form, &payload[v], err);
        for (int v = 0; v < g->n_values && !status; v++)
            lineage[v] = ancestors(g, v, payload, mark, stack);
    }
    free(payload);
    free(mark);
    free(stack);
    return status;
}
