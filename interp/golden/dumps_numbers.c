/* A device's dumps of constants and of nodes' parameters; see dumps.h. */
#include <stdio.h>
#include <string.h>

#include "graph/files/files.h"
#include "interp/golden/dumps.h"

/* What a file may be called: as in a bundle, but for the number that a node has there, by the
 * node's first output or by its own name; the name; the name with '_' for what file systems
 * dislike. */
typedef struct names {
    enum assay_dump_kind kind;
    bool numbered;
    char bundle[2 * ASSAY_BUNDLE_STEM], own[2 * ASSAY_BUNDLE_STEM];
    char name[1024], plain[ASSAY_BUNDLE_STEM];
} names;

/* A name as files have it. */
static void make_plain(const char *name, char plain[ASSAY_BUNDLE_STEM])
{
    char stem[ASSAY_BUNDLE_STEM];
    golden_bundle_stem(0, "", name, stem);
    snprintf(plain, ASSAY_BUNDLE_STEM, "%s", stem + strlen("0000__"));
}

static bool name_constant(const json_t *entry, names *to)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *file = json_string_value(json_object_get(entry, "file"));
    *to = (names){.kind = ASSAY_DUMP_CONSTANT};
    if (!name || !file ||
        !golden_bundle_stem_of(file_base_name(file), to->bundle, sizeof to->bundle))
        return false;
    snprintf(to->name, sizeof to->name, "%.1000s", name);
    make_plain(name, to->plain);
    return true;
}

static bool name_parameter(const json_t *node, const char *key, names *to)
{
    const char *name = json_string_value(json_object_get(node, "name"));
    const char *op = json_string_value(json_object_get(node, "op"));
    const char *made = json_string_value(json_array_get(json_object_get(node, "outputs"), 0));
    char plain[ASSAY_BUNDLE_STEM];
    *to = (names){.kind = ASSAY_DUMP_PARAMETER, .numbered = true};
    if (!name || !op)
        return false;
    make_plain(made ? made : name, plain);
    snprintf(to->bundle, sizeof to->bundle, "%.60s_%s.%.60s", op, plain, key);
    make_plain(name, plain);
    snprintf(to->own, sizeof to->own, "%.60s_%s.%.60s", op, plain, key);
    snprintf(to->name, sizeof to->name, "%.900s.%.60s", name, key);
    snprintf(to->plain, sizeof to->plain, "%.190s.%.60s", plain, key);
    return true;
}

static bool is(const char *file, size_t n, const char *name)
{
    return strncmp(file, name, n) == 0 && name[n] == 0;
}

/* Is it what a bundle calls it? */
static bool is_of_bundle(const char *file, size_t n, const names *w)
{
    const size_t digits = strspn(file, "0123456789");
    const char *rest = file + digits + 1;
    if (!w->numbered)
        return is(file, n, w->bundle);
    return digits >= 4 && digits < n && file[digits] == '_' &&
           (is(rest, n - digits - 1, w->bundle) || is(rest, n - digits - 1, w->own));
}

/* How well dump i fits: 3 the bundle's name, 2 the name, 1 the plain one, 0 not at all. */
static int fit(const assay_dump *d, const names *w)
{
    const char *file = file_base_name(d->path), *dot = strrchr(file, '.');
    const size_t n = dot ? (size_t)(dot - file) : strlen(file);
    if (d->kind != w->kind || d->folder || d->odd)
        return 0;
    if (is_of_bundle(file, n, w))
        return 3;
    return is(file, n, w->name) ? 2 : is(file, n, w->plain);
}

static int find(const assay_dumps *d, const names *w)
{
    int best = -1, best_fit = 0;
    for (int i = 0; i < d->n; i++) {
        const int f = fit(&d->dump[i], w);
        if (f > best_fit) {
            best = i;
            best_fit = f;
        }
    }
    return best;
}

int golden_dumps_constant(const assay_dumps *d, const json_t *entry)
{
    names w;
    return d->n > 0 && name_constant(entry, &w) ? find(d, &w) : -1;
}

int golden_dumps_parameter(const assay_dumps *d, const json_t *node, const char *key)
{
    names w;
    return d->n > 0 && name_parameter(node, key, &w) ? find(d, &w) : -1;
}

static bool is_parameter(const assay_dump *d, const json_t *node)
{
    const char *key;
    json_t *list;
    names w;
    json_object_foreach(json_object_get(node, "parameters"), key, list)
    {
        if (strstr(d->path, key) && name_parameter(node, key, &w) && fit(d, &w) > 0)
            return true;
    }
    return false;
}

bool golden_dumps_is_number(const assay_dumps *d, int i, const assay_bundle *b)
{
    const assay_dump *dump = &d->dump[i];
    size_t k;
    json_t *entry;
    names w;
    json_array_foreach(json_object_get(b->manifest, "constants"), k, entry)
    {
        if (dump->kind == ASSAY_DUMP_CONSTANT && name_constant(entry, &w) && fit(dump, &w) > 0)
            return true;
    }
    json_array_foreach(json_object_get(b->manifest, "nodes"), k, entry)
    {
        if (dump->kind == ASSAY_DUMP_PARAMETER && is_parameter(dump, entry))
            return true;
    }
    return false;
}
