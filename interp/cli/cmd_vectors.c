/* assay vectors lint: the mutants of a scheme that a suite of rows lets live. Exit status 0 when
 * none that differs anywhere lives, 1 when some do or the scheme gives other answers than the
 * suite, 2 for trouble. */
#include <inttypes.h>
#include <stdlib.h>

#include "interp/cli/scheme.h"
#include "interp/cli/vectors.h"
#include "schemes/rescale/thresholds.h"

static const char *code_text(int64_t code, char text[24])
{
    if (code == ASSAY_REFUSED)
        return "refused";
    snprintf(text, 24, "%" PRId64, code);
    return text;
}

static size_t print_wrong(const vectors_suite *s, const int64_t *expected, const char *scheme)
{
    enum { SHOWN = 8 };
    size_t n = 0;
    for (size_t i = 0; i < s->rows.n; i++) {
        char a[24], b[24];
        if (s->code[i] == expected[i] || n++ >= SHOWN)
            continue;
        printf("  row %zu: the suite expects %s, %s gives %s\n", i, code_text(expected[i], a),
               scheme, code_text(s->code[i], b));
    }
    if (n > 0)
        printf("  %zu of %zu rows are not as %s computes them\n", n, s->rows.n, scheme);
    return n;
}

/* The row that kills a mutant, and what it gives there. */
static void print_killer(const vectors_suite *could, const vectors_case *c)
{
    const vectors_row *r = &could->rows.row[c->row];
    char want[24], got[24];
    const char *a = code_text(could->code[c->a * could->rows.n + c->row], want);
    const char *b = code_text(could->code[c->b * could->rows.n + c->row], got);
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
static size_t print_survivors(const vectors_suite *given, const vectors_suite *could,
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
    return n[LIVES];
}

static assay_status judge(const char *path, const char *scheme, vectors_suite *given,
                          vectors_suite *could, const cli_sides *sides, bool *good,
                          assay_error *err)
{
    int64_t *expected;
    assay_status status = cli_vectors_read(path, &given->space, &given->rows, &expected, err);
    if (!status)
        status = vectors_suite_judge(given, err);
    if (!status)
        status = vectors_suite_make(could, err);
    if (!status) {
        printf("%zu rows against %s and its mutants of one parameter:\n", given->rows.n, scheme);
        *good = print_wrong(given, expected, scheme) == 0;
        *good = print_survivors(given, could, sides) == 0 && *good;
    }
    free(expected);
    return status;
}

static int lint_with(const cli_args *a, const assay_scheme *scheme)
{
    vectors_space space;
    cli_sides sides = {0};
    assay_error err;
    bool good = false;
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
        status = judge(a->positional[1], scheme->name, &given, &could, &sides, &good, &err);
    const int exit_status = status ? cli_failed(&err) : !cases ? cli_out_of_memory() : CLI_OK;
    vectors_suite_free(&given);
    vectors_suite_free(&could);
    free(cases);
    cli_sides_free(&sides);
    return exit_status != CLI_OK ? exit_status : good ? CLI_OK : CLI_DIFFERENT;
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
    {"lint", "DIR|FILE.csv -s SCHEME", "which mutants of a scheme a suite of rows lets live",
     " scheme kind op wide type acc ", 1, 1, lint},
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
