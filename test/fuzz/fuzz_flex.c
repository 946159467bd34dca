/* libFuzzer: FlexBuffers options of a TFLite custom operator. A number that is not found leaves
 * what stood there. */
#include <stdlib.h>

#include "graph/tflite/flat/flex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const key[] = {"", "a", "y_scale", "max_detections", "use_regular_nms"};
    flat_file f = {.name = "options", .bytes = data, .size = size};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
        double v = 7.5;
        if (!tfl_flex_number((flat_vector){.file = &f, .count = (uint32_t)size}, key[i], &v) &&
            v != 7.5)
            abort();
    }
    return 0;
}
