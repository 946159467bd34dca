/* Dumped accumulators; see sums.h. */
#include "interp/blame/sums.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/blame/case.h"
#include "interp/blame/layout.h"
#include "interp/page/json.h"

/* ---- reading ---- */

/* Takes `data`, int32 or int64 of shape `found`, as int64 in the golden's order. */
static assay_status adopt(const char *path, const assay_bundle_tensor *t, const assay_type *found,
                          void *data, blame_layouts *by_rank, blame_tensor *to, assay_error *err)
{
    const size_t n = (size_t)assay_shape_count(&t->type);
    const bool good = found->elem.kind == ASSAY_KIND_INT && found->elem.is_signed &&
                      assay_elem_size(found->elem) >= 4;
    assay_type like = t->type;
    int perm[ASSAY_MAX_RANK];
    char shape[64], wanted[64], type[8];
    void *transposed = NULL;
    const bool same = blame_layout_same(&t->type, found);
    const bool other = !same && blame_layout_find(&t->type, found, perm) >= 0;
    like.elem = found->elem;
    if (!to->shapeless)
        blame_layouts_count(by_rank, &t->type, found);
    if (!good || (!same && !other)) {
        free(data);
        return assay_fail(
            err, ASSAY_ERR_INPUT,
            "%.200s: accumulators of '%.200s': the dump holds %s%s; int32 or int64 of "
            "%s are expected",
            path, t->name, assay_elem_print(found->elem, type),
            assay_shape_print(found, shape, sizeof shape),
            assay_shape_print(&t->type, wanted, sizeof wanted));
    }
    if (other)
        transposed = blame_layout_transpose(&like, found, perm, data);
    to->sums = malloc(n * sizeof *to->sums + 64);
    for (size_t k = 0; k < n && to->sums && (same || transposed); k++)
        to->sums[k] = assay_elem_get(found->elem, same ? data : transposed, k);
    free(data);
    free(transposed);
    return to->sums && (same || transposed) ? ASSAY_OK : assay_out_of_memory(err);
}

static assay_status read_golden(const assay_bundle *b, int i, blame_tensor *to, assay_error *err)
{
    assay_type type;
    void *data;
    assay_status status = golden_bundle_read_sums(b, i, &type, &data, err);
    to->golden_sums = data;
    return status;
}

assay_status blame_sums_of_dumps(const assay_bundle *golden, int i, const assay_dumps *dumps,
                                 int *at, assay_type *found, blame_layouts *by_rank,
                                 blame_tensor *to, assay_error *err)
{
    const assay_bundle_tensor *t = &golden->tensor[i];
    assay_type like = golden_bundle_sums_type(&t->type);
    void *data;
    *at = t->sums_file ? golden_dumps_find(dumps, t, golden->tensor[0].sample, true) : -1;
    if (*at < 0)
        return ASSAY_OK;
    to->shapeless = !golden_dumps_has_shape(dumps, *at);
    assay_status status = golden_dumps_read(dumps, *at, &like, found, &data, err);
    if (status == ASSAY_ERR_INPUT) { /* of the other width */
        like.elem = assay_int(32, true);
        status = golden_dumps_read(dumps, *at, &like, found, &data, err);
    }
    if (!status)
        status = adopt(dumps->dump[*at].path, t, found, data, by_rank, to, err);
    return status ? status : read_golden(golden, i, to, err);
}

assay_status blame_sums_of_bundle(const assay_bundle *golden, int i, const assay_bundle *other,
                                  int at, blame_layouts *by_rank, blame_tensor *to,
                                  assay_error *err)
{
    assay_type found;
    void *data;
    if (!golden->tensor[i].sums_file || !other->tensor[at].sums_file)
        return ASSAY_OK;
    assay_status status = golden_bundle_read_sums(other, at, &found, &data, err);
    if (!status)
        status = adopt(other->dir, &golden->tensor[i], &found, data, by_rank, to, err);
    return status ? status : read_golden(golden, i, to, err);
}

/* ---- what consumers read ---- */

/* The node's codes of its sums. False: they are not made of those alone. */
static bool requantize(const blame_case *c, const blame_tensor *t, void *out, size_t n)
{
    const size_t bytes = assay_type_bytes(&c->out);
    int64_t *sums = malloc(n * sizeof *sums + 64);
    bool good = sums && !blame_case_requantize(c, t->replayed_sums, out, NULL) &&
                memcmp(out, t->replayed, bytes) == 0;
    for (size_t k = 0; k < n && good; k++)
        sums[k] = !t->mask || t->mask[k] ? t->sums[k] : t->replayed_sums[k];
    good = good && !blame_case_requantize(c, sums, out, NULL);
    free(sums);
    return good;
}

assay_status blame_sums_believe(const blame_device *d, const assay_node *n, const void *const *in,
                                blame_tensor *t, assay_error *err)
{
    blame_case c;
    t->believed = t->replayed;
    if (!blame_case_can(n) || !(assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED) ||
        !assay_node_is_quantized(d->graph, n))
        return ASSAY_OK;
    blame_case_fill(&c, d->graph, n, d->scheme, in, NULL);
    t->merged = calloc(assay_type_bytes(&c.out) + 64, 1);
    if (!t->merged)
        return assay_out_of_memory(err);
    if (requantize(&c, t, t->merged, (size_t)assay_shape_count(&c.out)))
        t->believed = t->merged;
    return ASSAY_OK;
}

/* ---- beside an output ---- */

static void note(blame_device *d, const blame_tensor *t, const assay_value *v)
{
    const int64_t n = assay_shape_count(&v->type);
    int64_t differing = 0, first = 0;
    char name[320], text[200];
    for (int64_t i = n - 1; i >= 0; i--)
        if ((!t->mask || t->mask[i]) && t->beside[i] != t->replayed_sums[i]) {
            differing++;
            first = i;
        }
    if (differing == 0)
        return;
    snprintf(name, sizeof name, "accumulator of '%.280s'", v->name);
    snprintf(text, sizeof text,
             "%lld of %lld elements from the replay's, first at %lld  %lld != %lld; the output is "
             "right",
             (long long)differing, (long long)n, (long long)first,
             (long long)t->replayed_sums[first], (long long)t->beside[first]);
    json_t *o = json_object();
    page_json_set(&o, "name", page_json_text(name));
    page_json_set(&o, "difference", page_json_text(text));
    page_json_add(&d->numbers, o);
}

assay_status blame_sums_note(blame_device *d, int value, assay_error *err)
{
    for (int k = 0; k < d->n_samples; k++) {
        const blame_tensor *t = blame_at(d, k, value);
        if (t->beside && t->replayed_sums)
            note(d, t, &d->graph->value[value]);
        if (t->beside && !d->numbers)
            return assay_out_of_memory(err);
    }
    return ASSAY_OK;
}
