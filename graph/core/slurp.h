/* Opening and reading files whole. */
#ifndef ASSAY_GRAPH_SLURP_H
#define ASSAY_GRAPH_SLURP_H

#include <stddef.h>

#include "graph/base.h"

/* Opens a regular file for reading; what is none (a pipe, a device, a folder) is refused and never
 * waited for. *file is the caller's to close, *size how many bytes it has. ASSAY_ERR_IO. */
assay_status assay_open_regular(const char *path, int *file, size_t *size, assay_error *err);

/* The next `size` bytes of an open file, all of them or ASSAY_ERR_IO; `path` is for messages. */
assay_status assay_read_whole(int file, const char *path, void *to, size_t size, assay_error *err);

/* Reads a regular file of at most 2^40 bytes, as assay_open_regular opens it. *bytes is malloc'd
 * for the caller and has a zero behind its *size bytes, which are not counted; on failure it is
 * NULL. ASSAY_ERR_IO, _LIMIT or _MEMORY. */
assay_status assay_slurp(const char *path, unsigned char **bytes, size_t *size, assay_error *err);

/* The same of a file that has no reason to be large: ASSAY_ERR_LIMIT beyond `most` bytes. */
assay_status assay_slurp_max(const char *path, size_t max, unsigned char **bytes, size_t *size,
                             assay_error *err);

/* The same of a file below a folder that may be a stranger's: `path` is relative to the open folder
 * `dir`, which `name` names in messages. No part of it may be empty, "." or "..", or a symbolic
 * link: nothing outside the folder is opened. ASSAY_ERR_INPUT where the path leaves the folder, the
 * file is missing or is no regular file; ASSAY_ERR_IO where it is there and cannot be read. */
assay_status assay_slurp_inside(int dir, const char *name, const char *path, unsigned char **bytes,
                                size_t *size, assay_error *err);

#endif
