/* JSON as text, and whether it is whole. */
#include "graph/files/json.h"

#include <stdlib.h>

#include "graph/files/memory.h"

static int put(const char *text, size_t size, void *to)
{
    return file_memory_add(to, text, size) ? 0 : -1;
}

char *file_json_text(const json_t *json, size_t flags)
{
    file_memory text = {0};

    if (json && json_dump_callback(json, put, &text, flags) == 0 && file_memory_add(&text, "", 1))
        return text.text;
    free(text.text);
    return NULL;
}
