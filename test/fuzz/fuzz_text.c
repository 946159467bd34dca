/* libFuzzer: the text form. What parses prints to a text that parses to the same text. */
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_graph *g, *h;
    assay_buf once = {0}, twice = {0};
    assay_error err;
    if (text_graph_parse((const char *)data, size, "input", NULL, &g, &err))
        return 0;
    if (text_graph_print(g, NULL, &once, &err) ||
        text_graph_parse(once.text, once.length, "printed", NULL, &h, &err) ||
        text_graph_print(h, NULL, &twice, &err) || strcmp(once.text, twice.text) != 0)
        abort();
    assay_graph_free(g);
    assay_graph_free(h);
    assay_buf_free(&once);
    assay_buf_free(&twice);
    return 0;
}
