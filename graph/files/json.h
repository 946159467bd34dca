/* JSON as text. json_dumps of jansson 2.14, when out of memory, omits keys of an object and returns
 * the rest. */
#ifndef ASSAY_GRAPH_FILES_JSON_H
#define ASSAY_GRAPH_FILES_JSON_H

#include <jansson.h>

/* `json` as json_dumps writes it with these flags, whole: malloc'd, with a 0 after it. NULL: out
 * of memory, or json is NULL because memory ran out. */
char *file_json_text(const json_t *json, size_t flags);

#endif
