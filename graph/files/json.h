/* JSON as text. json_dumps of jansson 2.14 leaves out an object's keys that it has no memory for,
 * and returns the rest. */
#ifndef ASSAY_GRAPH_FILES_JSON_H
#define ASSAY_GRAPH_FILES_JSON_H

#include <jansson.h>

/* `json` as json_dumps writes it with these flags, whole: malloc'd, with a 0 behind it. NULL: out
 * of memory, or there is none, which memory was short for. */
char *file_json_text(const json_t *json, size_t flags);

#endif
