/* A stream whose writes append to a text and fail where that cannot grow. */
#include "graph/files/memory.h"

#include <stdlib.h>
#include <string.h>

static ssize_t put(void *cookie, const char *bytes, size_t n)
{
    enum { LEAST = 4096 };
    file_memory *to = cookie;

    if (n > to->room - to->length) {
        const size_t room = 2 * to->room + n + LEAST;
        char *more = realloc(to->text, room);
        if (!more)
            return 0;
        to->text = more;
        to->room = room;
    }
    memcpy(to->text + to->length, bytes, n);
    to->length += n;
    return (ssize_t)n;
}

FILE *file_memory_open(file_memory *to)
{
    return fopencookie(to, "w", (cookie_io_functions_t){.write = put});
}

bool file_memory_close(FILE *f)
{
    return f && (ferror(f) | fclose(f)) == 0;
}
