/* The verbs of `assay scheme`, a file or two each. */
#ifndef ASSAY_INTERP_CLI_SCHEME_H
#define ASSAY_INTERP_CLI_SCHEME_H

#include "interp/api/rows.h"
#include "interp/cli/cli.h"
#include "interp/page/json.h"
#include "schemes/scheme.h"

/* Arguments after the verb are positional[1], ...; each returns an exit status. */
int cli_scheme_show(const cli_args *a);
int cli_scheme_diff(const cli_args *a);
int cli_scheme_matrix(const cli_args *a);
int cli_scheme_try(const cli_args *a);
int cli_scheme_new(const cli_args *a);
int cli_scheme_apply(const cli_args *a);
int cli_scheme_derive(const cli_args *a);
int cli_scheme_dot(const cli_args *a);
int cli_scheme_vectors(const cli_args *a);

/* --type i8|u8|i16|u16|i32, or the scheme's activations when it is not given. False after a
 * message. */
bool cli_scheme_type(const cli_args *a, const assay_scheme *s, assay_elem *out);
/* "LO:HI", "LO:HI:N" or "X" as three numbers (HI = LO, N = 1 where missing); false after a
 * message. */
bool cli_scheme_range(const cli_args *a, const char *option, double lo, double hi, double out[3]);
/* Two schemes of one name cannot be told apart in a report: false after a message, unless they are
 * the same record. */
bool cli_scheme_names_differ(const assay_scheme *a, const assay_scheme *b);
/* --op names an op: false after a message. */
bool cli_scheme_op(const cli_args *a);
/* The form (enum assay_form) of codes of a type; --wide, or a scheme's own: of more than 8 bits. */
unsigned cli_scheme_form(const cli_args *a, const assay_scheme *s, assay_elem type);

#endif
