/* Profiles: taken on arrays, merged, shown. */
#include <math.h>

#include "graph/memory.h"
#include "interp/api/options.h"
#include "interp/api/samples.h"
#include "interp/run/model.h"
#include "opt/profile/profile.h"

assay_status assay_profile_new(const assay_graph *g, assay_profile **out, assay_error *err)
{
    *out = NULL;
    if (run_model_is_quantized(g))
        return assay_fail(
            err, ASSAY_ERR_INPUT,
            "%s: the network is quantized already; profiles are of float networks%s", g->name,
            run_model_is_float(g) ? ", and this is one with decode when it is loaded" : "");
    return profile_new(g, out, err);
}

assay_status assay_profile_read(const char *path, assay_profile **out, assay_error *err)
{
    *out = NULL;
    return profile_load(path, out, err);
}

assay_status assay_profile_write(const assay_profile *p, const char *path, assay_error *err)
{
    return profile_save(p, path, err);
}

void assay_profile_free(assay_profile *p)
{
    profile_free(p);
}

assay_status assay_profile_describe(assay_profile *p, const char *preprocessing,
                                    const char *dataset, uint64_t whole, assay_error *err)
{
    assay_status status =
        preprocessing ? profile_set_preprocessing(p, preprocessing, err) : ASSAY_OK;
    if (!status && dataset)
        status = profile_set_dataset(p, dataset, err);
    if (!status && whole)
        status = profile_set_whole(p, (assay_profile_range){0, whole}, err);
    return status;
}

assay_status assay_profile_merge(assay_profile *into, const assay_profile *from, assay_error *err)
{
    return profile_merge(into, from, err);
}

/* ---- observing ---- */

typedef struct arrays {
    assay_arrays from; /* the first member: assay_arrays_read takes this for it */
    int64_t done, total;
    assay_progress progress;
    void *user;
} arrays;

static void count_done(void *user)
{
    arrays *a = user;
    a->progress(a->user, ++a->done, a->total);
}

/* A profile of the same things with nothing in it: what fails leaves no trace in p. */
static assay_status empty_like(const assay_profile *p, const assay_graph *g, assay_profile **out,
                               assay_error *err)
{
    const assay_profile_origin from = profile_get_origin(p);
    assay_status status = profile_new(g, out, err);

    if (!status)
        status = profile_channels_like(*out, p, err);
    if (!status)
        status = profile_set_preprocessing(*out, from.preprocessing, err);
    if (!status)
        status = profile_set_dataset(*out, from.dataset, err);
    if (!status && from.whole.end)
        status = profile_set_whole(*out, from.whole, err);
    return status;
}

static assay_status observe(assay_profile *p, const assay_graph *g, const assay_samples *samples,
                            int threads, assay_error *err)
{
    assay_program *program = NULL;
    assay_profile *seen = NULL;
    assay_status status = empty_like(p, g, &seen, err);

    if (!status)
        status = assay_program_make(g, NULL, false, &program, err);
    if (!status)
        status = measure_profile_samples_of(program, samples, threads, seen, err);
    if (!status)
        status = profile_merge(p, seen, err);
    assay_program_free(program);
    profile_free(seen);
    return status;
}

assay_status assay_profile_by_channel(assay_profile *p, const assay_graph *g, const char *pattern,
                                      assay_error *err)
{
    if (profile_samples(p) > 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "histograms per channel must be requested before anything is observed");
    return profile_by_channel(p, g, pattern ? pattern : "*", err);
}

static assay_status observe_arrays(assay_profile *p, uint64_t first, uint64_t count, arrays *a,
                                   bool sequence, int threads, assay_error *err)
{
    const uint64_t max = UINT64_C(1) << 40;
    const assay_graph *g = a->from.graph;
    const assay_samples samples = {.user = a,
                                   .first = (int64_t)first,
                                   .count = (int64_t)count,
                                   .sequence = sequence && run_model_has_state(g),
                                   .read = assay_arrays_read,
                                   .done = a->progress ? count_done : NULL};

    a->from.first = (int64_t)first;
    a->total = (int64_t)count;
    if (count < 1 || count > max || first > max)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "there are no samples, or their numbers exceed 2^40");
    return observe(p, g, &samples, threads, err);
}

assay_status assay_profile_observe(assay_profile *p, const assay_graph *g, uint64_t first,
                                   uint64_t count, const void *const *input, int threads,
                                   assay_progress progress, void *user, assay_error *err)
{
    arrays a = {.from = {.of.input = input, .graph = g}, .progress = progress, .user = user};
    return observe_arrays(p, first, count, &a, false, threads, err);
}

assay_status assay_profile_observe_steps(assay_profile *p, const assay_graph *g, uint64_t first,
                                         uint64_t count, const void *const *input,
                                         assay_progress progress, void *user, assay_error *err)
{
    arrays a = {.from = {.of.input = input, .graph = g}, .progress = progress, .user = user};
    return observe_arrays(p, first, count, &a, true, 1, err);
}

/* ---- JSON ---- */

static json_t *json_counts(const assay_histogram *h, int first, int end)
{
    json_t *list = json_array();
    for (int i = first; i < end; i++)
        page_json_add(&list, json_integer((json_int_t)*profile_histogram_at(h, i)));
    return list;
}

static json_t *json_seen(const assay_profile_entry *e)
{
    const assay_histogram *h = &e->seen;
    json_t *o = json_object();
    int first, end;

    profile_histogram_extent(h, &first, &end);
    page_json_set(&o, "name", page_json_text(e->name));
    page_json_set(&o, "min", json_real((double)h->min));
    page_json_set(&o, "max", json_real((double)h->max));
    page_json_set(&o, "finite", json_integer((json_int_t)h->finite));
    page_json_set(&o, "nan", json_integer((json_int_t)h->nan));
    page_json_set(&o, "inf", json_integer((json_int_t)h->inf));
    page_json_set(&o, "lowest", json_real(ldexp(first, h->exponent)));
    page_json_set(&o, "step", json_real(ldexp(1, h->exponent)));
    page_json_set(&o, "counts", json_counts(h, first, end));
    return o;
}

assay_status assay_profile_json(const assay_profile *p, char **json, assay_error *err)
{
    const assay_profile_origin from = profile_get_origin(p);
    json_t *o = json_object(), *values = json_array();

    for (int i = 0; i < profile_count(p); i++)
        page_json_add(&values, json_seen(profile_get(p, i)));
    page_json_set(&o, "samples", json_integer((json_int_t)profile_samples(p)));
    page_json_set(&o, "model", page_json_text(from.model));
    page_json_set(&o, "graph", page_json_text(from.graph));
    page_json_set(&o, "preprocessing", page_json_text(from.preprocessing));
    page_json_set(&o, "dataset", page_json_text(from.dataset));
    page_json_set(&o, "values", values);
    return assay_text_of_json(o, json, err);
}
