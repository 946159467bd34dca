/* A text that grows, and a stream whose writes append to one and fail where that cannot. */
#include "graph/files/memory.h"

#include <stdlib.h>
#include <string.h>

bool file_memory_add(file_memory *to, const char *bytes, size_t n)
{
    enum { LEAST = 4096 };

    if (n > to->room - to->length) {
        const size_t room = 2 * to->room + n + LEAST;
        char *more = realloc(to->text, room);
        if (!more)
            return false;
        to->text = more;
        to->room = room;
    }
    memcpy(to->text + to->length, bytes, n);
    to->length += n;
    return true;
}

static ssize_t put(void *cookie, const char *bytes, size_t n)
{
    return file_memory_add(cookie, bytes, n) ? (ssize_t)n : 0;
}

FILE *file_memory_open(file_memory *to)
{
    return fopencookie(to, "w", (cookie_io_functions_t){.write = put});
}

bool file_memory_close(FILE *f)
{
    return f && (ferror(f) | fclose(f)) == 0;
}
