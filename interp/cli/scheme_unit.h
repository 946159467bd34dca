/* The verbs of `assay scheme` on matrix units (schemes/mac); each returns an exit status. */
#ifndef ASSAY_INTERP_CLI_SCHEME_UNIT_H
#define ASSAY_INTERP_CLI_SCHEME_UNIT_H

#include "interp/cli/cli.h"
#include "schemes/mac/parameters.h"

int cli_units_list(const cli_args *a);
int cli_unit_check(const cli_args *a);
int cli_unit_show(const cli_args *a, const char *name);
/* Parameters that differ, and the smallest dot product found that distinguishes the two. */
int cli_units_diff(const cli_args *a);
/* Two schemes of matrix units: their parameters, and their units for the same elements. */
int cli_mac_diff(const cli_args *args, const assay_scheme *a, const assay_scheme *b);
int cli_unit_new(const char *name);
/* One dot product, step by step. */
int cli_unit_try(const cli_args *a);
/* The smallest dot product that distinguishes two units. */
int cli_units_vectors(const cli_args *a);

#endif
