/* Arrays and folders of a bundle that is being written. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "interp/golden/bundle_writer.h"

bool golden_bundle_has_files(const assay_bundle_writer *w)
{
    return !w->options.digests_only && w->options.dir;
}

assay_status golden_bundle_path(assay_bundle_writer *w, const char *part, assay_error *err)
{
    if ((size_t)snprintf(w->path, sizeof w->path, "%s/%s", w->partial.path, part) >= sizeof w->path)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%.300s/%.200s: the path is too long",
                          w->partial.path, part);
    return ASSAY_OK;
}

assay_status golden_bundle_make_dir(assay_bundle_writer *w, const char *part, assay_error *err)
{
    assay_status status = golden_bundle_path(w, part, err);
    if (!status && mkdir(w->path, 0777) != 0 && errno != EEXIST)
        status = assay_fail(err, ASSAY_ERR_IO, "%s: %s", w->path, strerror(errno));
    return status;
}

assay_status golden_bundle_put(assay_bundle_writer *w, const char *part, unsigned forms,
                               const assay_type *type, const void *data, assay_error *err)
{
    assay_status status = ASSAY_OK;
    if (golden_bundle_has_files(w))
        status = golden_bundle_path(w, part, err);
    if (!status && golden_bundle_has_files(w))
        status = golden_dump_write(w->path, forms, w->options.hex_bits, type, data, err);
    return status;
}
