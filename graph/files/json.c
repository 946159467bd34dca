/* JSON as text, through a stream that tells when memory is short. */
#include "graph/files/json.h"

#include <stdlib.h>

#include "graph/files/memory.h"

static int put(const char *text, size_t size, void *stream)
{
    return fwrite(text, 1, size, stream) == size ? 0 : -1;
}

char *file_json_text(const json_t *json, size_t flags)
{
    file_memory text = {0};
    FILE *f = json ? file_memory_open(&text) : NULL;
    bool whole = f && json_dump_callback(json, put, f, flags) == 0 && fputc(0, f) == 0;

    whole = file_memory_close(f) && whole;
    if (whole)
        return text.text;
    free(text.text);
    return NULL;
}
