/* A file as memory: mapped, read only, not copied. */
#ifndef ASSAY_GRAPH_MAP_H
#define ASSAY_GRAPH_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "graph/base.h"

typedef struct assay_map {
    const void *bytes;
    size_t size; /* not 0 */
} assay_map;

/* Maps a regular file that is not empty; otherwise ASSAY_ERR_IO. Free with assay_unmap. */
assay_status assay_map_file(const char *path, assay_map **out, assay_error *err);
/* The same for `size` bytes of an open file from `offset` on, which the file has: *at is where they
 * are. `name` is for messages. */
assay_status assay_map_part(int file, const char *name, uint64_t offset, size_t size,
                            assay_map **out, const void **at, assay_error *err);
/* Drops the whole pages of these mapped bytes from memory; later reads fetch them again. */
void assay_map_forget(const void *bytes, size_t size);
/* Takes an assay_map, as assay_arena_own calls it; NULL is fine. */
void assay_unmap(void *map);

#endif
