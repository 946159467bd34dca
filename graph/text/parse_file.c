/* Arrays of the text form that are in files of the directory of constants. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/slurp.h"
#include "graph/text/scan.h"

/* Elements of file `name` of the directory of constants. */
static assay_status read_file(const assay_scanner *p, const char *name, const assay_type *t,
                              void **data, assay_error *err)
{
    const assay_text_folder *c = p->constants;
    unsigned char *bytes;
    size_t size;
    char path[4096];
    assay_status s;

    if (snprintf(path, sizeof path, "%s/%s", c->path, name) >= (int)sizeof path)
        return assay_fail(err, ASSAY_ERR_IO, "the path of '%.100s' is too long", name);
    if (c->inside < 0)
        return text_constant_read(path, t, data, err);
    s = assay_slurp_inside(c->inside, c->shown, path, &bytes, &size, err);
    if (!s)
        s = text_constant_parse(path, bytes, size, t, data, err);
    free(bytes);
    return s;
}

/* The digest that a file's elements must have, where the text gives one. */
static assay_status parse_digest(assay_scanner *p, const char *name, const assay_type *t,
                                 const void *data)
{
    const char *at = text_scan_here(p);
    char *digest, found[33];
    assay_status s;

    if (!text_scan_accept(p, "xxh3"))
        return ASSAY_OK;
    if ((s = text_scan_string(p, &digest)))
        return s;
    s = text_constant_digest(t, data, found, p->err);
    if (!s && strcmp(found, digest) != 0)
        s = text_scan_fail_at(p, at, ASSAY_ERR_INPUT,
                              "'%.100s' holds other constants than this network was written with "
                              "(digest %s, expected %.40s)",
                              name, found, digest);
    free(digest);
    return s;
}

assay_status text_parse_file(assay_scanner *p, const assay_type *t, void **data)
{
    const char *at = text_scan_here(p);
    char *name;
    assay_error inner;
    assay_status s = text_scan_string(p, &name);

    if (s)
        return s;
    if (!*name || strchr(name, '/') || strcmp(name, "..") == 0 || strcmp(name, ".") == 0)
        s = text_scan_fail_at(p, at, ASSAY_ERR_INPUT, "'%.100s' is not a plain file name", name);
    else if (!p->constants->path)
        s = text_scan_fail_at(p, at, ASSAY_ERR_INPUT,
                              "the text names a file, but there is no directory of constants");
    else
        s = text_scan_located(p, at, read_file(p, name, t, data, &inner), &inner);
    if (!s)
        s = parse_digest(p, name, t, *data);
    free(name);
    return s;
}
