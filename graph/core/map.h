/* A file as memory: mapped, read only, not copied. */
#ifndef ASSAY_GRAPH_MAP_H
#define ASSAY_GRAPH_MAP_H

#include <stddef.h>

#include "graph/base.h"

typedef struct assay_map {
    const void *bytes;
    size_t size; /* not 0 */
} assay_map;

/* Maps a regular file that is not empty; ASSAY_ERR_IO else. Given to assay_unmap when done. */
assay_status assay_map_file(const char *path, assay_map **out, assay_error *err);
/* What is read again comes from the file again: whole pages of these mapped bytes leave memory. */
void assay_map_forget(const void *bytes, size_t size);
/* Takes an assay_map, as assay_arena_own calls it; NULL is nothing. */
void assay_unmap(void *map);

#endif
