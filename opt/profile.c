#include "opt/profile.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opt/digest.h"
#include "opt/opt.h"
#include "opt/profile_state.h"

#define HALF  (ASSAY_PROFILE_BINS / 2) /* bins on either side of zero: 2^12 */
#define CHUNK 512

static assay_status out_of_memory(assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory for a profile");
}

/* ---- making and freeing ---- */

assay_status assay_profile_blank(assay_profile **out, assay_error *err)
{
    assay_profile *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p)
        return out_of_memory(err);
    p->model = strdup("");
    p->graph = strdup("");
    p->preprocessing = strdup("");
    p->dataset = strdup("");
    if (!p->model || !p->graph || !p->preprocessing || !p->dataset) {
        assay_profile_free(p);
        return out_of_memory(err);
    }
    *out = p;
    return ASSAY_OK;
}

void assay_profile_free(assay_profile *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->n_entries; i++) {
        free((char *)p->entry[i].name);
        free(p->entry[i].bin);
    }
    free(p->entry);
    free(p->entry_of_value);
    free(p->range);
    free(p->model);
    free(p->graph);
    free(p->preprocessing);
    free(p->dataset);
    free(p);
}

static assay_status set_text(char **field, const char *text, assay_error *err)
{
    char *copy = strdup(text);
    if (!copy)
        return out_of_memory(err);
    free(*field);
    *field = copy;
    return ASSAY_OK;
}

assay_status assay_profile_set_preprocessing(assay_profile *p, const char *text, assay_error *err)
{
    return set_text(&p->preprocessing, text, err);
}

assay_status assay_profile_set_dataset(assay_profile *p, const char *name, assay_error *err)
{
    return set_text(&p->dataset, name, err);
}

assay_status assay_profile_entry_init(assay_profile_entry *e, const char *name, assay_error *err)
{
    *e = (assay_profile_entry){.exponent = ASSAY_PROFILE_MIN_EXPONENT};
    e->name = strdup(name);
    e->bin = calloc(ASSAY_PROFILE_BINS, sizeof *e->bin);
    return e->name && e->bin ? ASSAY_OK : out_of_memory(err);
}

static bool is_profiled(const assay_value *v)
{
    return !v->data && v->type.elem.kind == ASSAY_KIND_F32;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const assay_profile_entry *)a)->name, ((const assay_profile_entry *)b)->name);
}

static int find_entry(const assay_profile *p, const char *name)
{
    assay_profile_entry key = {.name = name};
    const assay_profile_entry *e =
        p->n_entries > 0 ? bsearch(&key, p->entry, (size_t)p->n_entries, sizeof *p->entry, by_name)
                         : NULL;
    return e ? (int)(e - p->entry) : -1;
}

/* One empty entry for each value of g that is profiled. */
static assay_status make_entries(assay_profile *p, const assay_graph *g, const uint64_t *lineage,
                                 assay_error *err)
{
    size_t n = (size_t)(g->n_values > 0 ? g->n_values : 1);
    p->entry = calloc(n, sizeof *p->entry);
    p->entry_of_value = malloc(n * sizeof *p->entry_of_value);
    if (!p->entry || !p->entry_of_value)
        return out_of_memory(err);
    for (int v = 0; v < g->n_values; v++) {
        if (!is_profiled(&g->value[v]))
            continue;
        assay_profile_entry *e = &p->entry[p->n_entries++];
        if (assay_profile_entry_init(e, g->value[v].name, err))
            return ASSAY_ERR_MEMORY;
        e->lineage = lineage[v];
    }
    qsort(p->entry, (size_t)p->n_entries, sizeof *p->entry, by_name);
    p->n_values = g->n_values;
    for (int v = 0; v < g->n_values; v++)
        p->entry_of_value[v] = is_profiled(&g->value[v]) ? find_entry(p, g->value[v].name) : -1;
    return ASSAY_OK;
}

