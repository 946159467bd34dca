/* assay vectors lint: the mutants of a scheme that a suite of rows lets live. Exit status 0 when
 * none that differs anywhere lives, 1 when some do or the scheme gives other answers than the
 * suite, 2 for trouble. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interp/cli/json.h"
#include "interp/cli/scheme.h"
#include "interp/cli/vectors.h"
#include "schemes/rescale/thresholds.h"

static size_t count_wrong(const vectors_suite *s, const int64_t *expected)
{
    size_t n = 0;
    for (size_t i = 0; i < s->rows.n; i++)
        n += s->code[i] != expected[i];
    return n;
}

static void print_wrong(const vectors_suite *s, const int64_t *expected, const char *scheme)
{
    enum { SHOWN = 8 };
    size_t n = 0;
    for (size_t i = 0; i < s->rows.n; i++) {
        char a[24], b[24];
        if (s->code[i] == expected[i] || n++ >= SHOWN)
            continue;
        printf("  row %zu: the suite expects %s, %s gives %s\n", i, cli_code_text(expected[i], a),
               scheme, cli_code_text(s->code[i], b));
    }
    if (n > 0)
        printf("  %zu of %zu rows are not as %s computes them\n", n, s->rows.n, scheme);
}

/* The row that kills a mutant, and what it gives there. */
static void print_killer(const vectors_suite *could, const vectors_case *c)
{
    const vectors_row *r = &could->rows.row[c->row];
    char want[24], got[24];
    const char *a = cli_code_text(could->code[c->a * could->rows.n + c->row], want);
    const char *b = cli_code_text(could->code[c->b * could->rows.n + c->row], got);
    if (could->space.scales)
        printf("    acc %" PRId64 ", in_scale %.9g, weight_scale %.9g, out_scale %.9g, "
               "zp %" PRId64 ": %s, not %s",
               r->acc, r->in, r->weight, r->out, r->zero, a, b);
    else
        printf("    acc %" PRId64 ", multiplier %" PRId64 ", shift %" PRId64 ", zp %" PRId64
               ": %s, not %s",
               r->acc, r->multiplier, r->shift, r->zero, a, b);
}

enum fate { KILLED, LIVES, EQUAL, ALIKE, OPEN, FATES };

static enum fate fate_of(const vectors_suite *given, const vectors_suite *could, size_t k)
{
    const vectors_case *c = &could->cases[k];
    if (given->cases[k].verdict == VECTORS_TOLD)
        return KILLED;
    if (c->verdict == VECTORS_TOLD)
        return LIVES;
    return c->verdict == VECTORS_OPEN ? OPEN : c->proved ? EQUAL : ALIKE;
}

/* Mutants k and behind it that live and are killed by one row; returns how many. */
static size_t print_lives(const vectors_suite *given, const vectors_suite *could,
                          const cli_sides *sides, size_t k)
{
    size_t n = 1;
    while (cli_sides_is_parameter(sides, k, k + n) && fate_of(given, could, k + n) == LIVES &&
           could->cases[k].row == could->cases[k + n].row)
        n++;
    printf("  lives: ");
    cli_sides_print_values(sides, k, n);
    printf("\n");
    print_killer(could, &could->cases[k]);
    printf("%s\n", n > 1 ? " (the first)" : "");
    return n;
}

/* Those that the given rows do not kill, and a row that would. */
static void print_survivors(const vectors_suite *given, const vectors_suite *could,
                            const cli_sides *sides)
{
    size_t n[FATES] = {0};
    for (size_t k = 0; k < given->n_cases; k++) {
        const enum fate f = fate_of(given, could, k);
        const size_t group = f == LIVES ? print_lives(given, could, sides, k) : 1;
        n[f] += group;
        k += group - 1;
        if (f == OPEN)
            printf("  open:  %s: %s\n", sides->name[could->cases[k].b], could->cases[k].why);
    }
    printf("  %zu mutants: %zu killed, %zu live, %zu equal, %zu alike (no row of %zu settings, "
           "drawn,\n"
           "   tells them; no proof), %zu open; mutation score %.1f %%\n",
           given->n_cases, n[KILLED], n[LIVES], n[EQUAL], n[ALIKE], could->settings, n[OPEN],
           n[KILLED] + n[LIVES] > 0 ? 100.0 * (double)n[KILLED] / (double)(n[KILLED] + n[LIVES])
                                    : 100.0);
}

/* The row that kills a mutant, the code and the mutant's; null where one refuses. */
static json_t *killer_json(const vectors_suite *could, const vectors_case *c)
{
    const vectors_row *r = &could->rows.row[c->row];
    json_t *o = json_object();
    page_json_set(&o, "acc", json_integer(r->acc));
    if (could->space.scales) {
        page_json_set(&o, "in_scale", json_real(r->in));
        page_json_set(&o, "weight_scale", json_real(r->weight));
        page_json_set(&o, "out_scale", json_real(r->out));
    } else {
        page_json_set(&o, "multiplier", json_integer(r->multiplier));
        page_json_set(&o, "shift", json_integer(r->shift));
    }
    page_json_set(&o, "zp", json_integer(r->zero));
    page_json_set(&o, "out", cli_code_json(could->code[c->a * could->rows.n + c->row]));
    page_json_set(&o, "mutant", cli_code_json(could->code[c->b * could->rows.n + c->row]));
    return o;
}

