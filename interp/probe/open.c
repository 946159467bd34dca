/* All that may be otherwise: records that give every answer, each reached from another by one
 * field, or from the one found by a field and what has to change with it. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/probe/witness.h"
#include "interp/rows/random.h"
#include "schemes/prepare/asks.h"
#include "schemes/record/reads.h"

enum {
    PLACES = 2,  /* records that agree which are looked around, the one found first */
    WANDERS = 4, /* and records far from it, */
    PICKS = 100, /* by so many changes at most */
    STEPS = 4,   /* fields that change with a held one */
    WIDE = 64,   /* numbers of more values: of those that may be, so many are followed */
    FOLLOWED = 24
};

typedef struct walk {
    probe_witness w;
    const blame_schemes *schemes;
    enum assay_op op;
    assay_record *place; /* that give all */
    int n_places;
    blame_value *may; /* values that such records have */
    int n_may;
    const assay_field *field;
    size_t n_fields;
    bool *read, *unread, *told, *more; /* by field; see probe_op_finding */
    rows_random random;
    assay_error *err;
} walk;

static bool reads(const walk *w, const assay_record *r, const assay_field *f)
{
    return strcmp(f->section, "types") != 0 && strcmp(f->section, "accepts") != 0 &&
           assay_reads_op(r, w->op, f) && !assay_reads_not(r, f);
}

static bool may_be(const walk *w, const assay_field *f, assay_field_value v)
{
    for (int i = 0; i < w->n_may; i++)
        if (w->may[i].field == f && assay_field_equal(f, w->may[i].value, v))
            return true;
    return false;
}

static bool has_enough(const walk *w, const assay_field *f)
{
    int n = 0;
    for (int i = 0; i < w->n_may; i++)
        n += w->may[i].field == f;
    return f->kind == ASSAY_FIELD_INT && f->max - f->min > WIDE && n >= FOLLOWED;
}

static assay_status add_value(walk *w, const assay_field *f, assay_field_value v)
{
    if (may_be(w, f, v))
        return ASSAY_OK;
    blame_value *more = realloc(w->may, (size_t)(w->n_may + 1) * sizeof *more);
    if (!more)
        return assay_out_of_memory(w->err);
    w->may = more;
    w->may[w->n_may++] = (blame_value){f, v};
    return ASSAY_OK;
}

static assay_status add_place(walk *w, const assay_record *r)
{
    assay_record *more = realloc(w->place, (size_t)(w->n_places + 1) * sizeof *more);
    assay_status status = more ? ASSAY_OK : assay_out_of_memory(w->err);
    if (more) {
        w->place = more;
        w->place[w->n_places++] = *r;
    }
    for (size_t i = 0; i < w->n_fields && !status; i++) {
        const bool is_read = reads(w, r, &w->field[i]);
        w->read[i] = w->read[i] || is_read;
        w->unread[i] = w->unread[i] || !is_read;
        if (is_read)
            status = add_value(w, &w->field[i], assay_record_get(r, &w->field[i]));
    }
    return status;
}

/* ---- values ---- */

static assay_status append(blame_value **value, int *n, const assay_field *f, int32_t number,
                           assay_error *err)
{
    blame_value *more = realloc(*value, (size_t)(*n + 1) * sizeof *more);
    if (!more)
        return assay_out_of_memory(err);
    *value = more;
    more[(*n)++] = (blame_value){f, {.number = number}};
    return ASSAY_OK;
}

/* What blame does not try: refusals, and of wide numbers their ends and powers of two. */
static assay_status add_others(const walk *w, const assay_record *r, blame_value **value, int *n)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < w->n_fields && !status; i++) {
        const assay_field *f = &w->field[i];
        if (!reads(w, r, f))
            continue;
        for (int32_t v = 0; f->kind == ASSAY_FIELD_ENUM && f->choices[v] && !status; v++)
            if (strcmp(f->choices[v], "refuse") == 0 || strcmp(f->choices[v], "trap") == 0)
                status = append(value, n, f, v, w->err);
        if (f->kind != ASSAY_FIELD_INT || f->max - f->min <= WIDE)
            continue;
        for (int32_t power = 16; power < f->max && !status; power *= 2)
            status = append(value, n, f, power, w->err);
        if (!status)
            status = append(value, n, f, f->min, w->err);
        if (!status)
            status = append(value, n, f, f->max, w->err);
    }
    return status;
}

static assay_status values_of(const walk *w, const assay_record *r, blame_value **value, int *n)
{
    blame_case c;
    *value = NULL;
    probe_case_of(w->w.d, w->w.g->node[0], 0, NULL, &c);
    return blame_values_of(&c, r, w->schemes, value, n) ? add_others(w, r, value, n)
                                                        : assay_out_of_memory(w->err);
}

