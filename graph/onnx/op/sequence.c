/* Sequences of tensors whose length is known at import: lists of values, of which no node is made.
 * A loop that is unrolled carries them from round to round. */
#include <stdio.h>

#include "graph/onnx/op/op.h"

enum { MAX = 1 << 16 };

/* A new list of n items, all of them to be set. */
static onnx_list *new_list(onnx_node *n, int64_t count)
{
    onnx_list *l = n->status ? NULL : onnx_alloc(n->im, sizeof *l);

    if (!n->status && count > MAX)
        return onnx_refuse(n, "a sequence of %lld tensors", (long long)count);
    if (l) {
        l->n = (int)count;
        l->item = onnx_alloc(n->im, (size_t)count * sizeof(onnx_value *) + 1);
    }
    return n->status || (l && l->item) ? l : onnx_no_memory(n);
}

/* Output i is the list. */
static void give(onnx_node *n, size_t i, const onnx_list *l)
{
    onnx_value *y = i < n->pb->n_output ? onnx_find_value(n->im, n->pb->output[i]) : NULL;

    if (n->status || !y)
        return;
    if (y->is_output)
        onnx_refuse(n, "a sequence as output of the network");
    y->list = l;
}

/* The list that input i is. */
static const onnx_list *taken(onnx_node *n, size_t i)
{
    const onnx_value *v = onnx_in(n, i);

    if (!n->status && !v->list)
        return onnx_fail(n, ASSAY_ERR_INPUT, "input '%s' is no sequence", n->pb->input[i]);
    return n->status ? NULL : v->list;
}

/* Input i, as it is named. */
static onnx_value *named(onnx_node *n, size_t i)
{
    if (!onnx_has(n, i))
        return onnx_fail(n, ASSAY_ERR_INPUT, "input %zu is missing", i);
    return onnx_find_value(n->im, n->pb->input[i]);
}

static onnx_value *tensor(onnx_node *n, size_t i)
{
    onnx_value *v = named(n, i);

    if (v && onnx_resolve(v)->list)
        return onnx_fail(n, ASSAY_ERR_INPUT, "input '%s' is a sequence, expected a tensor",
                         n->pb->input[i]);
    return v;
}

/* The position that input i gives, of 0 to max; negative ones count from the end of `count`. */
static int64_t position(onnx_node *n, size_t i, int64_t otherwise, int64_t count, int64_t max)
{
    int64_t at = otherwise;

    if (onnx_has(n, i) && !onnx_one_int(n, i, "position", &at))
        return 0;
    if (at < -count || at > max)
        onnx_fail(n, ASSAY_ERR_INPUT, "position %lld in a sequence of %lld tensors", (long long)at,
                  (long long)count);
    return n->status ? 0 : at < 0 ? at + count : at;
}

void onnx_import_sequence_empty(onnx_node *n)
{
    give(n, 0, new_list(n, 0));
}

void onnx_import_sequence_construct(onnx_node *n)
{
    onnx_list *l = new_list(n, (int64_t)n->pb->n_input);

    for (int i = 0; l && i < l->n; i++)
        l->item[i] = tensor(n, (size_t)i);
    give(n, 0, l);
}

void onnx_import_sequence_at(onnx_node *n)
{
    const onnx_list *l = taken(n, 0);
    const int64_t at = l ? position(n, 1, 0, l->n, l->n - 1) : 0;

    if (!n->status)
        onnx_bind_inner(n, 0, l->item[at]);
}

void onnx_import_sequence_length(onnx_node *n)
{
    static const int64_t none[1] = {0};
    const onnx_list *l = taken(n, 0);
    onnx_const *c = l ? onnx_new_const(n->im, ONNX_INT64, 0, none) : NULL;

    if (c)
        onnx_set_int(c, 0, l->n);
    onnx_constant(n, c, NULL);
}

/* l without the item at `out`, and with v (NULL: nothing) before the item at `in`. */
static const onnx_list *changed(onnx_node *n, const onnx_list *l, int64_t out, int64_t in,
                                onnx_value *v)
{
    onnx_list *to = new_list(n, l->n + (v ? 1 : -1));
    int k = 0;

    for (int i = 0; to && i <= l->n; i++) {
        if (v && i == in)
            to->item[k++] = v;
        if (i < l->n && i != out)
            to->item[k++] = l->item[i];
    }
    return to;
}

void onnx_import_sequence_insert(onnx_node *n)
{
    const onnx_list *l = taken(n, 0);
    const int64_t at = l ? position(n, 2, l->n, l->n, l->n) : 0;
    onnx_value *v = n->status ? NULL : tensor(n, 1);

    if (v)
        give(n, 0, changed(n, l, -1, at, v));
}

void onnx_import_sequence_erase(onnx_node *n)
{
    const onnx_list *l = taken(n, 0);
    const int64_t at = l ? position(n, 1, l->n - 1, l->n, l->n - 1) : 0;

    if (!n->status)
        give(n, 0, changed(n, l, at, -1, NULL));
}

/* ---- tensors and sequences ---- */

/* Part k of an axis of `extent`: a list says the sizes, a single number all of them but the last.
 */
