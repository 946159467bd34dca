/* libFuzzer: .npy from memory. What is read must survive writing and reading again. */
#include <stdlib.h>
#include <string.h>

#include "graph/text/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_npy a, b;
    assay_error err;
    void *file;
    size_t file_size;
    if (text_npy_read_memory(data, size, "input", &a, &err))
        return 0;
    if (text_npy_write_memory(&a, &file, &file_size, &err) ||
        text_npy_read_memory(file, file_size, "rewritten", &b, &err) || a.type != b.type ||
        a.rank != b.rank || memcmp(a.shape, b.shape, sizeof a.shape) != 0 ||
        memcmp(a.data, b.data, text_npy_bytes(&a)) != 0)
        abort();
    free(file);
    text_npy_free(&a);
    text_npy_free(&b);
    return 0;
}
