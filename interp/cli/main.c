/* assay: one command, its subcommands each in a file of its own. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/args.h"

static const cli_command *const commands[] = {
    &cli_inspect,     &cli_profile, &cli_quantize_command, &cli_optimize,
    &cli_check_proof, &cli_run,     &cli_golden,           &cli_verify,
    &cli_diff,        &cli_eval,    &cli_scheme,           &cli_convert,
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *f)
{
    fprintf(f,
            "assay %s: a reference interpreter for quantized neural networks\n\n"
            "usage: assay COMMAND ...\n\n",
            ASSAY_VERSION);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(f, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(f, "\n'assay COMMAND --help' shows its options and examples.\n"
               "Exit status: 0 done or same, 1 different, 2 trouble.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return CLI_TROUBLE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("assay %s\n", ASSAY_VERSION);
        return CLI_OK;
    }
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i]->name) == 0) {
            cli_args args;
            int status = cli_parse(commands[i], argc - 2, argv + 2, &args);
            if (status == CLI_PARSED)
                status = commands[i]->run(&args);
            cli_args_free(&args);
            if (status == CLI_OK && (fflush(stdout) != 0 || ferror(stdout)))
                return cli_trouble("standard output: write error");
            return status;
        }
    return cli_trouble("no command '%s'; 'assay --help' lists them", argv[1]);
}
