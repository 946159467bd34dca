/* Schemes told apart; see tell.h. */
#include "interp/vectors/tell.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/page/column.h"

static vectors_counts count(const vectors_sides *s)
{
    vectors_counts t = {0};
    for (size_t k = 0; k < s->n_cases; k++) {
        const enum vectors_verdict v = s->cases[k].verdict;
        t.told += v == VECTORS_TOLD;
        t.same += v == VECTORS_SAME;
        t.proved += v == VECTORS_SAME && s->cases[k].proved;
        t.open += v == VECTORS_OPEN;
    }
    return t;
}

static bool has_mutants(const vectors_telling *t)
{
    return t->n == 1;
}

static assay_status make_sides(vectors_telling *t, assay_error *err)
{
    return has_mutants(t) ? vectors_sides_of_mutants(t->scheme[0], &t->space, &t->sides, err)
           : t->rows      ? vectors_sides_of_schemes(t->scheme, t->n, &t->space, &t->sides, err)
                          : vectors_sides_of_ops(t->scheme, t->n, &t->sides, err);
}

assay_status vectors_tell_run(vectors_telling *t, assay_error *err)
{
    t->sides = (vectors_sides){0};
    t->suite = (vectors_suite){0};
    probe_apart_open(&t->apart, t->scheme, assay_op_find(t->space.op), t->space.wide, t->space.type,
                     t->seed);
    assay_status status = make_sides(t, err);
    if (status)
        return status;
    t->suite = (vectors_suite){.space = t->space,
                               .side = t->sides.side,
                               .n_sides = t->sides.n,
                               .cases = t->sides.cases,
                               .n_cases = t->sides.n_cases,
                               .refusals = !has_mutants(t),
                               .seed = t->seed};
    if (t->rows)
        status = vectors_suite_make(&t->suite, err);
    if (!status && !has_mutants(t))
        status = vectors_sides_compare_ops(&t->sides, &t->apart, t->rows, err);
    t->counts = count(&t->sides);
    return status;
}

void vectors_tell_free(vectors_telling *t)
{
    vectors_suite_free(&t->suite);
    probe_apart_close(&t->apart);
    vectors_sides_free(&t->sides);
}

bool vectors_tell_all(const vectors_telling *t)
{
    return t->counts.open == 0 && (t->counts.same == 0 || has_mutants(t));
}

json_t *vectors_tell_json(const vectors_telling *t)
{
    return vectors_json(&t->suite, &t->sides);
}

assay_status vectors_tell_write(const vectors_telling *t, const char *dir, assay_error *err)
{
    return vectors_write(dir, &t->suite, &t->sides, has_mutants(t) ? 1 : t->sides.n, &t->apart,
                         err);
}

/* ---- in words ---- */

static void print_space(FILE *f, const vectors_space *space)
{
    char elem[8];
    fprintf(f, "rows of %s to %s, accumulators %" PRId64 "..%" PRId64 ":\n",
            space->scales ? "three scales" : "multiplier and shift",
            assay_elem_print(space->type, elem), space->lo, space->hi);
}

/* Mutants k and behind it that are of one parameter and alike; returns how many. */
static size_t print_group(FILE *f, const vectors_sides *sides, size_t k)
{
    const vectors_case *first = &sides->cases[k];
    size_t n = 1;
    while (vectors_sides_is_parameter(sides, k, k + n) &&
           first->verdict == sides->cases[k + n].verdict &&
           first->proved == sides->cases[k + n].proved &&
           strcmp(first->why, sides->cases[k + n].why) == 0)
        n++;
    fprintf(f, "  %s ",
            first->verdict == VECTORS_OPEN ? "open "
            : first->proved                ? "equal"
                                           : "alike");
    vectors_sides_print_values(f, sides, k, n);
    fprintf(f, "%s%s\n", first->why[0] ? ": " : "", first->why);
    return n;
}

/* What is the same, or was not decided. */
static void print_untold(FILE *f, const vectors_sides *sides, bool mutants, const char *op)
{
    for (size_t k = 0; k < sides->n_cases; k++) {
        const vectors_case *c = &sides->cases[k];
        if (c->verdict == VECTORS_TOLD)
            continue;
        if (mutants)
            k += print_group(f, sides, k) - 1;
        else if (c->verdict == VECTORS_SAME)
            fprintf(f, "  %s and %s are equal: %s reads no parameter in which they differ\n",
                    sides->name[c->a], sides->name[c->b], op);
        else
            fprintf(f, "  %s and %s: nothing that was tried distinguishes them: %s\n",
                    sides->name[c->a], sides->name[c->b], c->why);
    }
}

/* What the rows that are not there rest on. */
static void print_settings(FILE *f, const vectors_suite *s, const char *what)
{
    fprintf(
        f,
        "  (%s: with each of %zu %s and zero points, drawn, one code on every accumulator,\n"
        "   where those of R above 2^%d are within %d of 0, an end or a power of two; no proof)\n",
        what, s->settings, s->space.scales ? "scales" : "multipliers, shifts",
        ilogb(VECTORS_WHOLE / ((double)s->space.hi - (double)s->space.lo + 1)), VECTORS_WINDOW);
}

static void print_mutants(FILE *f, const vectors_suite *s, const vectors_sides *sides,
                          const vectors_counts *t)
{
    if (sides->mutants.unseen[0])
        fprintf(f, "  rows of this kind do not ask for%s\n", sides->mutants.unseen);
    if (t->proved > 0)
        fprintf(
            f,
            "  (equal: proved of every zero point, accumulators of %d bits, multipliers %" PRId64
            "..%" PRId64 "\n   and shifts %" PRId64 "..%" PRId64 ")\n",
            s->domain.acc_bits, s->domain.multiplier_lo, s->domain.multiplier_hi,
            s->domain.shift_lo, s->domain.shift_hi);
    fprintf(
        f,
        "  %zu mutants, each of one parameter: %zu killed, %zu equal, %zu alike, %zu open\n"
        "  mutation score %.1f %% of those that were seen to differ or are open, by %zu row%s\n",
        s->n_cases, t->told, t->proved, t->same - t->proved, t->open,
        t->told + t->open > 0 ? 100.0 * (double)t->told / (double)(t->told + t->open) : 100.0,
        s->rows.n, page_plural((int64_t)s->rows.n));
}

static void print_pairs(FILE *f, const vectors_suite *s, const vectors_sides *sides, int nodes,
                        const vectors_counts *t)
{
    fprintf(f, "  %zu of %zu pairs are told apart", t->told, sides->n_cases);
    if (s->rows.n > 0 || nodes == 0)
        fprintf(f, " by %zu row%s", s->rows.n, page_plural((int64_t)s->rows.n));
    if (nodes > 0)
        fprintf(f, "%s by %d network node%s", s->rows.n > 0 ? " and" : "", nodes,
                page_plural(nodes));
    fprintf(f, "\n");
}

void vectors_tell_print(FILE *f, const void *telling)
{
    const vectors_telling *t = telling;
    const vectors_counts *n = &t->counts;
    if (t->rows)
        print_space(f, &t->space);
    print_untold(f, &t->sides, has_mutants(t), t->space.op);
    if (t->rows && n->open + (has_mutants(t) ? n->same - n->proved : 0) > 0)
        print_settings(f, &t->suite, has_mutants(t) ? "alike" : "rows");
    if (has_mutants(t)) {
        print_mutants(f, &t->suite, &t->sides, n);
        return;
    }
    vectors_sides_print_nodes(f, &t->sides, &t->apart);
    print_pairs(f, &t->suite, &t->sides, t->apart.n, n);
}
