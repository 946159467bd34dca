/* The list of what is unsupported in a model, for its one message. */
#include <stdio.h>

#include "graph/onnx/value/value.h"

void onnx_list_unsupported(onnx_import *im, const char *text)
{
    size_t room = sizeof im->unsupported - im->unsupported_length;
    int n = snprintf(im->unsupported + im->unsupported_length, room, "%s%s",
                     im->n_unsupported ? "; " : "", text);

    if (n > 0 && (size_t)n < room)
        im->unsupported_length += (size_t)n;
    else
        im->unsupported[im->unsupported_length] = '\0'; /* whole entries only */
    im->n_unsupported++;
}

assay_status onnx_tolerate(onnx_import *im, assay_status s, const assay_error *err)
{
    if (s != ASSAY_ERR_UNSUPPORTED)
        return s;
    onnx_list_unsupported(im, err->text);
    return ASSAY_OK;
}
