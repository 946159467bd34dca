/* assay: one command, its subcommands each in a file of its own. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/args.h"
#include "interp/fast/isa.h"

static const cli_command *const commands[] = {
#define ROW(ID) &cli_##ID,
    CLI_COMMANDS(ROW)
#undef ROW
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

/* How many words of argv are the command's name: 0 when it is another's. */
static int words_of(const cli_command *c, int argc, char **argv)
{
    const size_t n = strlen(argv[1]);

    if (strncmp(c->name, argv[1], n) != 0)
        return 0;
    if (c->name[n] == 0)
        return 1;
    return c->name[n] == ' ' && argc > 2 && strcmp(c->name + n + 1, argv[2]) == 0 ? 2 : 0;
}

/* The command with the longest name that the arguments begin with, or NULL. */
static const cli_command *find_command(int argc, char **argv, int *words)
{
    const cli_command *found = NULL;

    *words = 0;
    for (int i = 0; i < N_COMMANDS; i++)
        if (words_of(commands[i], argc, argv) > *words) {
            *words = words_of(commands[i], argc, argv);
            found = commands[i];
        }
    return found;
}

static void help(FILE *f)
{
    fprintf(f,
            "assay %s: a reference interpreter for quantized neural networks\n\n"
            "usage: assay COMMAND ...\n\n",
            ASSAY_VERSION);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(f, "  %-13s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(f, "\n'assay COMMAND --help' shows its options and examples.\n"
               "Exit status: 0 done or same, 1 different, 2 trouble.\n");
}

/* An instruction set that is unknown, or that this machine lacks, is refused whatever is asked for:
 * who forces one wants to know that it is what runs. */
static int check_isa(void)
{
    const assay_isa_kernels *k;
    assay_error err;
    return assay_isa_choose(NULL, &k, &err) == ASSAY_OK ? CLI_PARSED : cli_failed(&err);
}

int main(int argc, char **argv)
{
    const cli_command *command;
    int words;

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
    command = find_command(argc, argv, &words);
    if (command) {
        cli_args args;
        int status = cli_parse(command, argc - 1 - words, argv + 1 + words, &args);
        if (status == CLI_PARSED)
            status = check_isa();
        if (status == CLI_PARSED)
            status = command->run(&args);
        cli_args_free(&args);
        if (status == CLI_OK && (fflush(stdout) != 0 || ferror(stdout)))
            return cli_trouble("standard output: write error");
        return status;
    }
    return cli_trouble("no command '%s'; 'assay --help' lists them", argv[1]);
}
