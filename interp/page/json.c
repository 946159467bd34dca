/* JSON that is whole or none, and as text in files. */
#include "interp/page/json.h"
#include "graph/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"
#include "graph/files/json.h"
#include "interp/page/utf8.h"

/* Keeps *to if it took its part. */
static void keep_whole(json_t **to, bool took)
{
    if (took)
        return;
    json_decref(*to);
    *to = NULL;
}

void page_json_set(json_t **to, const char *key, json_t *value)
{
    keep_whole(to, json_object_set_new(*to, key, value) == 0);
}

void page_json_add(json_t **to, json_t *value)
{
    keep_whole(to, json_array_append_new(*to, value) == 0);
}

json_t *page_json_text(const char *bytes)
{
    const size_t room = 4 * strlen(bytes) + 1;
    char *text = malloc(room);
    json_t *o = NULL;
    if (text) {
        page_utf8_escape(bytes, text, room);
        o = json_string(text);
    }
    free(text);
    return o;
}

json_t *page_json_lines(const char *text)
{
    json_t *list = json_array();
    for (const char *line = text; *line != '\0';) {
        const size_t n = strcspn(line, "\n");
        page_json_add(&list, json_stringn(line, n));
        line += n + (line[n] == '\n');
    }
    return list;
}

json_t *page_json_number(double measure)
{
    return isfinite(measure) ? json_real(measure) : json_null();
}

assay_status page_json_write(const char *path, const json_t *json, assay_error *err)
{
    char *text = file_json_text(json, ASSAY_JSON_FORMAT);
    assay_status status;

    if (!text)
        return assay_out_of_memory_for(err, "%s", path);
    const size_t size = strlen(text);
    text[size] = '\n';
    status = file_write_file(path, text, size + 1, err);
    free(text);
    return status;
}
