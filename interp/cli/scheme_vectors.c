/* assay scheme vectors: the least rows, or the nodes of a small network, on which each two schemes
 * differ, or rows that tell a scheme from all its mutants. Exit status 0 when all are told apart
 * (of mutants: all that differ anywhere), 1 when some cannot be, 2 for trouble. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme.h"
#include "interp/cli/scheme_unit.h"
#include "interp/cli/vectors.h"
#include "schemes/mac/mac.h"

typedef struct tally {
    size_t told, same, proved, open; /* proved: of the same */
} tally;

static tally tally_of(const cli_sides *s)
{
    tally t = {0};
    for (size_t k = 0; k < s->n_cases; k++) {
        const enum vectors_verdict v = s->cases[k].verdict;
        t.told += v == VECTORS_TOLD;
        t.same += v == VECTORS_SAME;
        t.proved += v == VECTORS_SAME && s->cases[k].proved;
        t.open += v == VECTORS_OPEN;
    }
    return t;
}

static void print_space(const vectors_space *space)
{
    char elem[8];
    printf("rows of %s to %s, accumulators %" PRId64 "..%" PRId64 ":\n",
           space->scales ? "three scales" : "multiplier and shift",
           assay_elem_print(space->type, elem), space->lo, space->hi);
}

/* Mutants k and behind it that are of one parameter and alike; returns how many. */
static size_t print_group(const cli_sides *sides, size_t k)
{
    const vectors_case *first = &sides->cases[k];
    size_t n = 1;
    while (cli_sides_is_parameter(sides, k, k + n) &&
           first->verdict == sides->cases[k + n].verdict &&
           first->proved == sides->cases[k + n].proved &&
           strcmp(first->why, sides->cases[k + n].why) == 0)
        n++;
    printf("  %s ", first->verdict == VECTORS_OPEN ? "open " : first->proved ? "equal" : "alike");
    cli_sides_print_values(sides, k, n);
    printf("%s%s\n", first->why[0] ? ": " : "", first->why);
    return n;
}

/* What is the same, or was not decided. */
static void print_untold(const cli_sides *sides, bool mutants, const char *op)
{
    for (size_t k = 0; k < sides->n_cases; k++) {
        const vectors_case *c = &sides->cases[k];
        if (c->verdict == VECTORS_TOLD)
            continue;
        if (mutants)
            k += print_group(sides, k) - 1;
        else if (c->verdict == VECTORS_SAME)
            printf("  %s and %s are equal: %s reads no parameter in which they differ\n",
                   sides->name[c->a], sides->name[c->b], op);
        else
            printf("  %s and %s: nothing that was tried tells them apart: %s\n", sides->name[c->a],
                   sides->name[c->b], c->why);
    }
}

/* What the rows that are not there rest on. */
static void print_settings(const vectors_suite *s, const char *what)
{
    printf(
        "  (%s: with each of %zu %s and zero points, drawn, one code on every accumulator,\n"
        "   where those of R above 2^%d are within %d of 0, an end or a power of two; no proof)\n",
        what, s->settings, s->space.scales ? "scales" : "multipliers, shifts",
        ilogb(VECTORS_WHOLE / ((double)s->space.hi - (double)s->space.lo + 1)), VECTORS_WINDOW);
}

static void print_mutants(const vectors_suite *s, const cli_sides *sides, tally t)
{
    if (sides->mutants.unseen[0])
        printf("  rows of this kind do not ask for%s\n", sides->mutants.unseen);
    if (t.proved > 0)
        printf("  (equal: proved of every zero point, accumulators of %d bits, multipliers %" PRId64
               "..%" PRId64 "\n   and shifts %" PRId64 "..%" PRId64 ")\n",
               s->domain.acc_bits, s->domain.multiplier_lo, s->domain.multiplier_hi,
               s->domain.shift_lo, s->domain.shift_hi);
    printf("  %zu mutants, each of one parameter: %zu killed, %zu equal, %zu alike, %zu open\n"
           "  mutation score %.1f %% of those that were seen to differ or are open, by %zu row%s\n",
           s->n_cases, t.told, t.proved, t.same - t.proved, t.open,
           t.told + t.open > 0 ? 100.0 * (double)t.told / (double)(t.told + t.open) : 100.0,
           s->rows.n, s->rows.n == 1 ? "" : "s");
}

static void print_pairs(const vectors_suite *s, const cli_sides *sides, int nodes, tally t)
{
    printf("  %zu of %zu pairs are told apart", t.told, sides->n_cases);
    if (s->rows.n > 0 || nodes == 0)
        printf(" by %zu row%s", s->rows.n, s->rows.n == 1 ? "" : "s");
    if (nodes > 0)
        printf("%s by %d network node%s", s->rows.n > 0 ? " and" : "", nodes,
               nodes == 1 ? "" : "s");
    printf("\n");
}

/* Schemes, or one and its mutants, and what they are asked. */
typedef struct asked {
    const cli_args *a;
    vectors_space space;
    bool rows; /* the op is one rescale under all of them */
    bool mutants;
    assay_scheme *const *scheme;
    size_t n;
    int64_t seed;
} asked;

static assay_status report(const asked *q, const vectors_suite *s, cli_sides *sides,
                           const probe_apart *x, tally *t, assay_error *err)
{
    assay_status status = ASSAY_OK;
    *t = tally_of(sides);
    if (strcmp(cli_value(q->a, "json", ""), "-") == 0)
        return ASSAY_OK;
    if (q->rows)
        print_space(&s->space);
    print_untold(sides, q->mutants, q->space.op);
    if (q->rows && t->open + (q->mutants ? t->same - t->proved : 0) > 0)
        print_settings(s, q->mutants ? "alike" : "rows");
    if (q->mutants) {
        print_mutants(s, sides, *t);
        return ASSAY_OK;
    }
    status = cli_sides_print_nodes(sides, x, err);
    print_pairs(s, sides, x->n, *t);
    return status;
}

