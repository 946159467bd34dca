/* One element under the scheme and under the cause; see worked.h. */
#include "interp/blame/worked.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/blame/families.h"

/* ---- which element ---- */

static int64_t value_of(const assay_type *t, const void *data, int64_t i)
{
    uint32_t bits;
    if (t->elem.kind != ASSAY_KIND_F32)
        return assay_elem_get(t->elem, data, (size_t)i);
    memcpy(&bits, (const char *)data + i * 4, sizeof bits);
    return bits;
}

static const assay_type *type_of(const blame_report *r, int row)
{
    return &r->device.graph->value[r->row[row].value].type;
}

static bool has_seen(const blame_tensor *t, int64_t i)
{
    return t->device && (!t->mask || t->mask[i]);
}

/* The first element that the device has otherwise than the replay; -1: there is none. */
static int64_t first_differing(const blame_report *r, int row, int sample)
{
    const assay_type *t = type_of(r, row);
    const blame_tensor *at = blame_at(&r->device, sample, r->row[row].value);
    for (int64_t i = 0; at->device && i < assay_shape_count(t); i++)
        if (has_seen(at, i) && value_of(t, at->device, i) != value_of(t, at->replayed, i))
            return i;
    return -1;
}

static assay_status choose(const blame_report *r, int64_t sample, blame_worked *w, assay_error *err)
{
    const blame_device *d = &r->device;
    const int64_t wanted = w->element;
    int first = -1;
    for (int k = 0; k < d->n_samples; k++) {
        if (sample >= 0 && d->number[k] != sample)
            continue;
        first = first < 0 ? k : first;
        const int64_t i = first_differing(r, w->row, k);
        const blame_tensor *at = blame_at(d, k, r->row[w->row].value);
        const bool differs = wanted < 0 ? i >= 0
                             : has_seen(at, wanted)
                                 ? value_of(type_of(r, w->row), at->device, wanted) !=
                                       value_of(type_of(r, w->row), at->replayed, wanted)
                                 : false;
        if (!differs)
            continue;
        w->sample = k;
        w->element = wanted < 0 ? i : wanted;
        return ASSAY_OK;
    }
    w->sample = first;
    if (first < 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: no sample %lld", d->bundle->dir,
                          (long long)sample);
    if (wanted < 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "node '%s': no element differs from its replay; name one, as in "
                          "'NODE[0,0,0,0]'",
                          d->graph->node[r->row[w->row].node].name);
    return ASSAY_OK;
}

/* ---- as it should be ---- */

static const void **inputs_of(const blame_report *r, int row, int sample)
{
    const assay_graph *g = r->device.graph;
    const assay_node *n = &g->node[r->row[row].node];
    const void **in = calloc((size_t)n->n_in + 1, sizeof *in);
    for (int i = 0; i < n->n_in && in; i++) {
        const assay_value *v = assay_node_in(g, n, i);
        in[i] = !v ? NULL : v->data ? v->data : blame_at(&r->device, sample, n->in[i])->believed;
    }
    return in;
}

static assay_status work_golden(const blame_report *r, blame_worked *w, assay_error *err)
{
    const blame_device *d = &r->device;
    const assay_type *t = type_of(r, w->row);
    const blame_tensor *at = blame_at(d, w->sample, r->row[w->row].value);
    const assay_node *n = &d->graph->node[r->row[w->row].node];
    if (assay_op_get(n->op)->traits & (ASSAY_T_STATE | ASSAY_T_FLOW))
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "node '%s' (%s) has state or bodies: it computes nothing to explain",
                          n->name, assay_op_get(n->op)->name);
    w->golden = value_of(t, at->golden, w->element);
    w->observed = has_seen(at, w->element);
    w->device = w->observed ? value_of(t, at->device, w->element) : 0;
    const void **in = inputs_of(r, w->row, w->sample);
    if (!in)
        return assay_out_of_memory(err);
    assay_status status =
        explain_element(d->program, r->row[w->row].node, in, w->element, &w->trace, err);
    free(in);
    return status;
}

/* ---- under the cause ---- */

