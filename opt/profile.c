#include "opt/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/arena.h"
#include "opt/digest.h"
#include "opt/opt.h"
#include "opt/profile_state.h"

#define HALF  (ASSAY_PROFILE_BINS / 2) /* bins on either side of zero: 2^12 */
#define CHUNK 512

/* ---- making and freeing ---- */

assay_status assay_profile_blank(assay_profile **out, assay_error *err)
{
    assay_profile *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p)
        return assay_out_of_memory(err);
    p->model = strdup("");
    p->graph = strdup("");
    p->preprocessing = strdup("");
    p->dataset = strdup("");
    if (!p->model || !p->graph || !p->preprocessing || !p->dataset) {
        assay_profile_free(p);
        return assay_out_of_memory(err);
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
        return assay_out_of_memory(err);
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
    return e->name && e->bin ? ASSAY_OK : assay_out_of_memory(err);
}

bool assay_is_profiled(const assay_value *v)
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
        return assay_out_of_memory(err);
    for (int v = 0; v < g->n_values; v++) {
        if (!assay_is_profiled(&g->value[v]))
            continue;
        assay_profile_entry *e = &p->entry[p->n_entries++];
        if (assay_profile_entry_init(e, g->value[v].name, err))
            return ASSAY_ERR_MEMORY;
        e->lineage = lineage[v];
    }
    qsort(p->entry, (size_t)p->n_entries, sizeof *p->entry, by_name);
    p->n_values = g->n_values;
    for (int v = 0; v < g->n_values; v++)
        p->entry_of_value[v] =
            assay_is_profiled(&g->value[v]) ? find_entry(p, g->value[v].name) : -1;
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
        status = assay_out_of_memory(err);
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

int assay_profile_coarser_bin(int i, int grow)
{
    int from_zero = i - HALF;
    grow = grow > 13 ? 13 : grow; /* all bins of a side are in the one beside zero by then */
    return HALF + (from_zero >= 0 ? from_zero >> grow : -1 - ((-1 - from_zero) >> grow));
}

void assay_profile_grow(assay_profile_entry *e, int exponent)
{
    int grow = exponent - e->exponent;
    if (grow <= 0)
        return;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < HALF; i++) { /* outwards from zero: targets lie behind the sources */
            int from = side ? HALF + i : HALF - 1 - i, to = assay_profile_coarser_bin(from, grow);
            uint64_t count = e->bin[from];
            e->bin[from] = 0;
            e->bin[to] += count;
        }
    e->exponent = exponent;
}

/* The bin is floor(x / 2^(k-12)): scaling by a power of two is exact but for underflow, which may
 * turn a negative x into -0. */
static void find_bins(const float *x, size_t n, float scale, int32_t *bin)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        float t = x[i] * scale;
        int32_t whole = (int32_t)t;
        int32_t below = t < (float)whole;
        int32_t lost = (t == 0.0f) & (x[i] < 0.0f);
        bin[i] = HALF + whole - (below | lost);
    }
}

/* Adds 1 to each bin. Bin HALF, where the zeros of a ReLU fall, is counted apart: one addition
 * after another to the same place would wait for each other. */
static void count_bins(assay_profile_entry *e, const int32_t *bin, size_t n)
{
    int32_t other[CHUNK];
    size_t others = 0;
    for (size_t i = 0; i < n; i++) {
        other[others] = bin[i];
        others += bin[i] != HALF;
    }
    e->bin[HALF] += n - others;
    for (size_t i = 0; i < others; i++)
        e->bin[other[i]]++;
}

static void count_finite(assay_profile_entry *e, const float *x, size_t n)
{
    float lo = x[0], hi = x[0];
    int32_t bin[CHUNK];
#pragma omp simd reduction(min : lo) reduction(max : hi)
    for (size_t i = 0; i < n; i++) {
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
    assay_profile_grow(e, range_exponent(lo, hi));
    find_bins(x, n, ldexpf(1.0f, 12 - e->exponent), bin);
    count_bins(e, bin, n);
}

/* How many of the elements are NaN or infinite. */
static size_t count_odd(const float *x, size_t n)
{
    uint32_t odd = 0;
#pragma omp simd reduction(+ : odd)
    for (size_t i = 0; i < n; i++)
        odd += !(fabsf(x[i]) <= 0x1.fffffep127f);
    return odd;
}

void assay_profile_observe(assay_profile *p, int value, const float *x, size_t n)
{
    if (value < 0 || value >= p->n_values || p->entry_of_value[value] < 0)
        return;
    assay_profile_entry *e = &p->entry[p->entry_of_value[value]];
    float finite[CHUNK];
    for (size_t at = 0; at < n; at += CHUNK) {
        size_t length = n - at < CHUNK ? n - at : CHUNK, kept = 0;
        const float *chunk = x + at;
        if (count_odd(chunk, length) == 0) {
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
