/* Reading a whole file into memory. */
#ifndef ASSAY_GRAPH_SLURP_H
#define ASSAY_GRAPH_SLURP_H

#include <stddef.h>

#include "interp/assay.h"

/* Reads all of `path` into *bytes, malloc'd for the caller, with a 0 byte after the end that
 * *size does not count. Fails with ASSAY_ERR_IO (also for a folder), _LIMIT above 2^40 bytes or
 * _MEMORY, and then leaves *bytes NULL. */
assay_status assay_slurp(const char *path, unsigned char **bytes, size_t *size, assay_error *err);

#endif
