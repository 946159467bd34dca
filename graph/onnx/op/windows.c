/* Windows of sums of cosines, known at import: HannWindow, HammingWindow, BlackmanWindow.
 *
 *   y[i] = a - b cos(2 pi i / N) + c cos(4 pi i / N), N the size, or one less where not periodic */
#include <math.h>
#include <string.h>

#include "graph/onnx/op/op.h"

static const struct {
    const char *type;
    double a, b, c;
} windows[] = {{"HannWindow", 0.5, 0.5, 0},
               {"HammingWindow", 25 / 46.0, 21 / 46.0, 0},
               {"BlackmanWindow", 0.42, 0.5, 0.08}};

void onnx_import_cosine_window(onnx_node *n)
{
    const int64_t max = INT64_C(1) << 20;
    const bool periodic = onnx_int(n, "periodic", 1) != 0;
    int64_t size = 0;
    size_t k = 0;

    onnx_one_int(n, 0, "size", &size);
    if (onnx_int(n, "output_datatype", ONNX_FLOAT) != ONNX_FLOAT)
        onnx_refuse(n, "a window whose type is not float");
    if (!n->status && (size < 0 || size > max))
        onnx_refuse(n, "a window of %lld numbers", (long long)size);
    if (n->status)
        return;
    while (strcmp(windows[k].type, n->row->type) != 0)
        k++;
    onnx_const *c = onnx_new_const(n->im, ONNX_FLOAT, 1, &size);
    const double step_angle = 2 * acos(-1) / (double)(periodic || size < 2 ? size : size - 1);
    for (int64_t i = 0; c && i < size; i++)
        onnx_set_real(c, i,
                      windows[k].a - windows[k].b * cos(step_angle * (double)i) +
                          windows[k].c * cos(2 * step_angle * (double)i));
    onnx_constant(n, c, NULL);
}
