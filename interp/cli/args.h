/* Parsing of a subcommand's arguments by its option table. */
#ifndef ASSAY_INTERP_CLI_ARGS_H
#define ASSAY_INTERP_CLI_ARGS_H

#include "interp/cli/cli.h"

enum { CLI_PARSED = -1 };

/* CLI_PARSED when the command should run; otherwise an exit status (help was printed, or a fault
 * was named). args is always safe to free. */
int cli_parse(const cli_command *command, int argc, char **argv, cli_args *args);
int cli_execute(const cli_args *args);
void cli_args_free(cli_args *args);

/* settings.c: the text of a message, its `settings` as options of the command, cut to size. */
void cli_name_options(const char *text, char *out, size_t size);

#endif