assay_status assay_profile_new(const assay_graph *g, assay_profile **out, assay_error *err)
{
    char digest[33];
    assay_profile *p;
    assay_status status = assay_profile_blank(&p, err);
    *out = NULL;
    if (status)
        return status;
    uint64_t *lineage = calloc((size_t)g->n_values + 1, sizeof *lineage);
    if (!lineage)
        status = out_of_memory(err);
    if (!status)
        status = assay_value_lineage(g, lineage, err);
    if (!status)
        status = assay_graph_digest(g, digest, err);
    if (!status)
        status = set_text(&p->graph, digest, err);
    if (!status)
        status = set_text(&p->model, g->model_digest, err);
    if (!status)
        status = make_entries(p, g, lineage, err);
    free(lineage);
    if (status)
        assay_profile_free(p);
    else
        *out = p;
    return status;
}

/* ---- observing ---- */

/* Least k with x in [-2^k, 2^k) for every x of [min, max]. */
static int range_exponent(float min, float max)
{
    int k = ASSAY_PROFILE_MIN_EXPONENT, e;
    if (max > 0) {
        frexpf(max, &e);
        k = e > k ? e : k;
    }
    if (min < 0) {
        float mantissa = frexpf(min, &e);
        e -= mantissa == -0.5f ? 1 : 0; /* -2^(e-1) itself is inside [-2^(e-1), ...) */
        k = e > k ? e : k;
    }
    return k;
}

/* Bin i of a range that is 2^grow times narrower. */
static int coarser_bin(int i, int grow)
{
    int from_zero = i - HALF;
    return HALF + (from_zero >= 0 ? from_zero >> grow : -1 - ((-1 - from_zero) >> grow));
}

static void grow_to(assay_profile_entry *e, int exponent)
{
    int grow = exponent - e->exponent;
    if (grow <= 0)
        return;
    grow = grow > 13 ? 13 : grow; /* 13 puts all bins of a side into the one beside zero */
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < HALF; i++) { /* outwards from zero: targets lie behind the sources */
            int from = side ? HALF + i : HALF - 1 - i, to = coarser_bin(from, grow);
            uint64_t count = e->bin[from];
            e->bin[from] = 0;
            e->bin[to] += count;
        }
    e->exponent = exponent;
}

/* Counts finite elements. The bin is floor(x / 2^(k-12)): scaling by a power of two is exact but
 * for underflow, which may turn a negative x into -0. */
static void count_finite(assay_profile_entry *e, const float *x, size_t n)
{
    float lo = x[0], hi = x[0];
    for (size_t i = 1; i < n; i++) {
        lo = x[i] < lo ? x[i] : lo;
        hi = x[i] > hi ? x[i] : hi;
    }
    lo += 0.0f; /* -0 counts as 0, or the order of observations would show */
    hi += 0.0f;
    if (e->finite == 0 || lo < e->min)
        e->min = lo;
    if (e->finite == 0 || hi > e->max)
        e->max = hi;
    e->finite += n;
    grow_to(e, range_exponent(lo, hi));

    float scale = ldexpf(1.0f, 12 - e->exponent);
    int32_t bin[CHUNK];
    for (size_t i = 0; i < n; i++) {
        float t = x[i] * scale;
        int32_t whole = (int32_t)t;
        bin[i] = HALF + whole - (t < (float)whole || (t == 0.0f && x[i] < 0.0f));
    }
    for (size_t i = 0; i < n; i++)
        e->bin[bin[i]]++;
}

void assay_profile_observe(assay_profile *p, int value, const float *x, size_t n)
{
    if (value < 0 || value >= p->n_values || p->entry_of_value[value] < 0)
        return;
    assay_profile_entry *e = &p->entry[p->entry_of_value[value]];
    float finite[CHUNK];
    for (size_t at = 0; at < n; at += CHUNK) {
        size_t length = n - at < CHUNK ? n - at : CHUNK, kept = 0, odd = 0;
        const float *chunk = x + at;
        for (size_t i = 0; i < length; i++)
            odd += !(fabsf(chunk[i]) <= 0x1.fffffep127f);
        if (odd == 0) {
            count_finite(e, chunk, length);
            continue;
        }
        for (size_t i = 0; i < length; i++) {
            if (isnan(chunk[i]))
                e->nan++;
            else if (isinf(chunk[i]))
                e->inf++;
            else
                finite[kept++] = chunk[i];
        }
        if (kept > 0)
            count_finite(e, finite, kept);
    }
}

