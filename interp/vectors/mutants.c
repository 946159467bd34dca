/* Neighbours of a record; see mutants.h. */
#include "interp/vectors/mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "schemes/record/data.h"

typedef struct maker {
    const assay_scheme *side;
    const vectors_space *space;
    vectors_mutants *out;
    assay_record record; /* in force */
    const assay_field *field;
    int index;
    assay_status status;
    assay_error *err;
} maker;

typedef struct change {
    const assay_field *field;
    assay_field_value value;
} change;

static void make_change(assay_record *r, const void *what)
{
    const change *c = what;
    assay_record_set(r, c->field, c->value);
}

static bool keep(maker *m, assay_scheme *side, assay_field_value v)
{
    vectors_mutants *all = m->out;
    if (!assay_make_room(&all->mutant, &all->room, all->n + 1, sizeof *all->mutant))
        return false;
    all->mutant[all->n++] = (vectors_mutant){m->index, v, side};
    return true;
}

/* One value of the field; what makes no record is passed over. */
static void consider(maker *m, assay_field_value v)
{
    const change c = {m->field, v};
    assay_scheme *side = NULL;
    assay_record r;
    assay_error err;
    if (m->status || assay_field_equal(m->field, v, assay_record_get(&m->record, m->field)))
        return;
    const assay_status status = vectors_side(m->side, m->space, make_change, &c, &side, &err);
    if (status) {
        m->status = status == ASSAY_ERR_MEMORY ? assay_out_of_memory(m->err) : ASSAY_OK;
        return;
    }
    assay_effective_record(assay_data(side), m->space->op, "", vectors_form(m->space), &r);
    const bool unread = memcmp(&r, &m->record, sizeof r) == 0;
    if (!unread && !keep(m, side, v))
        m->status = assay_out_of_memory(m->err);
    if (unread || m->status)
        assay_scheme_free(side);
}

static void consider_number(maker *m, int64_t n)
{
    if (n >= m->field->min && n <= m->field->max)
        consider(m, (assay_field_value){.number = (int32_t)n});
}

/* All of up to MANY numbers; else ends, powers of two and neighbours. */
static void numbers(maker *m)
{
    enum { MANY = 80, NEAR = 4 };
    const assay_field *f = m->field;
    const int64_t now = assay_record_get(&m->record, f).number;
    if (f->max - f->min < MANY) {
        for (int64_t n = f->min; n <= f->max; n++)
            consider_number(m, n);
        return;
    }
    consider_number(m, f->min);
    consider_number(m, f->max);
    for (int64_t n = now - NEAR; n <= now + NEAR; n++)
        if (n != f->min && n != f->max)
            consider_number(m, n);
    for (int64_t p = 1; p < f->max; p *= 2)
        if (p < now - NEAR || p > now + NEAR)
            consider_number(m, p);
}

/* Step i with other bits. */
static void step_bits(maker *m, const assay_steps *now, int i)
{
    enum { MAX_BITS = 62 };
    assay_steps s = *now;
    for (int32_t bits = 0; bits <= MAX_BITS; bits++) {
        s.step[i].bits = bits;
        consider(m, (assay_field_value){.steps = s});
    }
}

static void step_modes(maker *m, const assay_steps *now, int i)
{
    assay_steps s = *now;
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        s.step[i].mode = mode;
        consider(m, (assay_field_value){.steps = s});
    }
}

/* Without step i. */
static assay_steps without(const assay_steps *now, int i)
{
    assay_steps s = {.n = 0};
    for (int k = 0; k < now->n; k++)
        if (k != i)
            s.step[s.n++] = now->step[k];
    if (s.n > 0)
        s.step[s.n - 1].bits = 0;
    return s;
}

/* A step of so many bits, rounded half up, before the last. */
static void one_more(maker *m, const assay_steps *now)
{
    for (int32_t bits = 1; bits <= 32 && now->n < ASSAY_MAX_STEPS; bits++) {
        assay_steps s = *now;
        s.step[s.n] = s.step[s.n - 1];
        s.step[s.n - 1].bits = bits;
        s.step[s.n - 1].mode = ASSAY_ROUND_HALF_UP;
        s.n++;
        consider(m, (assay_field_value){.steps = s});
    }
}

static void steps(maker *m)
{
    const assay_steps now = assay_record_get(&m->record, m->field).steps;
    for (int i = 0; i < now.n; i++) {
        step_modes(m, &now, i);
        if (i + 1 < now.n)
            step_bits(m, &now, i);
        if (now.n > 1)
            consider(m, (assay_field_value){.steps = without(&now, i)});
    }
    if (now.n > 0)
        one_more(m, &now);
}

static void field(maker *m)
{
    int choices = 0;
    switch (m->field->kind) {
    case ASSAY_FIELD_BOOL:
        consider(m, (assay_field_value){.number = !assay_record_get(&m->record, m->field).number});
        break;
    case ASSAY_FIELD_ENUM:
        while (m->field->choices[choices])
            consider(m, (assay_field_value){.number = choices++});
        break;
    case ASSAY_FIELD_INT:
        numbers(m);
        break;
    case ASSAY_FIELD_STEPS:
        steps(m);
        break;
    }
}

/* How a multiplier and a shift are made of R; a rescale that is given them never asks
 * (schemes/derive/variant.c, encode.c). */
static bool is_of_scales(const char *name)
{
    static const char *const names[] = {
        "scale",          "multiplier_round", "multiplier_renormalise",
        "common_shift",   "below_shift_min",  "beyond_shift_max",
        "denormal_round", "exponent_by_log",  "zero_shift"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void unseen(maker *m)
{
    char *text = m->out->unseen;
    const size_t used = strlen(text);
    snprintf(text + used, sizeof m->out->unseen - used, " %s", m->field->name);
}

assay_status vectors_mutants_of(const assay_scheme *side, const vectors_space *space,
                                vectors_mutants *out, assay_error *err)
{
    maker m = {.side = side, .space = space, .out = out, .err = err};
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    assay_effective_record(assay_data(side), space->op, "", vectors_form(space), &m.record);
    for (size_t i = 0; i < n; i++) {
        m.field = &fields[i];
        m.index = (int)i;
        if (strcmp(fields[i].section, "rescale") != 0 || strcmp(fields[i].name, "shift_sign") == 0)
            continue;
        if (!space->scales && is_of_scales(fields[i].name))
            unseen(&m);
        else
            field(&m);
    }
    return m.status;
}

void vectors_mutants_free(vectors_mutants *m)
{
    for (size_t i = 0; i < m->n; i++)
        assay_scheme_free(m->mutant[i].side);
    free(m->mutant);
    *m = (vectors_mutants){0};
}

const char *vectors_mutant_print(const vectors_mutant *m, char *text, size_t size)
{
    size_t n;
    const assay_field *f = &assay_record_fields(&n)[m->field];
    char value[160];
    assay_field_print(f, m->value, value, sizeof value);
    snprintf(text, size, "%s.%s: %s", f->section, f->name, value);
    return text;
}
