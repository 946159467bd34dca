/* libFuzzer: ONNX models from memory. What is accepted is a graph that verifies. Seeds: any small
 * models, e.g. Debian's libonnx-testdata. */
#include <stdlib.h>

#include "graph/onnx/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_graph *g;
    assay_error err = {.status = ASSAY_OK};

    if (onnx_import_memory("input", data, size, NULL, &g, &err)) {
        if (g || err.status == ASSAY_OK || err.text[0] == '\0' || err.status == ASSAY_ERR_INTERNAL)
            abort();
        return 0;
    }
    if (assay_graph_verify(g, &err))
        abort();
    assay_graph_free(g);
    return 0;
}