static int make(const asked *q, cli_sides *sides)
{
    const char *dir = cli_value(q->a, "output", NULL);
    vectors_suite s = {.space = q->space,
                       .side = sides->side,
                       .n_sides = sides->n,
                       .cases = sides->cases,
                       .n_cases = sides->n_cases,
                       .refusals = !q->mutants,
                       .seed = (uint64_t)q->seed};
    probe_apart x;
    tally t = {0};
    assay_error err;
    probe_apart_open(&x, (const assay_scheme *const *)q->scheme, assay_op_find(q->space.op),
                     q->space.wide, q->space.type, s.seed);
    assay_status status = q->rows ? vectors_suite_make(&s, &err) : ASSAY_OK;
    if (!status && !q->mutants)
        status = cli_sides_compare_ops(sides, &x, q->rows, &err);
    if (!status)
        status = report(q, &s, sides, &x, &t, &err);
    if (!status && dir) {
        status = cli_vectors_write(dir, &s, sides, q->mutants ? 1 : sides->n, &x,
                                   (const char *const *)q->a->positional + 1, &err);
        if (!status && s.rows.n > 0)
            fprintf(cli_notes_of(q->a),
                    "  %s: columns as .npy, .hex ($readmemh) and .h, and vectors.json\n", dir);
        if (!status && x.n > 0)
            fprintf(cli_notes_of(q->a), "  %s: networks, and in expected what each scheme gives\n",
                    dir);
    }
    const bool trouble = !status && cli_has(q->a, "json") &&
                         cli_json_write(q->a, cli_vectors_json(&s, sides)) != CLI_OK;
    vectors_suite_free(&s);
    probe_apart_close(&x);
    return status                              ? cli_failed(&err)
           : trouble                           ? CLI_TROUBLE
           : t.open || (t.same && !q->mutants) ? CLI_DIFFERENT
                                               : CLI_OK;
}

/* No two of one name: of different records a report could not tell them, the same is no pair. */
static bool names_differ(const asked *q)
{
    for (size_t i = 1; i < q->n; i++)
        for (size_t k = 0; k < i; k++) {
            if (!cli_scheme_names_differ(q->scheme[k], q->scheme[i]))
                return false;
            if (strcmp(q->scheme[k]->name, q->scheme[i]->name) == 0) {
                cli_trouble("scheme vectors: %s is given twice", q->scheme[i]->name);
                return false;
            }
        }
    return true;
}

/* An option of rows, where none are asked; false after a message. */
static bool is_unread(const asked *q, const char *option)
{
    if (!cli_has(q->a, option))
        return true;
    cli_trouble(
        "scheme vectors: --%s is of rows; %s is not one rescale of an accumulator under all "
        "of these schemes",
        option, q->space.op);
    return false;
}

/* What all are asked: rows of scales where one takes no multipliers. */
static bool find_space(asked *q)
{
    if (!cli_vectors_space(q->a, q->scheme[0], &q->space))
        return false;
    q->rows = true;
    for (size_t i = 0; i < q->n; i++) {
        vectors_space other;
        assay_single single;
        assay_error err;
        if (!cli_vectors_space(q->a, q->scheme[i], &other))
            return false;
        q->space.scales = q->space.scales || other.scales;
        q->rows = q->rows && !assay_single_start(&single, q->scheme[i], q->space.op,
                                                 vectors_form(&q->space), &err);
    }
    return q->rows || q->mutants || (is_unread(q, "kind") && is_unread(q, "acc"));
}

static int with_schemes(asked *q)
{
    cli_sides sides = {0};
    assay_error err;
    if (!cli_integer(q->a, "seed", 17, 0, INT64_MAX, &q->seed) || !find_space(q) ||
        !names_differ(q))
        return CLI_TROUBLE;
    const assay_status status =
        q->mutants ? cli_sides_of_mutants(q->scheme[0], &q->space, &sides, &err)
        : q->rows  ? cli_sides_of_schemes(q->scheme, q->n, &q->space, &sides, &err)
                   : cli_sides_of_ops(q->scheme, q->n, &sides, &err);
    const int exit_status = status ? cli_failed(&err) : make(q, &sides);
    cli_sides_free(&sides);
    return exit_status;
}

int cli_scheme_vectors(const cli_args *a)
{
    const size_t n = (size_t)a->n_positional - 1;
    assay_scheme **schemes;
    assay_error err;
    int status = CLI_OK;
    if (mac_is_unit(a->positional[1]))
        return cli_units_vectors(a);
    if (cli_has(a, "mutants") != (n == 1))
        return cli_trouble("scheme vectors: two schemes or more, or one with --mutants");
    schemes = calloc(n, sizeof *schemes);
    if (!schemes)
        return cli_out_of_memory();
    for (size_t i = 0; i < n && status == CLI_OK; i++)
        if (assay_scheme_open(a->positional[i + 1], &schemes[i], &err))
            status = cli_failed(&err);
    if (status == CLI_OK)
        status = with_schemes(
            &(asked){.a = a, .mutants = cli_has(a, "mutants"), .scheme = schemes, .n = n});
    for (size_t i = 0; i < n; i++)
        assay_scheme_free(schemes[i]);
    free(schemes);
    return status;
}
