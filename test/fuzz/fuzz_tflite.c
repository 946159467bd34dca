/* libFuzzer: TFLite models from memory. What is imported has passed the verifier. What is not
 * supported because its shapes depend on data is imported again, for made-up data. */
#include <string.h>

#include "graph/memory.h"
#include "graph/tflite/tflite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static assay_status make_up(void *user, assay_graph *g, int value, const void **data,
                            assay_error *err)
{
    const size_t bytes = assay_type_bytes(&g->value[value].type);
    unsigned char *made;

    (void)user;
    if (bytes > 1 << 20) /* as a run of the network would find, for want of such an input */
        return assay_fail(err, ASSAY_ERR_LIMIT, "%zu bytes", bytes);
    made = assay_arena_alloc(g->arena, bytes + 1);
    if (!made)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < bytes; i += 4) /* small numbers, some of them -1 */
        made[i] = (unsigned char)(i % 12 == 8 ? 255 : i / 4 % 3);
    *data = made;
    return ASSAY_OK;
}

/* Reads all that a row borrows. */
static void look(void *to, const assay_tflite_row *row)
{
    size_t *sum = to;
    *sum += strlen(row->kind) + strlen(row->output) + (row->why ? strlen(row->why) : 0);
    if (row->type && row->type->q.count)
        *sum += (size_t)row->type->q.zero_point[row->type->q.count - 1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool used = false;
    size_t seen = 0;
    const assay_tflite_options options = {
        .sample = {.compute = make_up, .used = &used}, .seen = look, .to = &seen};
    assay_graph *g;
    assay_error err;
    assay_status s = tfl_import_memory("input", data, size, &g, &err);
    if (s == ASSAY_ERR_UNSUPPORTED)
        s = tfl_import_entry("input", NULL, data, size, &options, &g, &err);
    if (s == ASSAY_OK)
        assay_graph_free(g);
    return 0;
}
