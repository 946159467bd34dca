/* Files and folders: whole or absent. */
#ifndef ASSAY_INTERP_FILES_H
#define ASSAY_INTERP_FILES_H

#include <jansson.h>

#include "interp/assay.h"

/* What follows the last slash. */
const char *assay_base_name(const char *path);
/* Removes a folder and all below it, or a file; what cannot be removed is left. */
void assay_remove_tree(const char *path);
/* Writes bytes to a file where it is to stay: for what is in a partial folder. */
assay_status assay_bytes_write(const char *path, const void *data, size_t size, assay_error *err);
/* Writes text or JSON beside its place and moves it there (interp/partial.h): the file is the old
 * one or the new one, whole. "-" is standard output; what is no regular file takes the bytes as
 * they come. */
assay_status assay_write_file(const char *path, const void *data, size_t size, assay_error *err);
#define ASSAY_JSON_FORMAT (JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17))
assay_status assay_json_write(const char *path, const json_t *json, assay_error *err);

#endif
