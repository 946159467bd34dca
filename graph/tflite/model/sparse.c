/* Sparse tensors: TFLite's SparsityParameters, after the TACO format (Kjolstad et al. 2017).
 *
 * traversal_order lists the tensor's dimensions and then block dimensions (rank + k stands for a
 * block along dimension block_map[k]); dim_metadata has one entry for each in that order: dense
 * with a size, or compressed with segments (where the entries of each parent start) and indices. */
#include "graph/tflite/model/model.h"

#define MAX_LEVELS (2 * ASSAY_MAX_RANK)

typedef struct level {
    bool sparse;
    int32_t size; /* dense only */
    int axis;     /* of the tensor */
    bool is_block;
    flat_vector segments, indices;
    int segments_type, indices_type;
} level;

typedef struct decoder {
    tfl_import *m;
    const tfl_tensor *t;
    int n_levels;
    level level[MAX_LEVELS];
    int64_t block[ASSAY_MAX_RANK]; /* extent of the block along each axis, 1: none */
    int64_t at[ASSAY_MAX_RANK], in[ASSAY_MAX_RANK]; /* block index and position in the block */
    size_t size, next;                              /* bytes an element; elements read so far */
    unsigned char *out;
} decoder;

static assay_status fail(const decoder *d, const char *what)
{
    return assay_fail(d->m->err, ASSAY_ERR_INPUT, "%s: tensor %d '%.200s': sparsity: %s",
                      d->m->name, (int)(d->t - d->m->tensors.at), d->t->name, what);
}

static flat_vector index_vector(flat_table dimension, int type_slot, int slot, int *type)
{
    flat_table holder = tfl_flat_child(dimension, slot);
    *type = tfl_flat_i8(dimension, type_slot, 0);
    return tfl_flat_list(holder, 0, *type == INDEX_INT32 ? 4 : *type == INDEX_UINT16 ? 2 : 1);
}

static int64_t index_at(flat_vector v, int type, uint32_t i)
{
    return type == INDEX_INT32    ? tfl_flat_list_i32(v, i)
           : type == INDEX_UINT16 ? tfl_flat_list_u16(v, i)
                                  : tfl_flat_list_u8(v, i);
}

static assay_status read_levels(decoder *d)
{
    flat_table sparsity = tfl_flat_child(d->t->table, TENSOR_SPARSITY);
    flat_vector order = tfl_flat_list(sparsity, SPARSITY_ORDER, 4);
    flat_vector map = tfl_flat_list(sparsity, SPARSITY_BLOCK_MAP, 4);
    flat_vector dimensions = tfl_flat_list(sparsity, SPARSITY_DIMENSIONS, 4);
    int rank = d->t->type.rank;
    unsigned seen = 0;

    if (order.count > MAX_LEVELS || order.count != dimensions.count ||
        order.count != (uint32_t)rank + map.count)
        return fail(d, "the number of dimensions makes no sense");
    d->n_levels = (int)order.count;
    for (int i = 0; i < rank; ++i)
        d->block[i] = 1;
    for (int i = 0; i < d->n_levels; ++i) {
        flat_table dimension = tfl_flat_list_table(dimensions, (uint32_t)i);
        int32_t which = tfl_flat_list_i32(order, (uint32_t)i);
        level *l = &d->level[i];
        if (which < 0 || which >= d->n_levels || seen >> which & 1U)
            return fail(d, "the traversal order is not a permutation");
        seen |= 1U << which;
        l->is_block = which >= rank;
        l->axis = l->is_block ? tfl_flat_list_i32(map, (uint32_t)(which - rank)) : which;
        if (l->axis < 0 || l->axis >= rank)
            return fail(d, "a block's dimension does not exist");
        l->sparse = tfl_flat_i8(dimension, DIMENSION_FORMAT, 0) != 0;
        l->size = tfl_flat_i32(dimension, DIMENSION_DENSE_SIZE, 0);
        l->segments =
            index_vector(dimension, DIMENSION_SEGMENTS_TYPE, DIMENSION_SEGMENTS, &l->segments_type);
        l->indices =
            index_vector(dimension, DIMENSION_INDICES_TYPE, DIMENSION_INDICES, &l->indices_type);
        if (!l->sparse && l->size < 0)
            return fail(d, "a dense size is negative");
        if (l->is_block && (l->sparse || l->size < 1 || d->block[l->axis] != 1))
            return fail(d, "a block is not dense, empty or doubled");
        if (l->is_block)
            d->block[l->axis] = l->size;
    }
    return tfl_flat_status(&d->m->file, d->m->err);
}

static assay_status store(decoder *d)
{
    const assay_type *type = &d->t->type;
    size_t to = 0;
    for (int i = 0; i < type->rank; ++i) {
        int64_t position = d->at[i] * d->block[i] + d->in[i];
        if (position < 0 || position >= type->dim[i])
            return fail(d, "an element lies outside the tensor");
        to = to * (size_t)type->dim[i] + (size_t)position;
    }
    if (d->next >= d->t->bytes / d->size)
        return fail(d, "the buffer has too few elements");
    for (size_t i = 0; i < d->size; ++i)
        d->out[to * d->size + i] = d->t->data[d->next * d->size + i];
    ++d->next;
    return ASSAY_OK;
}

/* All elements under entry `parent` of the level above. */
static assay_status descend(decoder *d, int depth, int64_t parent)
{
    const level *l = &d->level[depth];
    int64_t first = 0, count, *position;
    assay_status s;

    if (depth == d->n_levels)
        return store(d);
    count = l->size;
    if (l->sparse) {
        if (parent + 1 >= (int64_t)l->segments.count)
            return fail(d, "there are too few segments");
        first = index_at(l->segments, l->segments_type, (uint32_t)parent);
        count = index_at(l->segments, l->segments_type, (uint32_t)parent + 1) - first;
        if (first < 0 || count < 0 || first + count > (int64_t)l->indices.count)
            return fail(d, "a segment lies outside the indices");
    }
    position = l->is_block ? &d->in[l->axis] : &d->at[l->axis];
    for (int64_t i = 0; i < count; ++i) {
        *position = l->sparse ? index_at(l->indices, l->indices_type, (uint32_t)(first + i)) : i;
        if (*position < 0 || *position > INT32_MAX)
            return fail(d, "an index is negative");
        int64_t entry = first + i;
        if (!l->sparse && (__builtin_mul_overflow(parent, l->size, &entry) ||
                           __builtin_add_overflow(entry, i, &entry)))
            return fail(d, "the dense sizes are too large");
        if ((s = tfl_charge(d->m, 1)) || (s = descend(d, depth + 1, entry)))
            return s;
    }
    return ASSAY_OK;
}

assay_status tfl_densify(tfl_import *m, const tfl_tensor *t, size_t size, unsigned char *out)
{
    decoder d = {.m = m, .t = t, .size = size, .out = out};
    assay_status s = read_levels(&d);
    return s ? s : descend(&d, 0, 0);
}
