/* assay scheme vectors: the least rows on which each two schemes differ, or that tell a scheme from
 * all its mutants. Exit status 0 when all are told apart (of mutants: all that differ anywhere), 1
 * when some cannot be, 2 for trouble. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/cli/scheme.h"
#include "interp/cli/scheme_unit.h"
#include "interp/cli/vectors.h"
#include "schemes/mac/mac.h"

typedef struct tally {
    size_t told, same, open;
} tally;

static tally tally_of(const cli_sides *s)
{
    tally t = {0};
    for (size_t k = 0; k < s->n_cases; k++) {
        const enum vectors_verdict v = s->cases[k].verdict;
        t.told += v == VECTORS_TOLD;
        t.same += v == VECTORS_SAME;
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

/* The text before ": " of a mutant's name is its parameter. */
static size_t parameter_length(const char *name)
{
    const char *end = strstr(name, ": ");
    return end ? (size_t)(end - name) : strlen(name);
}

static bool is_next(const char *a, const char *b, size_t from)
{
    char *ends[2];
    const long x = strtol(a + from, &ends[0], 10), y = strtol(b + from, &ends[1], 10);
    return *ends[0] == '\0' && *ends[1] == '\0' && y == x + 1;
}

/* Mutants k and behind it that are of one parameter and alike; returns how many. Numbers that
 * follow each other are a range. */
static size_t print_group(const cli_sides *sides, size_t k)
{
    const vectors_case *first = &sides->cases[k];
    const char *name = sides->name[first->b];
    const size_t length = parameter_length(name), value = length + 2;
    size_t n = 1, run = 0;
    for (; k + n < sides->n_cases; n++) {
        const vectors_case *c = &sides->cases[k + n];
        if (c->verdict != first->verdict || strcmp(c->why, first->why) != 0 ||
            strncmp(sides->name[c->b], name, value) != 0)
            break;
    }
    printf("  %s %s", first->verdict == VECTORS_SAME ? "equal" : "open ", name);
    for (size_t i = 1; i < n; i++) {
        const char *now = sides->name[sides->cases[k + i].b];
        const char *last = sides->name[sides->cases[k + i - 1].b];
        const bool more = i + 1 < n && is_next(now, sides->name[sides->cases[k + i + 1].b], value);
        run = is_next(last, now, value) ? run + 1 : 0;
        if (run == 0 || !more)
            printf("%s%s", run > 1 ? ".." : ", ", now + value);
    }
    printf("%s%s\n", first->why[0] ? ": " : "", first->why);
    return n;
}

/* What is the same, or was not decided. */
static void print_untold(const cli_sides *sides, bool mutants)
{
    for (size_t k = 0; k < sides->n_cases; k++) {
        const vectors_case *c = &sides->cases[k];
        if (c->verdict == VECTORS_TOLD)
            continue;
        if (mutants)
            k += print_group(sides, k) - 1;
        else if (c->verdict == VECTORS_SAME)
            printf("  %s and %s are equal\n", sides->name[c->a], sides->name[c->b]);
        else
            printf("  %s and %s: no row tells them apart; not decided: %s\n", sides->name[c->a],
                   sides->name[c->b], c->why);
    }
}

static void print_report(const vectors_suite *s, const cli_sides *sides, bool mutants, tally t)
{
    print_space(&s->space);
    print_untold(sides, mutants);
    if (t.same > 0)
        printf("  (equal: with each of %zu %s and zero points one code on every accumulator,\n"
               "   where those of R above 2^%d are within %d of 0, an end or a power of two)\n",
               s->settings, s->space.scales ? "scales" : "multipliers, shifts",
               ilogb(VECTORS_WHOLE / ((double)s->space.hi - (double)s->space.lo + 1)),
               VECTORS_WINDOW);
    if (mutants && sides->mutants.unseen[0])
        printf("  rows of this kind do not ask for%s\n", sides->mutants.unseen);
    if (mutants)
        printf("  %zu mutants, each of one parameter: %zu killed, %zu equal, %zu open\n"
               "  mutation score %.1f %% of those that differ or may, by %zu row%s\n",
               s->n_cases, t.told, t.same, t.open,
               t.told + t.open > 0 ? 100.0 * (double)t.told / (double)(t.told + t.open) : 100.0,
               s->rows.n, s->rows.n == 1 ? "" : "s");
    else
        printf("  %zu of %zu pairs are told apart by %zu row%s\n", t.told, s->n_cases, s->rows.n,
               s->rows.n == 1 ? "" : "s");
}

static int make(const cli_args *a, const vectors_space *space, cli_sides *sides, int64_t seed)
{
    const bool mutants = cli_has(a, "mutants");
    const char *dir = cli_value(a, "output", NULL);
    vectors_suite s = {.space = *space,
                       .side = sides->side,
                       .n_sides = sides->n,
                       .cases = sides->cases,
                       .n_cases = sides->n_cases,
                       .refusals = !mutants,
                       .seed = (uint64_t)seed};
    assay_error err;
    assay_status status = vectors_suite_make(&s, &err);
    const tally t = tally_of(sides);
    if (!status)
        print_report(&s, sides, mutants, t);
    if (!status && dir) {
        status = cli_vectors_write(dir, &s, sides, mutants ? 1 : sides->n, &err);
        if (!status)
            printf("  %s: columns as .npy, .hex ($readmemh) and .h, and vectors.json\n", dir);
    }
    vectors_suite_free(&s);
    return status ? cli_failed(&err) : t.open || (t.same && !mutants) ? CLI_DIFFERENT : CLI_OK;
}

static int with_schemes(const cli_args *a, assay_scheme **schemes, size_t n)
{
    vectors_space space;
    cli_sides sides = {0};
    assay_error err;
    int64_t seed;
    if (!cli_integer(a, "seed", 17, 0, INT64_MAX, &seed))
        return CLI_TROUBLE;
    if (!cli_vectors_space(a, schemes[0], &space))
        return CLI_TROUBLE;
    for (size_t i = 1; i < n; i++) {
        vectors_space other;
        if (!cli_vectors_space(a, schemes[i], &other))
            return CLI_TROUBLE;
        space.scales = space.scales || other.scales;
    }
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (!cli_scheme_names_differ(schemes[k], schemes[i]))
                return CLI_TROUBLE;
    const assay_status status = cli_has(a, "mutants")
                                    ? cli_sides_of_mutants(schemes[0], &space, &sides, &err)
                                    : cli_sides_of_schemes(schemes, n, &space, &sides, &err);
    const int exit_status = status ? cli_failed(&err) : make(a, &space, &sides, seed);
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
        status = with_schemes(a, schemes, n);
    for (size_t i = 0; i < n; i++)
        assay_scheme_free(schemes[i]);
    free(schemes);
    return status;
}
