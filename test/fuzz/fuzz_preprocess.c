/* libFuzzer: preprocess.yaml from memory. The canonical line of what is accepted is a line. */
#include <stdlib.h>
#include <string.h>

#include "datasets/preprocess.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_preprocess p;
    assay_error err;
    char text[ASSAY_PREPROCESS_TEXT];
    if (dataset_preprocess_parse((const char *)data, size, "input", &p, &err))
        return 0;
    if (strchr(dataset_preprocess_print(&p, text), '\n'))
        abort();
    return 0;
}
