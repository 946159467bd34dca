/* Options from callers who may have been compiled with another header, and texts for them. */
#ifndef ASSAY_INTERP_API_OPTIONS_H
#define ASSAY_INTERP_API_OPTIONS_H

#include <stdio.h>

#include "interp/assay_tools.h"
#include "interp/page/json.h"

/* Copies `from`, a struct that begins with its size (NULL: all zero), to the zeroed `to` of `room`
 * bytes. ASSAY_ERR_INPUT: no such size; ASSAY_ERR_UNSUPPORTED: a newer header's option is set. */
assay_status assay_options_take(const void *from, void *to, size_t room, assay_error *err);
#define ASSAY_OPTIONS_TAKE(from, own, err) assay_options_take(from, own, sizeof *(own), err)

/* ASSAY_ERR_INPUT: a seed that no report can hold; JSON's integers are those of int64_t. */
assay_status assay_check_seed(uint64_t seed, assay_error *err);
/* *out (NULL: not wanted) becomes the JSON as text; takes `json`; NULL means out of memory.
 */
assay_status assay_text_of_json(json_t *json, char **out, assay_error *err);
/* ... what print(f, what) prints. */
assay_status assay_text_of(void (*print)(FILE *f, const void *what), const void *what, char **out,
                           assay_error *err);
/* Sets the requested ones of n texts to NULL. */
void assay_texts_begin(char **const *text, int n);
/* Frees the n texts and sets them to NULL if status is a failure; returns status. */
assay_status assay_texts_end(assay_status status, char **const *text, int n);

#endif
