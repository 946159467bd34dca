/* libFuzzer: TFLite models from memory. What is imported has passed the verifier. */
#include "graph/tflite/tflite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_graph *g;
    assay_error err;
    if (assay_tflite_import_memory("input", data, size, &g, &err) == ASSAY_OK)
        assay_graph_free(g);
    return 0;
}
