/* JSON as text in files. */
#include "interp/page/json.h"
#include "graph/memory.h"

#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"

assay_status page_json_write(const char *path, const json_t *json, assay_error *err)
{
    char *text = json_dumps(json, ASSAY_JSON_FORMAT);
    assay_status status;

    if (!text)
        return assay_out_of_memory_for(err, "%s", path);
    status = file_write_file(path, text, strlen(text), err);
    free(text);
    return status;
}
