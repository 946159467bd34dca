/* Common parts of the command line: options, progress, and the list of subcommands. */
#ifndef ASSAY_INTERP_CLI_CLI_H
#define ASSAY_INTERP_CLI_CLI_H

#include <stdio.h>

#include "interp/assay.h"
#include "interp/cli/commands.def"

/* Exit statuses: 0 done (or same), 1 different or a check that failed, 2 trouble. */
enum { CLI_OK = 0, CLI_DIFFERENT = 1, CLI_TROUBLE = 2 };

typedef struct cli_option {
    const char *name;  /* long name without dashes */
    char letter;       /* short form or 0 */
    const char *value; /* what it takes, for the help; NULL: a flag */
    const char *help;
} cli_option;

struct cli_args;

/* What a command does under a second word, as `scheme try`; it stays positional[0]. */
typedef struct cli_verb {
    const char *name;
    const char *usage;      /* after the name */
    const char *summary;    /* one line */
    const char *options;    /* the command's options that it takes, each between blanks */
    int min_args, max_args; /* positional, after the verb */
    int (*run)(const struct cli_args *args);
} cli_verb;

typedef struct cli_command {
    const char *name;
    const char *usage;                       /* "MODEL --scheme S --input FILE ... -o DIR" */
    const char *summary;                     /* one line */
    const char *examples;                    /* lines */
    const cli_option *options;               /* ends with name NULL */
    const cli_verb *verbs;                   /* ends with name NULL; NULL: it has none */
    int min_args, max_args;                  /* positional; max -1: any number */
    int (*run)(const struct cli_args *args); /* not called where there are verbs */
} cli_command;

/* Parsed arguments; strings are argv's own. */
typedef struct cli_args {
    const cli_command *command;
    const cli_verb *verb;          /* NULL where the command has none */
    const cli_command *const *all; /* all subcommands; ends with NULL */
    int n_positional;
    const char **positional;
    int n_given;
    struct cli_given {
        const cli_option *option;
        const char *value;
    } * given;
} cli_args;

bool cli_has(const cli_args *a, const char *option);
/* Last value given, or `fallback`. */
const char *cli_value(const cli_args *a, const char *option, const char *fallback);
/* The k-th value of a repeated option, or NULL. */
const char *cli_value_at(const cli_args *a, const char *option, int k);
/* A number in [lo, hi]; prints what is wrong and returns false otherwise. */
bool cli_number(const cli_args *a, const char *option, double fallback, double lo, double hi,
                double *out);
bool cli_integer(const cli_args *a, const char *option, int64_t fallback, int64_t lo, int64_t hi,
                 int64_t *out);

/* Where notes about a written file go: standard output, unless that is the file. */
FILE *cli_notes(const char *file);
/* The same for a command that may write several files, where no option reads from "-". */
FILE *cli_notes_of(const cli_args *a);

/* Prints "assay: TEXT" to stderr and returns CLI_TROUBLE. */
int cli_trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_failed(const assay_error *err);
int cli_out_of_memory(void);

/* Standard output is fitted to the terminal that it may be, from now on. */
void cli_fit_begin(void);

/* ---- progress: a bar on a terminal, a plain line every tenth otherwise; all on stderr ---- */
typedef struct cli_progress {
    const char *what;
    int64_t total, done, shown;
    double begun, drawn; /* seconds of a clock */
    bool terminal, quiet;
} cli_progress;
void cli_progress_begin(cli_progress *p, const char *what, int64_t total, bool quiet);
void cli_progress_step(cli_progress *p);           /* one more done; callers serialise */
void cli_progress_to(void *progress, size_t done); /* so many are */
void cli_progress_end(cli_progress *p);

#define CLI_DECLARE(ID) extern const cli_command cli_cmd_##ID;
CLI_COMMANDS(CLI_DECLARE)
#undef CLI_DECLARE

#endif
