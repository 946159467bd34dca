/* Rows and networks that distinguish schemes: shared by the library and the command. */
#ifndef ASSAY_INTERP_API_VECTORS_H
#define ASSAY_INTERP_API_VECTORS_H

#include "interp/assay_arithmetic.h"
#include "interp/vectors/lint.h"
#include "interp/vectors/tell.h"

/* Distinguishes each pair of n schemes, or one from its mutants. ASSAY_ERR_INPUT: options that are
 * none, two schemes of one name, an option of rows where the op is not one rescale under all of
 * them. vectors_tell_free, also on failure. */
assay_status assay_tell_schemes(const assay_scheme *const *s, size_t n,
                                const assay_vectors_options *o, vectors_telling *out,
                                assay_error *err);
/* The rows of `path` judged by the mutants of s. vectors_lint_free, also on failure. */
assay_status assay_judge_rows(const assay_scheme *s, const char *path,
                              const assay_vectors_options *o, vectors_judgement *out,
                              assay_error *err);

#endif
