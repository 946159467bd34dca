/* The files that a report is made of: found out and read. */
#include "interp/report/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/core/slurp.h"
#include "graph/memory.h"

/* How the JSON of each command is known: by keys that it always has. */
static const struct {
    const char *name, *rows, *tensor; /* the list of rows, and a row's key of its tensor */
    const char *also[2];
} form[] = {
    [REPORT_BUNDLE] = {"golden bundle", NULL, NULL, {NULL, NULL}},
    [REPORT_PROFILE] = {"profile", NULL, NULL, {NULL, NULL}},
    [REPORT_EVAL] = {"eval", NULL, NULL, {"outputs", "samples"}},
    [REPORT_RUN] = {"run", "nodes", "value", {"engine", "ms"}},
    [REPORT_SENSITIVITY] = {"sensitivity", "nodes", "value", {"output_db", "samples"}},
    [REPORT_DIFF] = {"diff", "tensors", "name", {"verdict", "compared"}},
    [REPORT_BLAME] = {"blame", "nodes", "name", {"verdict", "faults"}},
};

const char *report_kind_name(enum report_kind kind)
{
    return form[kind].name;
}

const char *report_kind_key(enum report_kind kind)
{
    return form[kind].tensor;
}

static assay_status unknown(const char *path, const char *why, assay_error *err)
{
    return assay_fail(
        err, ASSAY_ERR_INPUT,
        "%s: not a golden bundle, a profile, or the JSON report of run, eval, sensitivity, "
        "diff or blame%s%s",
        path, *why ? ": " : "", why);
}

/* Rows without a name are not indexed; tables show them all the same. */
static assay_status index_rows(report_source *s, assay_error *err)
{
    const char *key = form[s->kind].tensor;
    size_t i;
    json_t *row;

    s->by_tensor = json_object();
    if (!s->by_tensor)
        return assay_out_of_memory_for(err, "%s", s->path);
    json_array_foreach((json_t *)s->rows, i, row)
    {
        const char *name = json_string_value(json_object_get(row, key));
        const json_t *old = name ? json_object_get(s->by_tensor, name) : NULL;
        const json_int_t bad = json_integer_value(json_object_get(row, "mismatches"));
        if (!name || (old && json_integer_value(json_object_get(old, "mismatches")) >= bad))
            continue;
        if (json_object_set(s->by_tensor, name, row))
            return assay_out_of_memory_for(err, "%s", s->path);
    }
    return ASSAY_OK;
}

static bool is_of(const json_t *o, enum report_kind kind)
{
    bool yes = !form[kind].rows || json_is_array(json_object_get(o, form[kind].rows));
    for (int i = 0; i < 2; i++)
        yes = yes && json_object_get(o, form[kind].also[i]);
    return yes;
}

static assay_status read_json(report_source *s, const char *bytes, size_t size, assay_error *err)
{
    json_error_t why;
    char text[JSON_ERROR_TEXT_LENGTH + 40];

    s->json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &why);
    if (!s->json) {
        snprintf(text, sizeof text, "line %d: %s", why.line, why.text);
        return unknown(s->path, text, err);
    }
    for (s->kind = REPORT_EVAL; s->kind <= REPORT_BLAME && !is_of(s->json, s->kind); s->kind++)
        ;
    if (s->kind > REPORT_BLAME)
        return unknown(s->path, "", err);
    if (!form[s->kind].rows)
        return ASSAY_OK;
    s->rows = json_object_get(s->json, form[s->kind].rows);
    return index_rows(s, err);
}

static bool is_json(const char *text)
{
    text += strspn(text, " \t\r\n");
    return *text == '{' || *text == '[';
}

/* A profile begins with a comment or its first key. */
static bool is_profile(const char *text)
{
    while (*text == '#' || *text == '\n') {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return strncmp(text, "assay:", 6) == 0;
}

assay_status report_source_open(const char *path, const char *name, report_source *s,
                                assay_error *err)
{
    struct stat st;
    unsigned char *bytes;
    size_t size;
    *s = (report_source){.path = path, .name = name};
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        s->kind = REPORT_BUNDLE;
        return golden_bundle_open(path, &s->bundle, err);
    }
    assay_status status = assay_slurp(path, &bytes, &size, err);
    if (status)
        return status;
    const bool profile = is_profile((const char *)bytes);
    if (is_json((const char *)bytes))
        status = read_json(s, (const char *)bytes, size, err);
    else if (!profile)
        status = unknown(path, "", err);
    free(bytes);
    if (status || !profile)
        return status;
    s->kind = REPORT_PROFILE;
    return profile_load(path, &s->profile, err);
}

void report_source_close(report_source *s)
{
    if (s->bundle)
        golden_bundle_free(s->bundle);
    profile_free(s->profile);
    json_decref(s->by_tensor);
    json_decref(s->json);
}
