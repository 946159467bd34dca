/* libFuzzer: ONNX models from memory. What is accepted is a graph that verifies. What is not
 * supported because its shapes depend on data is imported again, for made-up data. Seeds: any small
 * models, e.g. Debian's libonnx-testdata. */
#include <stdlib.h>

#include "graph/memory.h"
#include "graph/onnx/onnx.h"

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
    for (size_t i = 0; i < bytes; i += 4) /* small numbers */
        made[i] = (unsigned char)(i / 4 % 3);
    *data = made;
    return ASSAY_OK;
}

static void import(const uint8_t *data, size_t size, const assay_onnx_options *options)
{
    assay_graph *g;
    assay_error err = {.status = ASSAY_OK};

    if (onnx_import_memory("input", data, size, options, &g, &err)) {
        if (g || err.status == ASSAY_OK || err.text[0] == '\0' || err.status == ASSAY_ERR_INTERNAL)
            abort();
        if (!options && err.status == ASSAY_ERR_UNSUPPORTED) {
            bool used = false;
            import(data, size, &(assay_onnx_options){.sample = {
                       .compute = make_up,
                       .used = &used
                   }});
        }
        return;
    }
    if (assay_graph_verify(g, &err))
        abort();
    assay_graph_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    import(data, size, NULL);
    return 0;
}
