/* JSON that is complete or absent, and JSON as text in files. */
#ifndef ASSAY_INTERP_JSON_H
#define ASSAY_INTERP_JSON_H

#include <jansson.h>

#include "graph/base.h"

/* ---- building: new references, NULL when out of memory ----
 *
 * What is NULL makes what it is put into NULL, up to the root: a lack of memory anywhere ends as no
 * JSON at all, never as JSON without a key. Only the root needs to be asked. */

/* Puts `value`, which is taken, into the object *to. */
void page_json_set(json_t **to, const char *key, json_t *value);
/* Adds `value`, which is taken, to the array *to. */
void page_json_add(json_t **to, json_t *value);
/* A name or any other bytes: those that are not of a UTF-8 character as \xHH. */
json_t *page_json_text(const char *bytes);
/* A list of the lines of a text, without their ends. */
json_t *page_json_lines(const char *text);
/* A measure: null where it is infinite or none, for which JSON has no number. */
json_t *page_json_number(double measure);

/* ---- writing ---- */

#define ASSAY_JSON_FORMAT (JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17))
/* As file_write_file (graph/files/files.h) writes, with a newline at the end; `json` stays the
 * caller's. NULL, which memory was short for, is ASSAY_ERR_MEMORY. */
assay_status page_json_write(const char *path, const json_t *json, assay_error *err);

#endif
