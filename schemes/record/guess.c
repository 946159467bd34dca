/* The name that was probably meant; see guess.h. */
#include "schemes/record/guess.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LETTERS = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* No names differ in capitals alone. */
static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Edits between two words, of which at most 63 letters count: a letter more, less, another, or two
 * exchanged; capitals are no edits. Row i is of the first i letters of a; three are kept. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][MAX_LETTERS + 1];
    const size_t m = strnlen(a, MAX_LETTERS), n = strnlen(b, MAX_LETTERS);
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= m; i++) {
        const size_t *before = rows[(i + 1) % 3], *above = rows[(i + 2) % 3];
        size_t *row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            const char x = small(a[i - 1]), y = small(b[j - 1]);
            row[j] = least(above[j - 1] + (x != y), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == small(b[j - 2]) && y == small(a[i - 2]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

/* Twice the edits from a word to a candidate; a word that was cut short is nearer than one that was
 * mistyped. */
static size_t farness(const char *word, const char *candidate)
{
    const size_t n = strlen(word);
    size_t alike = 0;
    while (alike < n && small(word[alike]) == small(candidate[alike]))
        alike++;
    if (n > 1 && alike == n && candidate[n])
        return 1;
    return 2 * distance(candidate, word);
}

void assay_guess_consider(assay_guess *g, const char *candidate)
{
    const size_t d = farness(g->word, candidate);
    if (d < g->least || (d == g->least && strlen(candidate) < strlen(g->best))) {
        g->least = d;
        g->best = candidate;
    }
}

const char *assay_guess_near(const assay_guess *g)
{
    return g->least <= 2 * (1 + strlen(g->word) / 3) ? g->best : NULL;
}

const char *assay_guess_words(const assay_guess *g, char text[ASSAY_GUESS_WORDS])
{
    const char *near = assay_guess_near(g);
    snprintf(text, ASSAY_GUESS_WORDS, near ? "; nearest: %s" : "%s", near ? near : "");
    return text;
}
