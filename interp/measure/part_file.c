/* Parts of an evaluation in files; see part_file.h. A file is JSON: "of", the numbers of
 * assay_part, "tally" and "twin_tally" (sums, by class or pixels [class, truth, chosen, both] of
 * the classes that were met), and "outputs", a text a sample: digest of its output, and with a twin
 * the twin's digest, signal and noise as C prints doubles in hexadecimal, which loses no bit, and
 * elements; of tokens their loss behind that, and the twin's. */
#include "interp/measure/part_file.h"
#include "graph/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/slurp.h"
#include "interp/page/json.h"

#define FORMAT 1
#define HEX    32 /* digits of a digest */

/* ---- writing ---- */

static void print_hash(const XXH128_canonical_t *h, char hex[HEX + 1])
{
    for (size_t i = 0; i < sizeof h->digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", h->digest[i]);
}

static json_t *json_sample(const assay_part *p, int64_t k)
{
    char hex[2][HEX + 1], text[240];
    int n;

    print_hash(&p->hash[1][k], hex[1]);
    n = snprintf(text, sizeof text, "%s", hex[1]);
    if (p->noise) {
        print_hash(&p->hash[0][k], hex[0]);
        n += snprintf(text + n, sizeof text - (size_t)n, " %s %a %a %" PRId64, hex[0],
                      p->noise[k].signal, p->noise[k].noise, p->noise[k].n);
    }
    for (int s = 1; p->tokens && s >= (p->noise ? 0 : 1); s--)
        n += snprintf(text + n, sizeof text - (size_t)n, " %a", p->loss[s][k]);
    return json_string(text);
}

static json_t *json_classes(const assay_tally *t)
{
    json_t *rows = json_array();

    for (int64_t c = 0; c < t->classes; c++) {
        const int64_t number[4] = {c, t->truth[c], t->chosen[c], t->both[c]};
        json_t *row = json_array();
        for (int i = 0; i < 4; i++)
            page_json_add(&row, json_integer(number[i]));
        if (t->truth[c] || t->chosen[c])
            page_json_add(&rows, row);
        else
            json_decref(row);
    }
    return rows;
}

static json_t *json_tally(const assay_tally *t)
{
    json_t *o = json_object(), *top = json_array();

    for (int k = 0; k < ASSAY_EVAL_TOP; k++)
        page_json_add(&top, json_integer(t->top[k]));
    page_json_set(&o, "labelled", json_integer(t->samples));
    page_json_set(&o, "top", top);
    page_json_set(&o, "classes", json_integer(t->classes));
    if (t->truth)
        page_json_set(&o, t->maps ? "pixels" : "by_class", json_classes(t));
    return o;
}

assay_status measure_part_save(const assay_part_file *f, assay_error *err)
{
    const assay_part *p = &f->part;
    json_t *o = json_object(), *samples = json_array();
    assay_status status;

    page_json_set(&o, "assay_eval_part", json_integer(FORMAT));
    page_json_set(&o, "of", json_incref(f->of));
    page_json_set(&o, "first", json_integer(p->first));
    page_json_set(&o, "places", json_integer(p->places));
    page_json_set(&o, "agree", json_integer(p->agree));
    page_json_set(&o, "tokens", json_boolean(p->tokens));
    page_json_set(&o, "tally", json_tally(&p->tally[1]));
    if (p->noise)
        page_json_set(&o, "twin_tally", json_tally(&p->tally[0]));
    for (int64_t k = 0; k < p->count; k++)
        page_json_add(&samples, json_sample(p, k));
    page_json_set(&o, "outputs", samples);
    status = page_json_write(f->path, o, err);
    json_decref(o);
    return status;
}

/* ---- reading ---- */

/* An integer in [0, max] into *to. */
static bool take(const json_t *value, int64_t max, int64_t *to)
{
    *to = json_integer_value(value);
    return json_is_integer(value) && *to >= 0 && *to <= max;
}

static bool take_hash(const char *hex, XXH128_canonical_t *h)
{
    unsigned byte;

    for (size_t i = 0; i < sizeof h->digest; i++) {
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
            return false;
        h->digest[i] = (unsigned char)byte;
    }
    return true;
}

/* What is left of a sample's text. */
static bool take_losses(const char *text, assay_part *p, int64_t k)
{
    for (int s = 1; p->tokens && s >= (p->noise ? 0 : 1); s--) {
        int used = 0;
        if (sscanf(text, " %la%n", &p->loss[s][k], &used) != 1)
            return false;
        text += used;
    }
    return *text == '\0';
}

static bool take_sample(const char *text, assay_part *p, int64_t k)
{
    char hex[2][HEX + 1] = {"", ""};
    assay_powers *const at = p->noise ? &p->noise[k] : NULL;
    int used = 0;

    if (!text)
        return false;
    if (at ? sscanf(text, "%32[0-9a-f] %32[0-9a-f] %la %la %" SCNd64 "%n", hex[1], hex[0],
                    &at->signal, &at->noise, &at->n, &used) != 5 ||
                 at->n < 0
           : sscanf(text, "%32[0-9a-f]%n", hex[1], &used) != 1)
        return false;
    if (!take_losses(text + used, p, k))
        return false;
    for (int s = at ? 0 : 1; s < 2; s++)
        if (strlen(hex[s]) != HEX || !take_hash(hex[s], &p->hash[s][k]))
            return false;
    return true;
}

static bool take_classes(const json_t *rows, assay_tally *t)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        int64_t c;
        if (json_array_size(row) != 4 || !take(json_array_get(row, 0), t->classes - 1, &c) ||
            !take(json_array_get(row, 1), t->samples, &t->truth[c]) ||
            !take(json_array_get(row, 2), t->samples, &t->chosen[c]) ||
            !take(json_array_get(row, 3), t->truth[c], &t->both[c]))
            return false;
    }
    return json_is_array(rows);
}

