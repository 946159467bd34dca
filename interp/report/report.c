/* A report: its files opened, and let go. */
#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"
#include "graph/memory.h"
#include "interp/report/book.h"

assay_status report_open(const char *const *path, const char *const *name, int n,
                         const char *pattern, report **out, assay_error *err)
{
    report *r = calloc(1, sizeof *r);
    assay_status status = ASSAY_OK;

    *out = r;
    if (!r || !(r->chapter = calloc((size_t)n + 1, sizeof *r->chapter)))
        return assay_out_of_memory(err);
    for (int i = 0; i < n && !status; i++) {
        report_chapter *c = &r->chapter[r->n++];
        c->number = i + 1;
        status = report_source_open(path[i], name[i], &c->source, err);
        if (!status && c->source.kind == REPORT_BUNDLE)
            status = report_read_bundle(c, pattern, err);
        if (!status && c->source.kind == REPORT_PROFILE)
            status = report_read_profile(c, err);
    }
    return status;
}

void report_free(report *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->n; i++)
        report_chapter_clear(&r->chapter[i]);
    free(r->chapter);
    free(r);
}

/* The name without links of where `path` would be made; NULL: nowhere, or memory is short. */
static char *place_of(const char *path)
{
    char end[4096], *folder, *place = NULL;
    assay_error unused;
    if (file_link_end(path, end, &unused))
        return NULL;
    const char *name = file_base_name(end);
    const size_t above = (size_t)(name - end);
    char *parent = above ? strndup(end, above) : strdup(".");
    folder = parent ? realpath(parent, NULL) : NULL;
    const size_t size = folder ? strlen(folder) + strlen(name) + 2 : 0;
    if (folder && (place = malloc(size)))
        snprintf(place, size, "%s/%s", folder, name);
    free(parent);
    free(folder);
    return place;
}

assay_status report_check_place(const report *r, const char *path, assay_error *err)
{
    char *place = file_is_stream(path) ? NULL : place_of(path);
    assay_status status = ASSAY_OK;
    for (int i = 0; place && i < r->n && !status; i++) {
        const report_source *s = &r->chapter[i].source;
        char *source = realpath(s->path, NULL);
        const size_t n = source ? strlen(source) : 0;
        if (n && strncmp(place, source, n) == 0 && (!place[n] || place[n] == '/'))
            status = assay_fail(err, ASSAY_ERR_INPUT,
                                "%s: would be written %s '%s', which the report is made of", path,
                                place[n] ? "into" : "over", s->name);
        free(source);
    }
    free(place);
    return status;
}

const report_chapter *report_find_tensor(const report *r, const char *name, int *look)
{
    for (int i = 0; i < r->n; i++) {
        const json_t *at = json_object_get(r->chapter[i].look_of, name);
        if (!at)
            continue;
        *look = (int)json_integer_value(at);
        return &r->chapter[i];
    }
    return NULL;
}

const assay_profile_entry *report_find_profiled(const report *r, const char *name)
{
    for (int i = 0; i < r->n; i++)
        if (r->chapter[i].source.profile)
            return profile_find(r->chapter[i].source.profile, name);
    return NULL;
}