typedef struct causing {
    const blame_report *r;
    blame_search s;
    int k; /* the sample's place in s */
    int *after;
} causing;

static const blame_fault *last_fault_of(const blame_report *r, int row)
{
    for (int i = r->n_faults - 1; i >= 0; i--) /* of two together the last has the first as given */
        if (r->fault[i].row == row && r->fault[i].n_causes > 0)
            return &r->fault[i];
    return NULL;
}

static assay_status open_cause(causing *c, const blame_report *r, const blame_worked *w,
                               assay_error *err)
{
    *c = (causing){.r = r, .k = -1};
    assay_status status = blame_search_open(&c->s, &r->device, &r->schemes, r->row[w->row].node,
                                            r->row[w->row].value, NULL, 0, r->rel, err);
    for (int k = 0; k < c->s.n_samples && !status; k++)
        if (c->s.sample[k] == w->sample)
            c->k = k;
    return status;
}

/* The case of the sample with the causes that are edits. */
static bool edited_case(causing *c, const blame_fault *f, blame_case *e, blame_story *story)
{
    bool good = blame_search_case(&c->s, c->k, e);
    for (int i = 0; i < f->n_causes && good; i++)
        if (f->cause[i].family->edit)
            good = f->cause[i].family->edit(&c->s, f->cause[i].i, e, story);
    e->plain = true;
    return good;
}

static bool explain_case(blame_case *e, int64_t element, explain_trace *t)
{
    blame_built b;
    assay_window window;
    if (blame_case_window(e, &window) && !blame_case_narrow(e, NULL, 0))
        return false;
    if (blame_case_build(e, &b, NULL))
        return false;
    const bool good = element < assay_shape_count(&e->out) &&
                      !explain_element(b.program, 0, e->data, element, t, NULL);
    blame_case_drop(&b);
    return good;
}

/* A cause that acts on codes: what it makes of the element. */
static bool say_post(causing *c, const struct blame_cause *cause, const blame_worked *w,
                     explain_trace *t)
{
    const size_t all = (size_t)(c->s.n_samples * c->s.count);
    int32_t *codes = calloc(all + 16, sizeof *codes);
    blame_story story = {.changed = 1};
    bool good = codes && c->k >= 0;
    if (good) {
        memcpy(codes, c->s.base, all * sizeof *codes);
        good = cause->family->post(&c->s, cause->i, codes, &story);
    }
    if (good) {
        const int32_t code = codes[c->k * c->s.count + w->element];
        t->value = t->is_float ? (int64_t)(uint32_t)code : code;
        explain_say(t, "cause", "%s: %s", story.class, story.detail);
        explain_say_value(t, "element", t->value);
    }
    free(codes);
    return good;
}

static bool work_cause(causing *c, const blame_fault *f, blame_worked *w)
{
    blame_case e;
    blame_story story = {.changed = 1};
    const struct blame_cause *last = &f->cause[f->n_causes - 1];
    for (int i = 0; i < f->n_causes - 1; i++) {
        const blame_finding given = {.family = f->cause[i].family, .i = f->cause[i].i};
        if (!blame_search_assume(&c->s, &given))
            return false;
    }
    /* What is assumed is a prefix of every case from here on. */
    const blame_fault single = {.cause = {*last}, .n_causes = 1};
    if (!edited_case(c, &single, &e, &story) || !explain_case(&e, w->element, &w->under))
        return false;
    return !last->family->post || say_post(c, last, w, &w->under);
}

/* ---- counterfactuals ---- */

static assay_status add_other(blame_worked *w, const blame_story *story, assay_error *err)
{
    blame_counterfactual *more = realloc(w->other, (size_t)(w->n_other + 1) * sizeof *more);
    if (!more)
        return assay_out_of_memory(err);
    w->other = more;
    snprintf(more[w->n_other].class, BLAME_CLASS, "%s", story->class);
    snprintf(more[w->n_other++].detail, BLAME_DETAIL, "%s", story->detail);
    return ASSAY_OK;
}

