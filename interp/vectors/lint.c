/* Rows judged by mutants; see lint.h. */
#include "interp/vectors/lint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/page/json.h"
#include "schemes/rescale/thresholds.h"

static size_t count_wrong(const vectors_suite *s, const int64_t *expected)
{
    size_t n = 0;
    for (size_t i = 0; i < s->rows.n; i++)
        n += s->code[i] != expected[i];
    return n;
}

static void print_wrong(FILE *f, const vectors_suite *s, const int64_t *expected,
                        const char *scheme)
{
    enum { SHOWN = 8 };
    size_t n = 0;
    for (size_t i = 0; i < s->rows.n; i++) {
        char a[24], b[24];
        if (s->code[i] == expected[i] || n++ >= SHOWN)
            continue;
        fprintf(f, "  row %zu: the suite expects %s, %s gives %s\n", i,
                vectors_code_text(expected[i], a), scheme, vectors_code_text(s->code[i], b));
    }
    if (n > 0)
        fprintf(f, "  %zu of %zu rows are not as %s computes them\n", n, s->rows.n, scheme);
}

/* The row that kills a mutant, and what it gives there. */
static void print_killer(FILE *f, const vectors_suite *could, const vectors_case *c)
{
    const vectors_row *r = &could->rows.row[c->row];
    char want[24], got[24];
    const char *a = vectors_code_text(could->code[c->a * could->rows.n + c->row], want);
    const char *b = vectors_code_text(could->code[c->b * could->rows.n + c->row], got);
    if (could->space.scales)
        fprintf(f,
                "    acc %" PRId64 ", in_scale %.9g, weight_scale %.9g, out_scale %.9g, "
                "zp %" PRId64 ": %s, not %s",
                r->acc, r->in, r->weight, r->out, r->zero, a, b);
    else
        fprintf(f,
                "    acc %" PRId64 ", multiplier %" PRId64 ", shift %" PRId64 ", zp %" PRId64
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
static size_t print_lives(FILE *f, const vectors_suite *given, const vectors_suite *could,
                          const vectors_sides *sides, size_t k)
{
    size_t n = 1;
    while (vectors_sides_is_parameter(sides, k, k + n) && fate_of(given, could, k + n) == LIVES &&
           could->cases[k].row == could->cases[k + n].row)
        n++;
    fprintf(f, "  lives: ");
    vectors_sides_print_values(f, sides, k, n);
    fprintf(f, "\n");
    print_killer(f, could, &could->cases[k]);
    fprintf(f, "%s\n", n > 1 ? " (the first)" : "");
    return n;
}

/* Those that the given rows do not kill, and a row that would. */
static void print_survivors(FILE *f, const vectors_suite *given, const vectors_suite *could,
                            const vectors_sides *sides)
{
    size_t n[FATES] = {0};
    for (size_t k = 0; k < given->n_cases; k++) {
        const enum fate fate = fate_of(given, could, k);
        const size_t group = fate == LIVES ? print_lives(f, given, could, sides, k) : 1;
        n[fate] += group;
        k += group - 1;
        if (fate == OPEN)
            fprintf(f, "  open:  %s: %s\n", sides->name[could->cases[k].b], could->cases[k].why);
    }
    fprintf(f,
            "  %zu mutants: %zu killed, %zu live, %zu equal, %zu alike (no row of %zu settings, "
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
    page_json_set(&o, "out", vectors_code_json(could->code[c->a * could->rows.n + c->row]));
    page_json_set(&o, "mutant", vectors_code_json(could->code[c->b * could->rows.n + c->row]));
    return o;
}

static size_t count_lives(const vectors_suite *given, const vectors_suite *could)
{
    size_t n = 0;
    for (size_t k = 0; k < given->n_cases; k++)
        n += fate_of(given, could, k) == LIVES;
    return n;
}

static assay_status judge(vectors_judgement *j, const char *path, assay_error *err)
{
    assay_status status = vectors_read(path, &j->given.space, &j->given.rows, &j->expected, err);
    if (!status)
        status = vectors_suite_judge(&j->given, err);
    return status ? status : vectors_suite_make(&j->could, err);
}

assay_status vectors_lint(const assay_scheme *s, const vectors_space *space, const char *path,
                          uint64_t seed, vectors_judgement *out, assay_error *err)
{
    *out = (vectors_judgement){.wrong = 0};
    assay_status status = vectors_sides_of_mutants(s, space, &out->sides, err);
    if (status)
        return status;
    const size_t n = out->sides.n_cases;
    out->cases = calloc(n + 1, sizeof *out->cases);
    if (!out->cases)
        return assay_out_of_memory(err);
    memcpy(out->cases, out->sides.cases, n * sizeof *out->cases);
    out->given = (vectors_suite){.space = *space,
                                 .side = out->sides.side,
                                 .n_sides = out->sides.n,
                                 .cases = out->sides.cases,
                                 .n_cases = n,
                                 .seed = seed};
    out->could = out->given;
    out->could.cases = out->cases;
    status = judge(out, path, err);
    if (status)
        return status;
    out->wrong = count_wrong(&out->given, out->expected);
    out->live = count_lives(&out->given, &out->could);
    return ASSAY_OK;
}

void vectors_lint_free(vectors_judgement *j)
{
    vectors_suite_free(&j->given);
    vectors_suite_free(&j->could);
    free(j->expected);
    free(j->cases);
    vectors_sides_free(&j->sides);
}

void vectors_lint_print(FILE *f, const void *judgement)
{
    const vectors_judgement *j = judgement;
    const char *scheme = j->sides.name[0];
    fprintf(f, "%zu rows against %s and its mutants of one parameter:\n", j->given.rows.n, scheme);
    print_wrong(f, &j->given, j->expected, scheme);
    print_survivors(f, &j->given, &j->could, &j->sides);
}

json_t *vectors_lint_json(const vectors_judgement *j)
{
    static const char *const name[FATES] = {"killed", "lives", "equal", "alike", "open"};
    size_t n[FATES] = {0};
    json_t *o = json_object(), *mutants = json_array();
    for (size_t k = 0; k < j->given.n_cases; k++) {
        const enum fate f = fate_of(&j->given, &j->could, k);
        json_t *row = json_object();
        n[f]++;
        page_json_set(&row, "mutant", page_json_text(j->sides.name[j->cases[k].b]));
        page_json_set(&row, "fate", json_string(name[f]));
        if (f == LIVES)
            page_json_set(&row, "row", killer_json(&j->could, &j->cases[k]));
        if (f == OPEN)
            page_json_set(&row, "why", page_json_text(j->cases[k].why));
        page_json_add(&mutants, row);
    }
    page_json_set(&o, "scheme", page_json_text(j->sides.name[0]));
    page_json_set(&o, "rows", json_integer((json_int_t)j->given.rows.n));
    page_json_set(&o, "wrong", json_integer((json_int_t)j->wrong));
    for (int f = 0; f < FATES; f++)
        page_json_set(&o, name[f], json_integer((json_int_t)n[f]));
    page_json_set(&o, "mutants", mutants);
    return o;
}
