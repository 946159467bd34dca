/* libFuzzer: TFLite models from memory. What is imported has passed the verifier. What is not
 * supported because its shapes depend on data is imported again, for made-up data. */
#include <string.h>

#include "graph/tflite/tflite.h"
#include "test/fuzz/made_up.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
