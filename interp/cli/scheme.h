/* The verbs of `assay scheme`, a file or two each. */
#ifndef ASSAY_INTERP_CLI_SCHEME_H
#define ASSAY_INTERP_CLI_SCHEME_H

#include "interp/api/rows.h"
#include "interp/assay_arithmetic.h"
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

/* --op, --type, --wide, --as-is, --scale, --acc, --zp and --in-zp; false after a message. */
bool cli_scheme_question(const cli_args *a, assay_scheme_question *o);
/* --op, --wide, --kind, --type and --acc; likewise. */
bool cli_vectors_options(const cli_args *a, assay_vectors_options *out);
/* Loads MODEL, whose scheme is given as -s is: an exit status; cli_session_close, whatever it is.
 */
struct cli_session;
int cli_scheme_network(struct cli_session *session, const cli_args *args, const char *model,
                       const char *scheme);

/* --type i8|u8|i16|u16|i32, or the scheme's activations when it is not given. False after a
 * message. */
bool cli_scheme_type(const cli_args *a, const assay_scheme *s, assay_elem *out);
/* "LO:HI", "LO:HI:N" or "X" as three numbers (HI = LO, N = 1 where missing); false after a
 * message. */
bool cli_scheme_range(const cli_args *a, const char *option, double lo, double hi, double out[3]);

#endif