/* ---- samples ---- */

assay_status assay_profile_add_range(assay_profile *p, assay_profile_range r, assay_error *err)
{
    int at = 0;
    while (at < p->n_ranges && p->range[at].end <= r.first)
        at++;
    if (at < p->n_ranges && p->range[at].first < r.end)
        return assay_fail(
            err, ASSAY_ERR_INPUT, "sample %llu is already in the profile: shards overlap",
            (unsigned long long)(p->range[at].first > r.first ? p->range[at].first : r.first));
    bool joins_left = at > 0 && p->range[at - 1].end == r.first;
    bool joins_right = at < p->n_ranges && p->range[at].first == r.end;
    if (joins_left && joins_right) {
        p->range[at - 1].end = p->range[at].end;
        p->n_ranges--;
        memmove(&p->range[at], &p->range[at + 1], (size_t)(p->n_ranges - at) * sizeof *p->range);
    } else if (joins_left) {
        p->range[at - 1].end = r.end;
    } else if (joins_right) {
        p->range[at].first = r.first;
    } else {
        if (p->n_ranges == p->max_ranges) {
            int max = p->max_ranges > 0 ? 2 * p->max_ranges : 8;
            assay_profile_range *grown = realloc(p->range, (size_t)max * sizeof *grown);
            if (!grown)
                return out_of_memory(err);
            p->range = grown;
            p->max_ranges = max;
        }
        memmove(&p->range[at + 1], &p->range[at], (size_t)(p->n_ranges - at) * sizeof *p->range);
        p->range[at] = r;
        p->n_ranges++;
    }
    return ASSAY_OK;
}

assay_status assay_profile_add_sample(assay_profile *p, uint64_t sample, assay_error *err)
{
    return assay_profile_add_range(p, (assay_profile_range){sample, sample + 1}, err);
}

uint64_t assay_profile_samples(const assay_profile *p)
{
    uint64_t n = 0;
    for (int i = 0; i < p->n_ranges; i++)
        n += p->range[i].end - p->range[i].first;
    return n;
}

assay_status assay_profile_complete(const assay_profile *p, assay_error *err)
{
    if (p->n_ranges == 1 && p->range[0].first == 0)
        return ASSAY_OK;
    uint64_t missing = p->n_ranges > 0 && p->range[0].first == 0 ? p->range[0].end : 0;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "profile is not complete: sample %llu is missing (a shard was left out?)",
                      (unsigned long long)missing);
}

/* ---- merging ---- */

static assay_status demand_same(const char *what, const char *a, const char *b, assay_error *err)
{
    if (strcmp(a, b) == 0)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "profiles cannot be merged: %s is '%s' in one and '%s' "
                      "in the other",
                      what, a, b);
}

static assay_status demand_mergeable(const assay_profile *a, const assay_profile *b,
                                     assay_error *err)
{
    assay_status status = demand_same("model", a->model, b->model, err);
    if (!status)
        status = demand_same("graph", a->graph, b->graph, err);
    if (!status)
        status = demand_same("preprocessing", a->preprocessing, b->preprocessing, err);
    if (!status)
        status = demand_same("dataset", a->dataset, b->dataset, err);
    if (status)
        return status;
    if (a->n_entries != b->n_entries)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "profiles cannot be merged: %d values in one and %d in the other",
                          a->n_entries, b->n_entries);
    for (int i = 0; i < a->n_entries; i++) {
        const assay_profile_entry *x = &a->entry[i], *y = &b->entry[i];
        if (strcmp(x->name, y->name) != 0 || x->lineage != y->lineage)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "profiles cannot be merged: value '%s' of one is not in the other",
                              x->name);
        if (x->finite > UINT64_MAX - y->finite || x->nan > UINT64_MAX - y->nan ||
            x->inf > UINT64_MAX - y->inf)
            return assay_fail(err, ASSAY_ERR_LIMIT,
                              "profiles cannot be merged: counts of value "
                              "'%s' exceed 64 bits",
                              x->name);
    }
    return ASSAY_OK;
}

