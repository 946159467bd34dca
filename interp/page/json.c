/* JSON as text in files. */
#include "interp/page/json.h"

#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"

assay_status file_json_write(const char *path, const json_t *json, assay_error *err)
{
    char *text = json_dumps(json, ASSAY_JSON_FORMAT);
    assay_status status;

    if (!text)
        return assay_fail(err, ASSAY_ERR_MEMORY, "%s: out of memory for JSON", path);
    status = file_write_file(path, text, strlen(text), err);
    free(text);
    return status;
}