static int write_json(const cli_args *a, const char *scheme, const vectors_suite *given,
                      const vectors_suite *could, const cli_sides *sides, size_t wrong)
{
    static const char *const name[FATES] = {"killed", "lives", "equal", "alike", "open"};
    size_t n[FATES] = {0};
    json_t *o = json_object(), *mutants = json_array();
    for (size_t k = 0; k < given->n_cases; k++) {
        const enum fate f = fate_of(given, could, k);
        json_t *row = json_object();
        n[f]++;
        page_json_set(&row, "mutant", page_json_text(sides->name[could->cases[k].b]));
        page_json_set(&row, "fate", json_string(name[f]));
        if (f == LIVES)
            page_json_set(&row, "row", killer_json(could, &could->cases[k]));
        if (f == OPEN)
            page_json_set(&row, "why", page_json_text(could->cases[k].why));
        page_json_add(&mutants, row);
    }
    page_json_set(&o, "scheme", page_json_text(scheme));
    page_json_set(&o, "rows", json_integer((json_int_t)given->rows.n));
    page_json_set(&o, "wrong", json_integer((json_int_t)wrong));
    for (int f = 0; f < FATES; f++)
        page_json_set(&o, name[f], json_integer((json_int_t)n[f]));
    page_json_set(&o, "mutants", mutants);
    return cli_json_write(a, o);
}

static size_t count_lives(const vectors_suite *given, const vectors_suite *could)
{
    size_t n = 0;
    for (size_t k = 0; k < given->n_cases; k++)
        n += fate_of(given, could, k) == LIVES;
    return n;
}

static assay_status judge(const cli_args *a, vectors_suite *given, vectors_suite *could,
                          int64_t **expected, assay_error *err)
{
    assay_status status =
        cli_vectors_read(a->positional[1], &given->space, &given->rows, expected, err);
    if (!status)
        status = vectors_suite_judge(given, err);
    return status ? status : vectors_suite_make(could, err);
}

/* The verdict, printed and written. */
static int tell(const cli_args *a, const char *scheme, const vectors_suite *given,
                const vectors_suite *could, const cli_sides *sides, const int64_t *expected)
{
    const size_t wrong = count_wrong(given, expected), live = count_lives(given, could);
    int status = CLI_OK;
    if (strcmp(cli_value(a, "json", ""), "-") != 0) {
        printf("%zu rows against %s and its mutants of one parameter:\n", given->rows.n, scheme);
        print_wrong(given, expected, scheme);
        print_survivors(given, could, sides);
    }
    if (cli_has(a, "json"))
        status = write_json(a, scheme, given, could, sides, wrong);
    return status != CLI_OK ? status : wrong + live == 0 ? CLI_OK : CLI_DIFFERENT;
}

static int lint_with(const cli_args *a, const assay_scheme *scheme)
{
    vectors_space space;
    cli_sides sides = {0};
    int64_t *expected = NULL;
    assay_error err;
    if (!cli_vectors_space(a, scheme, &space))
        return CLI_TROUBLE;
    assay_status status = cli_sides_of_mutants(scheme, &space, &sides, &err);
    vectors_case *cases = calloc(sides.n_cases + 1, sizeof *cases);
    for (size_t i = 0; cases && i < sides.n_cases; i++)
        cases[i] = sides.cases[i];
    vectors_suite given = {.space = space,
                           .side = sides.side,
                           .n_sides = sides.n,
                           .cases = sides.cases,
                           .n_cases = sides.n_cases,
                           .seed = 17};
    vectors_suite could = given;
    could.cases = cases;
    if (!status && cases)
        status = judge(a, &given, &could, &expected, &err);
    const int exit_status = status   ? cli_failed(&err)
                            : !cases ? cli_out_of_memory()
                                     : tell(a, scheme->name, &given, &could, &sides, expected);
    vectors_suite_free(&given);
    vectors_suite_free(&could);
    free(expected);
    free(cases);
    cli_sides_free(&sides);
    return exit_status;
}

static int lint(const cli_args *a)
{
    const char *name = cli_value(a, "scheme", NULL);
    assay_scheme *scheme;
    assay_error err;
    if (!name)
        return cli_trouble("vectors lint: --scheme S, whose rows they are, is needed");
    if (assay_scheme_open(name, &scheme, &err))
        return cli_failed(&err);
    const int status = lint_with(a, scheme);
    assay_scheme_free(scheme);
    return status;
}

static const cli_verb verbs[] = {
    {"lint", "DIR|FILE.csv -s SCHEME [--json FILE]",
     "which mutants of a scheme a suite of rows lets live", " scheme kind op wide type acc json ",
     1, 1, lint},
    {NULL, NULL, NULL, NULL, 0, 0, NULL},
};

static const cli_option options[] = {
    {"scheme", 's', "NAME|FILE", "whose rows they are"},
    {"kind", 0, "multiplier|scale",
     "multiplier (acc, multiplier, shift, zp, out) or scale (acc, in_scale, "
     "weight_scale, out_scale, zp, out)"},
    {"op", 0, "NAME", "whose arithmetic it is (default: conv)"},
    {"wide", 0, NULL, "the arithmetic of codes of more than 8 bits"},
    {"type", 0, "TYPE", "of the output (default: the scheme's activations)"},
    {"acc", 'a', "LO:HI", "accumulators that count (default: all of the scheme's)"},
    CLI_JSON_OPTION,
    {NULL, 0, NULL, NULL},
};

const cli_command cli_cmd_vectors = {
    .name = "vectors",
    .usage = "lint DIR|FILE.csv -s SCHEME",
    .summary = "judge a suite of test rows for a rescale unit",
    .examples = "  assay scheme vectors tflite --mutants -o rows\n"
                "  assay vectors lint rows -s tflite\n"
                "  assay vectors lint my-rows.csv -s ./my-npu.yaml --type i8\n",
    .options = options,
    .verbs = verbs,
};
