/* The name that was probably meant by an unknown word. */
#ifndef ASSAY_SCHEMES_GUESS_H
#define ASSAY_SCHEMES_GUESS_H

#include <stddef.h>
#include <stdint.h>

/* The candidate nearest to a word so far; starts as ASSAY_GUESS(word). */
#define ASSAY_GUESS(WORD) ((assay_guess){(WORD), "", SIZE_MAX})
typedef struct assay_guess {
    const char *word, *best;
    size_t least; /* how far it is, in half edits */
} assay_guess;

void assay_guess_consider(assay_guess *g, const char *candidate);
/* The nearest, or NULL when it is so far away that it was hardly meant. */
const char *assay_guess_near(const assay_guess *g);
/* The words for a message after what is unknown: "; nearest: NAME", or "" when none is near. */
#define ASSAY_GUESS_WORDS 80
const char *assay_guess_words(const assay_guess *g, char text[ASSAY_GUESS_WORDS]);

#endif
