/* assay: one command, its subcommands each in a file of its own. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interp/cli/args.h"
#include "interp/fast/isa.h"
#include "schemes/record/guess.h"

static const cli_command *const commands[] = {
#define ROW(ID) &cli_cmd_##ID,
    CLI_COMMANDS(ROW)
#undef ROW
        NULL};
enum { N_COMMANDS = sizeof commands / sizeof *commands - 1 };

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
    fprintf(
        f,
        "\n'assay COMMAND --help' shows its options and examples, as does 'assay help COMMAND'.\n"
        "Exit status: 0 done or same, 1 different, 2 trouble.\n");
}

/* An instruction set that is unknown, or that this machine lacks, is refused whatever is asked for:
 * who forces one wants to know that it is what runs. */
static int check_isa(void)
{
    const assay_isa_kernels *k;
    assay_error err;
    return !fast_isa_choose(NULL, &k, &err) ? CLI_PARSED : cli_failed(&err);
}

static int no_command(const char *name)
{
    char words[ASSAY_GUESS_WORDS];
    assay_guess g = ASSAY_GUESS(name);

    assay_guess_consider(&g, "--help");
    assay_guess_consider(&g, "--version");
    for (int i = 0; i < N_COMMANDS; i++)
        assay_guess_consider(&g, commands[i]->name);
    return cli_trouble("no command '%s'%s; 'assay --help' lists them", name,
                       assay_guess_words(&g, words));
}

/* The second word of a command that is near to `word`, as "profile show" is to "profile shw", where
 * no file is meant; or NULL. */
static const char *second_word(const cli_command *c, const char *word)
{
    const size_t n = strlen(c->name);
    assay_guess g = ASSAY_GUESS(word);

    for (int i = 0; i < N_COMMANDS; i++)
        if (strncmp(commands[i]->name, c->name, n) == 0 && commands[i]->name[n] == ' ')
            assay_guess_consider(&g, commands[i]->name + n + 1);
    return access(word, F_OK) == 0 ? NULL : assay_guess_near(&g);
}

/* argv[1] is a command's first word. */
static int dispatch(int argc, char **argv)
{
    int words;
    const cli_command *command = find_command(argc, argv, &words);
    if (!command)
        return no_command(argv[1]);
    const char *meant = argc > 1 + words ? second_word(command, argv[1 + words]) : NULL;
    if (meant)
        return cli_trouble("no command '%s %s'; nearest: %s %s", command->name, argv[1 + words],
                           command->name, meant);
    cli_args args;
    int status = cli_parse(command, argc - 1 - words, argv + 1 + words, &args);
    args.all = commands;
    if (status == CLI_PARSED)
        status = check_isa();
    if (status == CLI_PARSED)
        status = cli_execute(&args);
    cli_args_free(&args);
    return status;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

/* "help COMMAND ..." is "COMMAND ... --help". */
static int run(int argc, char **argv)
{
    static char asked[] = "--help";

    if (is_one_of(argv[1], "--version", "-V", "version")) {
        printf("assay %s\n", ASSAY_VERSION);
        return CLI_OK;
    }
    if (!is_one_of(argv[1], "--help", "-h", "help"))
        return dispatch(argc, argv);
    if (argc == 2) {
        help(stdout);
        return CLI_OK;
    }
    for (int i = 1; i < argc - 1; i++)
        argv[i] = argv[i + 1];
    argv[argc - 1] = asked;
    return dispatch(argc, argv);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return CLI_TROUBLE;
    }
    cli_fit_begin();
    const int status = run(argc, argv);
    if (status != CLI_TROUBLE && (fflush(stdout) != 0 || ferror(stdout)))
        return cli_trouble("standard output: write error");
    return status;
}
