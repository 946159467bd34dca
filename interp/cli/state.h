/* State that a network hands in and out, given by names on the command line. */
#ifndef ASSAY_INTERP_CLI_STATE_H
#define ASSAY_INTERP_CLI_STATE_H

#include "interp/cli/session.h"

/* Links what --state names in the graph; CLI_OK, or an exit status after a message. */
int cli_link_state(const cli_args *a, assay_graph *g);

#endif