static bool change(const assay_record *from, const blame_value *v, assay_record *r)
{
    char why[256];
    *r = *from;
    assay_record_set(r, v->field, v->value);
    return assay_record_check(r, why, sizeof why);
}

/* ---- neighbours ---- */

static assay_status try_value(walk *w, const assay_record *from, const blame_value *v)
{
    const size_t field = (size_t)(v->field - w->field);
    bool given, refused;
    assay_record r;
    if (may_be(w, v->field, v->value) || !change(from, v, &r))
        return ASSAY_OK;
    if (has_enough(w, v->field)) {
        w->more[field] = true;
        return ASSAY_OK;
    }
    assay_status status = probe_witness_all(&w->w, &r, PROBE_EVERY, &given, &refused, w->err);
    if (!status && given)
        return add_place(w, &r);
    w->told[field] = w->told[field] || (!status && !refused);
    return status;
}

static assay_status look_around(walk *w, const assay_record *from)
{
    blame_value *value;
    int n = 0;
    assay_status status = values_of(w, from, &value, &n);
    for (int i = 0; i < n && !status; i++)
        status = try_value(w, from, &value[i]);
    free(value);
    return status;
}

/* ---- far places ---- */

/* From the record found as many changes at once as still give all, each to a value that may be; and
 * what is around there. */
static assay_status wander(walk *w, const assay_record *found)
{
    assay_record r = *found;
    const int n = w->n_may, picks = n < PICKS ? n : PICKS;
    bool given = true, refused;
    assay_status status = ASSAY_OK;
    for (int i = 0; i < picks && !status; i++) {
        const blame_value *v = &w->may[rows_between(&w->random, 0, n - 1)];
        assay_record next;
        if (assay_field_equal(v->field, assay_record_get(&r, v->field), v->value) ||
            !reads(w, &r, v->field) || !change(&r, v, &next))
            continue;
        status = probe_witness_all(&w->w, &next, PROBE_TELLING, &given, &refused, w->err);
        if (!status && given)
            r = next;
    }
    if (!status)
        status = probe_witness_all(&w->w, &r, PROBE_EVERY, &given, &refused, w->err);
    if (status || !given)
        return status;
    status = add_place(w, &r);
    return status ? status : look_around(w, &r);
}

/* ---- with one field held ---- */

/* Fields by whose value an op has another formula. */
static bool is_kind(const assay_field *f)
{
    return f->kind == ASSAY_FIELD_ENUM &&
           (strcmp(f->name, "kind") == 0 || strcmp(f->name, "encoding") == 0 ||
            strcmp(f->section, "unary") == 0);
}

/* With a field held: one that the record found does not read, or of which it can have no other
 * value; with a kind any but numbers. */
static bool may_follow(const walk *w, const assay_record *found, const assay_field *held,
                       const assay_field *f)
{
    return f != held && (!reads(w, found, f) || !w->told[f - w->field] ||
                         (is_kind(held) && f->kind != ASSAY_FIELD_INT));
}

/* The neighbour of *r that gives most. */
static assay_status step(walk *w, const assay_record *found, const assay_field *held,
                         assay_record *r, int64_t *given)
{
    blame_value *value;
    int n = 0;
    assay_record best = *r;
    assay_status status = values_of(w, r, &value, &n);
    for (int i = 0; i < n && !status; i++) {
        assay_record tried;
        int64_t now;
        if (!may_follow(w, found, held, value[i].field) || !change(r, &value[i], &tried))
            continue;
        status = probe_witness_count(&w->w, &tried, *given + 1, &now, w->err);
        if (!status && now > *given) {
            *given = now;
            best = tried;
        }
    }
    *r = best;
    free(value);
    return status;
}

/* A field at another value, and those that are read with it as gives most. */
static assay_status hold(walk *w, const assay_record *found, const blame_value *v)
{
    assay_record r;
    int64_t given, before = -1;
    bool all = false, refused;
    assay_status status = ASSAY_OK;
    if (may_be(w, v->field, v->value))
        return ASSAY_OK;
    if (change(found, v, &r))
        status = probe_witness_count(&w->w, &r, 0, &given, w->err);
    else
        given = 0; /* it makes sense with another field alone */
    for (int i = 0; i < STEPS && !status && given > before; i++) {
        before = given;
        status = step(w, found, v->field, &r, &given);
    }
    if (!status && given > 0)
        status = probe_witness_all(&w->w, &r, PROBE_EVERY, &all, &refused, w->err);
    if (!status && all)
        status = add_place(w, &r);
    return !status && all && is_kind(v->field) ? look_around(w, &r) : status;
}

