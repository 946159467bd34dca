/* The ways of `assay infer`: rows asked of an oracle (cmd_infer.c) or by hand, given answers, dumps
 * of a network. */
#ifndef ASSAY_INTERP_CLI_INFER_H
#define ASSAY_INTERP_CLI_INFER_H

#include "interp/cli/cli.h"

/* --rounds DIR: the rows of the row protocol's call N are in DIR/N/rows, where they are written
 * when first asked, and its answers are taken from DIR/N/answers; with the same answers
 * the same rows are asked. */
typedef struct cli_rounds {
    const char *dir;
    assay_elem type; /* of the codes */
    int round;       /* the last that was asked */
    size_t rows;     /* of that round */
    bool waiting;    /* it has no answers: why cli_rounds_ask failed */
} cli_rounds;

/* An infer_options' ask, of a cli_rounds. */
assay_status cli_rounds_ask(void *user, const char *in, const char *out, assay_error *err);
/* Prints where the rows are and where the answers go; an exit status. json: a file, or NULL. */
int cli_rounds_waiting(const cli_rounds *r, const char *json);

/* --kind dot; an exit status. */
int cli_infer_dot(const cli_args *a);

/* DIR OUTPUTS, or --model NET --dumps DIR. */
int cli_infer_probes(const cli_args *a);

#endif
