/* A scheme file as bytes. */
#include "graph/core/slurp.h"
#include "schemes/record/data.h"

#define MAX_FILE (1u << 20)

assay_status assay_scheme_read_file(const char *path, char **text, size_t *length, assay_error *err)
{
    unsigned char *bytes;
    assay_status status = assay_slurp_max(path, MAX_FILE, &bytes, length, err);
    *text = (char *)bytes;
    return status;
}
