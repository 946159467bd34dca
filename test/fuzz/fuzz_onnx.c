/* libFuzzer: ONNX models from memory. What is accepted is a graph that verifies. What is not
 * supported because its shapes depend on data is imported again, for made-up data. Seeds: any small
 * models, e.g. Debian's libonnx-testdata. */
#include <stdlib.h>

#include "graph/onnx/onnx.h"
#include "test/fuzz/made_up.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void import(const uint8_t *data, size_t size, const assay_onnx_options *options)
{
    assay_graph *g;
    assay_error err = {.status = ASSAY_OK};

    if (onnx_import_memory("input", data, size, options, &g, &err)) {
        if (g || err.status == ASSAY_OK || err.text[0] == '\0' || err.status == ASSAY_ERR_INTERNAL)
            abort();
        if (!options && err.status == ASSAY_ERR_UNSUPPORTED) {
            bool used = false;
            const assay_onnx_options made_up = {.sample = {make_up, NULL, &used}};
            import(data, size, &made_up);
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
