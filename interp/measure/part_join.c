/* Parts of an evaluation put together; see part_file.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/measure/part_file.h"

/* A text, the first line of it, or a number, as it stands in messages. */
static const char *say(const json_t *value, char to[200])
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";

    if (json_is_integer(value))
        snprintf(to, 200, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_string(value))
        snprintf(to, 200, "%.*s", (int)strcspn(text, "\n"), text);
    else
        snprintf(to, 200, "%s",
                 !value || json_is_null(value) ? "none"
                 : json_is_true(value)         ? "yes"
                                               : "no");
    return to;
}

/* Every entry of one is the other's. */
static assay_status check_of(const assay_part_file *a, const assay_part_file *b, assay_error *err)
{
    char one[200], other[200];
    const char *key;
    json_t *value;

    json_object_foreach(a->of, key, value)
    {
        const json_t *its = json_object_get(b->of, key);
        if (!json_equal(value, its))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s and %s are not of one evaluation: %s is '%s' in one and '%s' in "
                              "the other",
                              a->path, b->path, key, say(value, one), say(its, other));
    }
    return ASSAY_OK;
}

static bool counts_alike(const assay_tally *a, const assay_tally *b)
{
    return a->classes == b->classes && a->maps == b->maps && !a->truth == !b->truth;
}

static assay_status check_alike(const assay_part_file *a, const assay_part_file *b,
                                assay_error *err)
{
    const assay_part *p = &a->part, *q = &b->part;
    assay_status status = check_of(a, b, err);

    if (!status)
        status = check_of(b, a, err);
    if (!status &&
        (p->places != q->places || !p->noise != !q->noise ||
         !counts_alike(&p->tally[1], &q->tally[1]) || !counts_alike(&p->tally[0], &q->tally[0])))
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "%s and %s are not of one evaluation: they count different classes",
                            a->path, b->path);
    return status;
}

static int by_first(const void *a, const void *b)
{
    const assay_part_file *p = a, *q = b;
    const int order = (p->part.first > q->part.first) - (p->part.first < q->part.first);
    return order ? order : (p->part.count > q->part.count) - (p->part.count < q->part.count);
}

/* Are the samples of the sorted files first .. end - 1, each once? */
static assay_status check_samples(const assay_part_file *f, int n, int64_t first, int64_t end,
                                  assay_error *err)
{
    const char *before = NULL;
    int64_t next = first;

    for (int i = 0; i < n; i++) {
        const assay_part *p = &f[i].part;
        if (p->first > next)
            break;
        if (p->first < next)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              before ? "sample %" PRId64 " is in two shards: %s and %s"
                                     : "sample %" PRId64 " is in %s, and none of what was asked "
                                       "for%s",
                              p->first, before ? before : f[i].path, before ? f[i].path : "");
        next = p->first + p->count;
        before = f[i].path;
    }
    if (next > end)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "sample %" PRId64 " is in %s, and none of what was asked for", end,
                          before);
    return next == end ? ASSAY_OK
                       : assay_fail(err, ASSAY_ERR_INPUT,
                                    "sample %" PRId64 " of [%" PRId64 ", %" PRId64
                                    ") is missing: run its shard and name its file too",
                                    next, first, end);
}

static void add(assay_part *out, const assay_part *p)
{
    const size_t at = (size_t)(p->first - out->first), n = (size_t)p->count;

    for (int s = p->noise ? 0 : 1; s < 2; s++) {
        memcpy(out->hash[s] + at, p->hash[s], n * sizeof *p->hash[s]);
        memcpy(out->loss[s] + at, p->loss[s], n * sizeof *p->loss[s]);
        measure_tally_join(&out->tally[s], &p->tally[s]);
    }
    if (p->noise)
        memcpy(out->noise + at, p->noise, n * sizeof *p->noise);
    out->agree += p->agree;
}

assay_status measure_part_join(assay_part_file *f, int n, int64_t first, int64_t count,
                               assay_part *out, assay_error *err)
{
    assay_status status = ASSAY_OK;

    *out = (assay_part){
        .first = first, .count = count, .places = f[0].part.places, .tokens = f[0].part.tokens};
    for (int i = 1; i < n && !status; i++)
        status = check_alike(&f[0], &f[i], err);
    qsort(f, (size_t)n, sizeof *f, by_first);
    if (!status)
        status = check_samples(f, n, first, first + count, err);
    if (!status)
        status = measure_part_make(out, f[0].part.noise != NULL, err);
    for (int s = f[0].part.noise ? 0 : 1; s < 2 && !status; s++) {
        const assay_judge like = {.classes = f[0].part.tally[s].classes,
                                  .maps = f[0].part.tally[s].maps,
                                  .tokens = !f[0].part.tally[s].truth};
        status = measure_tally_make(&like, &out->tally[s], err);
    }
    for (int i = 0; i < n && !status; i++)
        add(out, &f[i].part);
    return status;
}
