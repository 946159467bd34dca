/* libFuzzer: PNG from memory. Every pixel of what is accepted must be there. */
#include <stdlib.h>

#include "datasets/png.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_image image;
    assay_error err;
    unsigned sum = 0;
    if (dataset_png_read_memory(data, size, "input", &image, &err))
        return 0;
    const size_t count =
        (size_t)image.height * (size_t)image.width * (size_t)image.channels * (size_t)image.bytes;
    for (size_t i = 0; i < count; i++)
        sum += image.pixels[i];
    if (sum > 255 * count)
        abort();
    free(image.pixels);
    return 0;
}
