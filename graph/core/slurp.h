/* Opening files and reading them whole. */
#ifndef ASSAY_GRAPH_SLURP_H
#define ASSAY_GRAPH_SLURP_H

#include <stddef.h>

#include "graph/base.h"

/* Opens a regular file for reading; anything else (a pipe, a device, a folder) is refused without
 * waiting for it. The caller closes *file; *size is its size in bytes. ASSAY_ERR_IO. */
assay_status assay_open_regular(const char *path, int *file, size_t *size, assay_error *err);

/* The next `size` bytes of an open file, all of them or ASSAY_ERR_IO; `path` is for messages. */
assay_status assay_read_whole(int file, const char *path, void *to, size_t size, assay_error *err);

/* Reads a regular file of at most 2^40 bytes, as assay_open_regular opens it. *bytes is malloc'd
 * for the caller and has a zero after its *size bytes, which *size does not count; on failure it is
 * NULL. ASSAY_ERR_IO, _LIMIT or _MEMORY. */
assay_status assay_slurp(const char *path, unsigned char **bytes, size_t *size, assay_error *err);

/* The same for a file that is never large: ASSAY_ERR_LIMIT beyond `max` bytes. */
assay_status assay_slurp_max(const char *path, size_t max, unsigned char **bytes, size_t *size,
                             assay_error *err);

/* The same for a file below a folder that is not trusted: `path` is relative to the open folder
 * `dir`, which `name` names in messages. No part of it may be empty, "." or "..", or a symbolic
 * link: nothing outside the folder is opened. ASSAY_ERR_INPUT where the path leaves the folder, the
 * file is missing or is not a regular file; ASSAY_ERR_IO where it exists and cannot be read. */
assay_status assay_slurp_inside(int dir, const char *name, const char *path, unsigned char **bytes,
                                size_t *size, assay_error *err);

#endif