/* All ranges of both, or an error; the caller frees *out. */
static assay_status join_ranges(const assay_profile *a, const assay_profile *b, assay_profile *out,
                                assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < a->n_ranges && !status; i++)
        status = assay_profile_add_range(out, a->range[i], err);
    for (int i = 0; i < b->n_ranges && !status; i++)
        status = assay_profile_add_range(out, b->range[i], err);
    return status;
}

static void merge_entry(assay_profile_entry *into, const assay_profile_entry *from)
{
    if (from->finite > 0) {
        grow_to(into, from->exponent);
        int grow = into->exponent - from->exponent;
        grow = grow > 13 ? 13 : grow;
        for (int i = 0; i < ASSAY_PROFILE_BINS; i++)
            into->bin[coarser_bin(i, grow)] += from->bin[i];
        if (into->finite == 0 || from->min < into->min)
            into->min = from->min;
        if (into->finite == 0 || from->max > into->max)
            into->max = from->max;
    }
    into->finite += from->finite;
    into->nan += from->nan;
    into->inf += from->inf;
}

assay_status assay_profile_merge(assay_profile *into, const assay_profile *from, assay_error *err)
{
    assay_profile joined = {0};
    assay_status status = demand_mergeable(into, from, err);
    if (!status)
        status = join_ranges(into, from, &joined, err);
    if (status) {
        free(joined.range);
        return status;
    }
    free(into->range);
    into->range = joined.range;
    into->n_ranges = joined.n_ranges;
    into->max_ranges = joined.max_ranges;
    for (int i = 0; i < into->n_entries; i++)
        merge_entry(&into->entry[i], &from->entry[i]);
    return ASSAY_OK;
}

/* ---- queries ---- */

int assay_profile_count(const assay_profile *p)
{
    return p->n_entries;
}

const assay_profile_entry *assay_profile_get(const assay_profile *p, int i)
{
    return &p->entry[i];
}

const assay_profile_entry *assay_profile_find(const assay_profile *p, const char *name)
{
    int i = find_entry(p, name);
    return i < 0 ? NULL : &p->entry[i];
}

assay_profile_origin assay_profile_get_origin(const assay_profile *p)
{
    return (assay_profile_origin){p->model, p->graph, p->preprocessing, p->dataset};
}

void assay_profile_bin_edges(const assay_profile_entry *e, int i, double *lo, double *hi)
{
    double width = ldexp(1.0, e->exponent - 12);
    *lo = (double)(i - HALF) * width;
    *hi = *lo + width;
}

/* ---- fitness for a graph ---- */

typedef struct name_list {
    int n;
    char text[400];
} name_list;

/* Appends 'name' while there is room. */
static void list_name(name_list *l, const char *name)
{
    size_t used = strlen(l->text), need = strlen(name) + 5;
    if (l->n++ < 8 && used + need < sizeof l->text) {
        if (used > 0)
            strcat(l->text, ", ");
        strcat(strcat(strcat(l->text, "'"), name), "'");
    }
}

assay_status assay_profile_check(const assay_profile *p, const assay_graph *g, assay_error *err)
{
    name_list missing = {0}, differing = {0};
    uint64_t *lineage = calloc((size_t)g->n_values + 1, sizeof *lineage);
    if (!lineage)
        return out_of_memory(err);
    assay_status status = assay_value_lineage(g, lineage, err);
    for (int v = 0; v < g->n_values && !status; v++) {
        if (!is_profiled(&g->value[v]))
            continue;
        const assay_profile_entry *e = assay_profile_find(p, g->value[v].name);
        if (!e || e->finite == 0)
            list_name(&missing, g->value[v].name);
        else if (e->lineage != lineage[v])
            list_name(&differing, g->value[v].name);
    }
    free(lineage);
    if (status)
        return status;
    if (missing.n > 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "profile is of another network: %d value(s) of this one have no finite "
                          "observation in it: %s",
                          missing.n, missing.text);
    if (differing.n > 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "profile is of another network: %d value(s) were profiled with other "
                          "weights: %s",
                          differing.n, differing.text);
    return ASSAY_OK;
}
