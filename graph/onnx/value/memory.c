/* The memory of an import: what goes with it, large constants that a graph takes, the mapped file.
 */
#include <stdlib.h>

#include "graph/core/map.h"
#include "graph/onnx/value/value.h"

void *onnx_alloc(onnx_import *im, size_t bytes)
{
    if (bytes > im->left)
        return NULL;
    im->left -= bytes;
    return assay_arena_alloc(im->temp, bytes);
}

/* From here on a constant's memory is its own, so that a graph can take it without a copy. */
#define LARGE ((size_t)1 << 16)

static void free_block(void *p)
{
    onnx_block *b = p;
    if (!b->kept)
        free(b->data);
}

bool onnx_give_room(onnx_import *im, onnx_const *c, size_t bytes)
{
    onnx_block *b;

    if (bytes < LARGE)
        return (c->data = onnx_alloc(im, bytes)) != NULL;
    b = onnx_alloc(im, sizeof *b);
    if (!b || bytes > im->left || assay_arena_own(im->temp, free_block, b))
        return false;
    im->left -= bytes;
    b->data = calloc(1, bytes);
    c->block = b;
    return (c->data = b->data) != NULL;
}

bool onnx_keep_block(const onnx_import *im, onnx_block *b)
{
    if (b && !b->kept && im->home == 0) /* a body may go before the network */
        b->kept = !assay_arena_own(im->graph->arena, free, b->data);
    return b && b->kept;
}

void onnx_forget(const onnx_import *im, const onnx_const *c)
{
    const uint8_t *data = c->data;
    const unsigned packed = onnx_dtype_packed(c->dtype);
    const size_t bytes =
        packed ? (size_t)c->count / (8 / packed) : (size_t)c->count * onnx_dtype_size(c->dtype);
    if (c->mapped || (im->lasts && data >= im->bytes && data < im->bytes + im->length &&
                      bytes <= im->length - (size_t)(data - im->bytes)))
        assay_map_forget(data, bytes);
}