/* Every choice of every field that has choices. */
static assay_status hold_all(walk *w, const assay_record *found)
{
    blame_value *value;
    int n = 0;
    assay_status status = values_of(w, found, &value, &n);
    for (int i = 0; i < n && !status; i++)
        if (value[i].field->kind == ASSAY_FIELD_ENUM)
            status = hold(w, found, &value[i]);
    free(value);
    return status;
}

/* ---- all ---- */

/* Of the places those of which no two read alike; the places' own room goes to the finding. */
static void keep_left(walk *w, probe_op_finding *f)
{
    const assay_field *changed;
    f->left = w->place;
    w->place = NULL;
    for (int i = 0; i < w->n_places; i++) {
        int k = 0;
        while (k < f->n_left && probe_changes(w->op, &f->left[k], &f->left[i], &changed, 1) > 0)
            k++;
        if (k == f->n_left)
            f->left[f->n_left++] = f->left[i];
    }
}

static assay_status fill(walk *w, probe_op_finding *f)
{
    f->open = calloc((size_t)w->n_may + 1, sizeof *f->open);
    f->state = calloc(w->n_fields + 1, sizeof *f->state);
    if (!f->open || !f->state)
        return assay_out_of_memory(w->err);
    for (size_t i = 0; i < w->n_fields; i++) {
        const assay_field *field = &w->field[i];
        const int before = f->n_open;
        for (int k = 0; k < w->n_may; k++)
            if (w->may[k].field == field &&
                (!reads(w, &f->record, field) ||
                 !assay_field_equal(field, w->may[k].value, assay_record_get(&f->record, field))))
                f->open[f->n_open++] = w->may[k];
        f->state[i] = !w->read[i]                          ? PROBE_NOT_READ
                      : f->n_open > before || w->unread[i] ? PROBE_OPEN
                      : w->told[i]                         ? PROBE_HELD
                                                           : PROBE_UNSEEN;
        if (f->state[i] == PROBE_OPEN && w->unread[i])
            f->state[i] = PROBE_OPEN_UNREAD;
        if (f->state[i] == PROBE_OPEN && w->more[i])
            f->state[i] = PROBE_OPEN_MORE;
    }
    return ASSAY_OK;
}

static assay_status start(walk *w, const probe_op_finding *f)
{
    assay_status status = add_place(w, &f->record);
    for (int k = 0; k < w->schemes->n && !status; k++) {
        assay_record r;
        const assay_field *changed;
        bool is_new = f->agrees[k] && probe_record_of(w->w.d, w->w.g, w->schemes->scheme[k], &r);
        for (int i = 0; i < w->n_places && is_new; i++)
            is_new = probe_changes(w->op, &w->place[i], &r, &changed, 1) > 0;
        if (is_new)
            status = add_place(w, &r);
    }
    return status;
}

/* What the nearest scheme may be changed to, beside the change that was found first. */
static assay_status look_near(walk *w, const probe_op_finding *f)
{
    assay_record nearest;
    return probe_record_of(w->w.d, w->w.g, w->schemes->scheme[f->nearest], &nearest)
               ? look_around(w, &nearest)
               : ASSAY_OK;
}

static assay_status look(walk *w, const assay_record *found)
{
    assay_status status = ASSAY_OK;
    const int places = w->n_places < PLACES ? w->n_places : PLACES;
    for (int i = 0; i < places && !status; i++) {
        const assay_record at = w->place[i];
        status = look_around(w, &at);
    }
    if (!status)
        status = hold_all(w, found);
    for (int i = 0; i < WANDERS && !status; i++) {
        const assay_record at =
            i % 2 ? w->place[rows_between(&w->random, 0, w->n_places - 1)] : *found;
        status = wander(w, &at);
    }
    return status;
}

assay_status probe_find_open(const blame_device *d, const probe_group *g,
                             const blame_schemes *schemes, probe_op_finding *f, assay_error *err)
{
    walk w = {.schemes = schemes, .op = g->op, .random = {1}, .err = err};
    w.field = assay_record_fields(&w.n_fields);
    bool *marks = calloc(4 * w.n_fields + 1, sizeof *marks);
    assay_status status = marks ? probe_witness_open(d, g, &w.w, err) : assay_out_of_memory(err);
    if (!status) {
        w.read = marks;
        w.unread = w.read + w.n_fields;
        w.told = w.unread + w.n_fields;
        w.more = w.told + w.n_fields;
        status = start(&w, f);
    }
    if (!status && f->n_changes > 0)
        status = look_near(&w, f);
    if (!status)
        status = look(&w, &f->record);
    if (!status)
        status = fill(&w, f);
    f->tried = w.w.tests;
    keep_left(&w, f);
    probe_witness_close(&w.w);
    free(marks);
    free(w.may);
    free(w.place);
    return status;
}
