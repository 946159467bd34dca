/* A text that grows, and a stream into one. open_memstream of glibc drops what it has no memory
 * for, and neither ferror() nor fclose() says so. */
#ifndef ASSAY_GRAPH_FILES_MEMORY_H
#define ASSAY_GRAPH_FILES_MEMORY_H

#include <stdbool.h>
#include <stdio.h>

typedef struct file_memory {
    char *text; /* what was printed, at the latest when it is flushed, and no 0 behind it; NULL
                   where nothing was */
    size_t length, room;
} file_memory;

/* Appends n bytes; false: out of memory, and `to` is as it was. */
bool file_memory_add(file_memory *to, const char *bytes, size_t n);

/* `to` is empty and stays where it is; the caller frees its text in the end. NULL: out of memory.
 */
FILE *file_memory_open(file_memory *to);
/* Closes it (NULL: nothing to close); whether the text is all that was printed. */
bool file_memory_close(FILE *f);

#endif
