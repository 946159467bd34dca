/* The name that was probably meant by a word that is none. */
#ifndef ASSAY_SCHEMES_GUESS_H
#define ASSAY_SCHEMES_GUESS_H

#include <stddef.h>
#include <stdint.h>

/* The candidate nearest to a word so far; starts as {word, "", SIZE_MAX}. */
typedef struct assay_guess {
    const char *word, *best;
    size_t least; /* edits from the word to it */
} assay_guess;

void assay_guess_consider(assay_guess *g, const char *candidate);
/* The nearest, or NULL when it is so far away that it was hardly meant. */
const char *assay_guess_near(const assay_guess *g);

#endif
