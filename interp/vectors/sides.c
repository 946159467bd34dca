/* The sides of a suite: schemes that are to be told apart, or a scheme and its mutants; see
 * sides.h. */
#include "interp/vectors/sides.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"

static assay_status room(vectors_sides *s, size_t sides, size_t cases, assay_error *err)
{
    s->side = calloc(sides, sizeof *s->side);
    s->name = calloc(sides, sizeof *s->name);
    s->cases = calloc(cases + 1, sizeof *s->cases);
    s->told = calloc(cases + 1, sizeof *s->told);
    for (size_t i = 0; s->told && i <= cases; i++)
        s->told[i].node = -1;
    return s->side && s->name && s->cases && s->told ? ASSAY_OK : assay_out_of_memory(err);
}

static assay_status own(vectors_sides *s, const assay_scheme *scheme, const vectors_space *space,
                        assay_error *err)
{
    assay_scheme *side;
    const assay_status status = vectors_side(scheme, space, NULL, NULL, &side, err);
    if (status)
        return status;
    snprintf(s->name[s->n], sizeof *s->name, "%.200s", scheme->name);
    s->side[s->n] = side;
    s->n_owned = ++s->n;
    return ASSAY_OK;
}

assay_status vectors_sides_of_schemes(const assay_scheme *const *schemes, size_t n,
                                      const vectors_space *space, vectors_sides *out,
                                      assay_error *err)
{
    assay_status status = room(out, n, n * (n - 1) / 2, err);
    for (size_t i = 0; i < n && !status; i++) {
        status = own(out, schemes[i], space, err);
        for (size_t k = i + 1; k < n && !status; k++)
            out->cases[out->n_cases++] = (vectors_case){.a = i, .b = k};
    }
    return status;
}

assay_status vectors_sides_of_ops(const assay_scheme *const *schemes, size_t n, vectors_sides *out,
                                  assay_error *err)
{
    const assay_status status = room(out, n, n * (n - 1) / 2, err);
    for (size_t i = 0; i < n && !status; i++) {
        snprintf(out->name[i], sizeof *out->name, "%.200s", schemes[i]->name);
        for (size_t k = i + 1; k < n; k++)
            out->cases[out->n_cases++] = (vectors_case){.a = i, .b = k, .verdict = VECTORS_OPEN};
    }
    out->n = n;
    return status;
}

assay_status vectors_sides_of_mutants(const assay_scheme *s, const vectors_space *space,
                                      vectors_sides *out, assay_error *err)
{
    assay_scheme *side;
    assay_status status = vectors_side(s, space, NULL, NULL, &side, err);
    if (status)
        return status;
    status = vectors_mutants_of(side, space, &out->mutants, err);
    assay_scheme_free(side);
    if (!status)
        status = room(out, out->mutants.n + 1, out->mutants.n, err);
    if (!status)
        status = own(out, s, space, err);
    for (size_t i = 0; i < out->mutants.n && !status; i++) {
        out->side[out->n] = out->mutants.mutant[i].side;
        vectors_mutant_print(&out->mutants.mutant[i], out->name[out->n], sizeof *out->name);
        out->cases[out->n_cases++] = (vectors_case){.b = out->n++};
    }
    return status;
}

void vectors_sides_free(vectors_sides *s)
{
    for (size_t i = 0; i < s->n_owned; i++)
        assay_scheme_free((assay_scheme *)(uintptr_t)s->side[i]);
    vectors_mutants_free(&s->mutants);
    free(s->side);
    free(s->name);
    free(s->cases);
    free(s->told);
}

/* ---- mutants in words ---- */

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

bool vectors_sides_is_parameter(const vectors_sides *s, size_t k, size_t other)
{
    if (other >= s->n_cases)
        return false;
    const char *name = s->name[s->cases[k].b];
    return strncmp(s->name[s->cases[other].b], name, parameter_length(name) + 2) == 0;
}

void vectors_sides_print_values(FILE *f, const vectors_sides *s, size_t k, size_t n)
{
    const char *name = s->name[s->cases[k].b];
    const size_t value = parameter_length(name) + 2;
    size_t run = 0;
    fprintf(f, "%s", name);
    for (size_t i = 1; i < n; i++) {
        const char *now = s->name[s->cases[k + i].b], *last = s->name[s->cases[k + i - 1].b];
        const bool more = i + 1 < n && is_next(now, s->name[s->cases[k + i + 1].b], value);
        run = is_next(last, now, value) ? run + 1 : 0;
        if (run == 0 || !more)
            fprintf(f, "%s%s", run > 1 ? ".." : ", ", now + value);
    }
}
