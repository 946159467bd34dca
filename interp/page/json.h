/* JSON as text in files. */
#ifndef ASSAY_INTERP_JSON_H
#define ASSAY_INTERP_JSON_H

#include <jansson.h>

#include "graph/base.h"

#define ASSAY_JSON_FORMAT (JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17))
/* As file_write_file (graph/files/files.h) writes; `json` stays the caller's. */
assay_status page_json_write(const char *path, const json_t *json, assay_error *err);

#endif
