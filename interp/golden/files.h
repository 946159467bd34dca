/* Files and folders: whole or absent. */
#ifndef ASSAY_INTERP_FILES_H
#define ASSAY_INTERP_FILES_H

#include <jansson.h>

#include "interp/assay.h"

/* What follows the last slash. */
const char *assay_base_name(const char *path);
/* Removes a folder and all below it, or a file; what cannot be removed is left. */
void assay_remove_tree(const char *path);
/* Moves the folder `from` to `to`; with `replace` whatever stood at `to` is removed afterwards. */
assay_status assay_replace_tree(const char *from, const char *to, bool replace, assay_error *err);
/* Writes text or JSON under a temporary name and renames it. "-" is standard output. */
assay_status assay_write_file(const char *path, const void *data, size_t size, assay_error *err);
#define ASSAY_JSON_FORMAT (JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17))
assay_status assay_json_write(const char *path, const json_t *json, assay_error *err);

#endif
