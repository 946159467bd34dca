/* The verbs of `assay scheme` on matrix units (schemes/mac); each returns an exit status. */
#ifndef ASSAY_INTERP_CLI_SCHEME_UNIT_H
#define ASSAY_INTERP_CLI_SCHEME_UNIT_H

#include "interp/cli/cli.h"

int cli_units_list(void);
int cli_unit_check(const char *name);
int cli_unit_show(const char *name);
int cli_units_diff(const char *a, const char *b);
int cli_unit_new(const char *name);
/* One dot product, step by step. */
int cli_unit_try(const cli_args *a);
/* The smallest dot product that tells two units apart. */
int cli_units_vectors(const cli_args *a);

#endif