/* The element alone, under case e. */
static bool value_under(blame_case *e, int64_t element, int64_t *value)
{
    blame_built b;
    explain_seen seen = {0};
    e->plain = true;
    if (blame_case_build(e, &b, NULL))
        return false;
    const bool good = !explain_watch(b.program, 0, e->data, element, &seen, NULL);
    *value = seen.value;
    explain_seen_free(&seen);
    blame_case_drop(&b);
    return good;
}

static assay_status work_others(causing *c, blame_worked *w, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < c->s.n_values && !status; i++) {
        blame_case e;
        blame_story story = {.changed = 1};
        int64_t value;
        assay_arena_free(c->s.arena);
        c->s.arena = assay_arena_new();
        if (!c->s.arena)
            return assay_out_of_memory(err);
        w->tried++;
        if (blame_search_case(&c->s, c->k, &e) && blame_record_edit(&c->s, i, &e, &story) &&
            value_under(&e, w->element, &value) && value == w->device)
            status = add_other(w, &story, err);
    }
    return status;
}

/* ---- all of it ---- */

static assay_status work_device(const blame_report *r, blame_worked *w, assay_error *err)
{
    const blame_fault *f = last_fault_of(r, w->row);
    causing c;
    assay_status status = open_cause(&c, r, w, err);
    if (!status && c.k >= 0 && w->observed && w->device != w->trace.value)
        status = work_others(&c, w, err);
    if (!status && c.k >= 0 && f && work_cause(&c, f, w)) {
        w->fault = f;
        w->pair = calloc((size_t)(w->trace.n + w->under.n) + 1, sizeof *w->pair);
        if (w->pair)
            w->n_pairs = explain_align(&w->trace, &w->under, w->pair, &w->parts);
        else
            status = assay_out_of_memory(err);
    }
    blame_search_close(&c.s);
    return status;
}

assay_status blame_work(const blame_report *r, int row, int64_t sample, int64_t element,
                        blame_worked *w, assay_error *err)
{
    *w = (blame_worked){.row = row, .element = element, .parts = -1};
    assay_status status = choose(r, sample, w, err);
    if (!status)
        status = work_golden(r, w, err);
    if (!status && r->row[row].elements > 0 && !r->row[row].on_sums)
        status = work_device(r, w, err);
    return status;
}

void blame_worked_free(blame_worked *w)
{
    explain_trace_free(&w->trace);
    explain_trace_free(&w->under);
    free(w->pair);
    free(w->other);
    *w = (blame_worked){0};
}

/* ---- names ---- */

/* "[0,3,5,7]" up to the end. */
static bool parse_place(const assay_type *t, const char *text, int64_t *element)
{
    int64_t at = 0;
    for (int k = 0; k < t->rank; k++) {
        char *end;
        const long long i = strtoll(text + 1, &end, 10);
        if (end == text + 1 || i < 0 || i >= t->dim[k] || *end != (k == t->rank - 1 ? ']' : ','))
            return false;
        at = at * t->dim[k] + i;
        text = end;
    }
    *element = at;
    return t->rank > 0 && text[1] == 0;
}

static bool is_name(const blame_report *r, int row, const char *text)
{
    const assay_graph *g = r->device.graph;
    return strcmp(g->node[r->row[row].node].name, text) == 0 ||
           strcmp(g->value[r->row[row].value].name, text) == 0;
}

assay_status blame_parse_element(const blame_report *r, const char *text, int *row,
                                 int64_t *element, assay_error *err)
{
    const char *bracket = strrchr(text, '[');
    char shape[64];
    *element = -1;
    *row = blame_find_row(r, text);
    if (*row < 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: no node or tensor of a node is '%.200s'",
                          r->device.bundle->dir, text);
    if (!bracket || is_name(r, *row, text))
        return ASSAY_OK;
    if (!parse_place(type_of(r, *row), bracket, element))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "'%.200s': the node's output is %s: expected one index per dimension, "
                          "each below its extent, as in [0,0,0,0]",
                          text, assay_shape_print(type_of(r, *row), shape, sizeof shape));
    return ASSAY_OK;
}
