/* Chapters of a report: what a bundle or a profile holds, read and counted. */
#include <fnmatch.h>
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/report/book.h"

/* Pixels of all pictures of a bundle together, and of one at most. */
enum { ALL_PIXELS = 6 << 20, MAX_PIXELS = 24 << 10 };

const char *report_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

/* ---- bundles ---- */

/* One look a name, at the first sample's tensor. */
static assay_status number_looks(report_chapter *c, int *first, assay_error *err)
{
    const assay_bundle *b = c->source.bundle;
    c->look_of = json_object();
    for (int i = 0; i < b->n_tensors && c->look_of; i++) {
        if (json_object_get(c->look_of, b->tensor[i].name))
            continue;
        page_json_set(&c->look_of, b->tensor[i].name, json_integer(c->n_looks));
        first[c->n_looks++] = i;
    }
    return c->look_of ? ASSAY_OK : assay_out_of_memory(err);
}

static assay_status read_looks(report_chapter *c, const char *pattern, assay_error *err)
{
    const assay_bundle *b = c->source.bundle;
    int *first = calloc((size_t)b->n_tensors + 1, sizeof *first);
    c->look = calloc((size_t)b->n_tensors + 1, sizeof *c->look);
    assay_status status = first && c->look ? number_looks(c, first, err) : assay_out_of_memory(err);
    const int64_t share = c->n_looks > 0 ? ALL_PIXELS / c->n_looks : 0;
    for (int k = 0; k < c->n_looks && !status; k++) {
        if (fnmatch(pattern, b->tensor[first[k]].name, 0) == 0)
            status = report_look_into(b, first[k], share < MAX_PIXELS ? share : MAX_PIXELS,
                                      &c->look[k], err);
        else
            c->look[k].tensor = &b->tensor[first[k]];
    }
    free(first);
    return status;
}

static assay_status read_nodes(report_chapter *c, assay_error *err)
{
    const json_t *list = json_object_get(c->source.bundle->manifest, "nodes");
    const size_t n = json_array_size(list);

    c->node = calloc(n + 1, sizeof *c->node);
    if (!c->node)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(list, i);
        const char *output = json_string_value(json_array_get(json_object_get(o, "outputs"), 0));
        const json_t *look = output ? json_object_get(c->look_of, output) : NULL;
        c->node[c->n_nodes++] = (report_node){.name = report_text(o, "name"),
                                              .op = report_text(o, "op"),
                                              .output = output ? output : "",
                                              .json = o,
                                              .look = look ? (int)json_integer_value(look) : -1};
    }
    return ASSAY_OK;
}

static assay_status read_plan(report_chapter *c, assay_error *err)
{
    const assay_bundle *b = c->source.bundle;
    assay_scheme *scheme = NULL;
    bool is_preset;

    if (!*report_text(json_object_get(b->manifest, "graph"), "file"))
        return ASSAY_OK;
    assay_status status = golden_bundle_network(b, &c->graph, &scheme, &is_preset, err);
    assay_scheme_free(scheme);
    return status ? status : run_plan_make(c->graph, false, &c->plan, err);
}

assay_status report_read_bundle(report_chapter *c, const char *pattern, assay_error *err)
{
    assay_status status = read_looks(c, pattern, err);
    if (!status)
        status = read_nodes(c, err);
    if (!status)
        status = report_lay_out(c, err);
    return status ? status : read_plan(c, err);
}

/* ---- profiles ---- */

assay_status report_read_profile(report_chapter *c, assay_error *err)
{
    const assay_profile *p = c->source.profile;
    const assay_profile_entry **order = report_profile_order(p);
    const assay_calibrate_how how = {.method = ASSAY_CALIBRATE_MIN_MAX};
    const assay_choice choice = {.elem = assay_int(8, true)};
    assay_status status = ASSAY_OK;

    c->view = calloc((size_t)profile_count(p) + 1, sizeof *c->view);
    if (!order || !c->view)
        status = assay_out_of_memory(err);
    for (int i = 0; i < profile_count(p) && !status; i++)
        status = report_profile_view_of(order[i]->name, -1, &order[i]->seen, &choice, &how,
                                        &c->view[c->n_views++], err);
    free(order);
    return status;
}

void report_chapter_clear(report_chapter *c)
{
    for (int i = 0; i < c->n_looks; i++)
        report_look_clear(&c->look[i]);
    free(c->look);
    free(c->node);
    free(c->view);
    free(c->input);
    report_layout_free(&c->layout);
    json_decref(c->look_of);
    run_plan_free(c->plan);
    assay_graph_free(c->graph);
    report_source_close(&c->source);
}