static assay_status take_tally(const json_t *o, int64_t places, assay_tally *t, bool *good,
                               assay_error *err)
{
    const json_t *pixels = json_object_get(o, "pixels");
    const json_t *rows = pixels ? pixels : json_object_get(o, "by_class");
    assay_judge judge = {.maps = pixels != NULL, .tokens = !rows};
    int64_t max = places, labelled = 0;
    assay_status status;

    *good = take(json_object_get(o, "classes"), 1 << 24, &judge.classes) && judge.classes > 0;
    if (!*good)
        return ASSAY_OK;
    status = measure_tally_make(&judge, t, err);
    if (status)
        return status;
    *good = take(json_object_get(o, "labelled"), max, &labelled);
    t->samples = max = labelled;
    for (int k = ASSAY_EVAL_TOP - 1; k >= 0 && *good; k--) { /* top[4] holds top[3], and so on */
        *good = take(json_array_get(json_object_get(o, "top"), (size_t)k), max, &t->top[k]);
        max = t->top[k];
    }
    *good = *good && (!rows || take_classes(rows, t));
    return ASSAY_OK;
}

static assay_status no_part(const char *path, const char *what, assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s: not a shard of assay eval, or a damaged one: \"%s\" does not have the "
                      "expected content",
                      path, what);
}

/* All but the samples themselves. */
static assay_status take_numbers(const json_t *o, const char *path, assay_part *p, assay_error *err)
{
    const json_t *twin = json_object_get(o, "twin_tally");
    const int64_t max = INT64_C(1) << 40;
    bool good;
    assay_status status;

    p->count = (int64_t)json_array_size(json_object_get(o, "outputs"));
    if (p->count < 1)
        return no_part(path, "outputs", err);
    if (!take(json_object_get(o, "first"), max, &p->first))
        return no_part(path, "first", err);
    if (!take(json_object_get(o, "places"), max / p->count, &p->places))
        return no_part(path, "places", err);
    if (!take(json_object_get(o, "agree"), p->places * p->count, &p->agree))
        return no_part(path, "agree", err);
    if (!json_is_boolean(json_object_get(o, "tokens")))
        return no_part(path, "tokens", err);
    p->tokens = json_is_true(json_object_get(o, "tokens"));
    status = measure_part_make(p, twin != NULL, err);
    if (!status)
        status = take_tally(json_object_get(o, "tally"), max, &p->tally[1], &good, err);
    if (!status && !good)
        return no_part(path, "tally", err);
    if (!status && twin)
        status = take_tally(twin, max, &p->tally[0], &good, err);
    return status || good ? status : no_part(path, "twin_tally", err);
}

static assay_status take_part(const json_t *o, assay_part_file *f, assay_error *err)
{
    const json_t *samples = json_object_get(o, "outputs"), *text;
    assay_status status;
    size_t k;

    if (json_integer_value(json_object_get(o, "assay_eval_part")) != FORMAT)
        return no_part(f->path, "assay_eval_part", err);
    if (!json_is_object(json_object_get(o, "of")))
        return no_part(f->path, "of", err);
    status = take_numbers(o, f->path, &f->part, err);
    if (status)
        return status;
    json_array_foreach(samples, k, text)
    {
        if (!take_sample(json_string_value(text), &f->part, (int64_t)k))
            return no_part(f->path, "outputs", err);
    }
    f->of = json_incref(json_object_get(o, "of"));
    return ASSAY_OK;
}

assay_status measure_part_load(const char *path, assay_part_file *f, assay_error *err)
{
    unsigned char *text;
    size_t size;
    json_error_t at;
    assay_status status;

    *f = (assay_part_file){.path = path};
    status = assay_slurp(path, &text, &size, err);
    if (status)
        return status;
    errno = 0;
    json_t *o = json_loadb((const char *)text, size, JSON_REJECT_DUPLICATES, &at);
    const bool short_of_memory = errno == ENOMEM; /* jansson calls what it cannot hold invalid */
    free(text);
    if (!o)
        return short_of_memory
                   ? assay_out_of_memory_for(err, "%s", path)
                   : assay_fail(err, ASSAY_ERR_INPUT, "%s:%d:%d: not a shard of assay eval: %s",
                                path, at.line, at.column, at.text);
    status = take_part(o, f, err);
    json_decref(o);
    return status;
}

void measure_part_file_free(assay_part_file *f)
{
    measure_part_free(&f->part);
    json_decref(f->of);
    *f = (assay_part_file){0};
}