static int64_t part_size(const onnx_const *sizes, int64_t k, int64_t begin, int64_t extent)
{
    const int64_t size = sizes ? onnx_get_int(sizes, sizes->rank ? k : 0) : 1;

    return (!sizes || !sizes->rank) && size > extent - begin ? extent - begin : size;
}

static int64_t count_parts(onnx_node *n, const onnx_const *sizes, int64_t extent)
{
    const int64_t each = sizes && !sizes->rank ? onnx_get_int(sizes, 0) : 1;

    if (sizes && sizes->rank)
        return sizes->count;
    if (each < 1)
        onnx_fail(n, ASSAY_ERR_INPUT, "parts of %lld elements", (long long)each);
    return n->status ? 0 : extent / each + (extent % each != 0);
}

void onnx_import_split_to_sequence(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const onnx_const *sizes = onnx_known(n, 1, "sizes");
    assay_type t = onnx_type(n, x);
    const int axis = (int)onnx_axis(n, onnx_int(n, "axis", 0), t.rank);
    const bool kept = sizes || onnx_int(n, "keepdims", 1) != 0;
    const int64_t extent = n->status ? 0 : t.dim[axis];
    onnx_list *l = new_list(n, count_parts(n, sizes, extent));
    int64_t begin = 0, dim[ASSAY_MAX_RANK];

    for (int i = 0; i + 1 < t.rank; i++)
        dim[i] = t.dim[i + (i >= axis)];
    for (int64_t k = 0; l && k < l->n && !n->status; k++) {
        const int64_t size = part_size(sizes, k, begin, extent);
        if (size < 0 || size > extent - begin) {
            onnx_fail(n, ASSAY_ERR_INPUT, "part %lld has size %lld of an axis of %lld",
                      (long long)k, (long long)size, (long long)extent);
            return;
        }
        l->item[k] = onnx_part(n, x, axis, begin, size, "part");
        if (!kept)
            l->item[k] = onnx_reshaped(n, l->item[k], t.rank - 1, dim, "item");
        if (l->item[k])
            l->item[k]->narrow = onnx_find_value(n->im, n->pb->input[0])->narrow;
        begin += size;
    }
    if (!n->status && begin != extent)
        onnx_fail(n, ASSAY_ERR_INPUT, "the parts hold %lld of the axis's %lld elements",
                  (long long)begin, (long long)extent);
    give(n, 0, l);
}

void onnx_import_concat_from_sequence(onnx_node *n)
{
    const onnx_list *l = taken(n, 0);
    const bool stacked = onnx_int(n, "new_axis", 0) != 0;
    const pb_attribute *axis = onnx_attribute(n, "axis", ONNX_ATTR_INT);

    if (!n->status && (!axis || l->n == 0))
        onnx_fail(n, ASSAY_ERR_INPUT, axis ? "the sequence is empty" : "its 'axis' is missing");
    onnx_list *rows = new_list(n, l ? l->n : 0);
    for (int i = 0; rows && i < rows->n && !n->status; i++)
        rows->item[i] = stacked ? onnx_row(n, l->item[i], axis->i) : onnx_resolve(l->item[i]);
    if (n->status)
        return;
    const assay_type t = onnx_type(n, rows->item[0]);
    const int64_t along = onnx_axis(n, axis->i, t.rank);
    onnx_find_value(n->im, n->pb->output[0])->narrow = l->item[0]->narrow;
    if (rows->n == 1)
        onnx_bind(n, 0, rows->item[0]);
    else
        onnx_joined(n, rows->item, rows->n, along, NULL);
}

/* ---- SequenceMap ---- */

/* What input i gives for item k of so many: its own item where it is a sequence. */
static onnx_value *item(onnx_node *n, size_t i, int k, int count)
{
    onnx_value *v = named(n, i);
    const onnx_list *l = v ? onnx_resolve(v)->list : NULL;

    if (l && l->n != count)
        return onnx_fail(n, ASSAY_ERR_INPUT, "sequences of %d and %d tensors", count, l->n);
    return l ? l->item[k] : v;
}

/* The body once for each item of the first input. */
void onnx_import_sequence_map(onnx_node *n)
{
    const size_t n_in = n->pb->n_input, n_out = n->pb->n_output;
    const onnx_list *first = taken(n, 0);
    const pb_graph *g = onnx_subgraph(n, "body", (int64_t)n_in, n_out, true);
    onnx_value **in = onnx_alloc(n->im, n_in * sizeof(onnx_value *));
    onnx_value **out = onnx_alloc(n->im, n_out * sizeof(onnx_value *));
    onnx_list **y = onnx_alloc(n->im, n_out * sizeof *y);
    char tag[32];

    if (!in || !out || !y)
        onnx_no_memory(n);
    for (size_t i = 0; i < n_out && !n->status; i++)
        y[i] = new_list(n, first->n);
    for (int k = 0; !n->status && k < first->n; k++) {
        for (size_t i = 0; i < n_in; i++)
            in[i] = item(n, i, k, first->n);
        snprintf(tag, sizeof tag, "item%d", k);
        if (n->status || !onnx_put_body(n, g, tag, in, out))
            return;
        for (size_t i = 0; i < n_out; i++)
            y[i]->item[k] = out[i];
    }
    for (size_t i = 0; i < n_out && !n->status; i++)
        give(n, i, y[i]);
}
