/* Arguments, messages and progress of the command line. */
#include "interp/cli/args.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_trouble(const char *format, ...)
{
    va_list list;

    fflush(stdout);
    fputs("assay: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return CLI_TROUBLE;
}

int cli_failed(const assay_error *err)
{
    return cli_trouble("%s", err->text);
}

static void print_help(const cli_command *c)
{
    printf("assay %s: %s\n\nusage: assay %s %s\n", c->name, c->summary, c->name, c->usage);
    if (c->options->name)
        printf("\noptions:\n");
    for (const cli_option *o = c->options; o->name; o++) {
        char left[96];
        int n = o->letter ? snprintf(left, sizeof left, "-%c, --%s", o->letter, o->name)
                          : snprintf(left, sizeof left, "    --%s", o->name);
        if (o->value)
            snprintf(left + n, sizeof left - (size_t)n, " %s", o->value);
        printf("  %-30s %s\n", left, o->help);
    }
    printf("  %-30s %s\n", "-h, --help", "this text");
    printf("\nexamples:\n%s", c->examples);
}

static const cli_option *find_long(const cli_command *c, const char *name, size_t n)
{
    for (const cli_option *o = c->options; o->name; o++)
        if (strlen(o->name) == n && strncmp(o->name, name, n) == 0)
            return o;
    return NULL;
}

static const cli_option *find_letter(const cli_command *c, char letter)
{
    for (const cli_option *o = c->options; o->name; o++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

/* Handles argv[i]; returns how many arguments it took, or 0 after naming a fault. */
static int take(cli_args *a, int argc, char **argv, int i)
{
    const char *s = argv[i];
    const cli_option *o;
    const char *value = NULL;

    if (s[0] != '-' || s[1] == 0) {
        a->positional[a->n_positional++] = s;
        return 1;
    }
    if (s[1] == '-') {
        const char *equals = strchr(s, '=');
        o = find_long(a->command, s + 2, equals ? (size_t)(equals - s - 2) : strlen(s + 2));
        value = equals ? equals + 1 : NULL;
    } else {
        o = find_letter(a->command, s[1]);
        value = s[2] ? s + 2 : NULL;
    }
    if (!o) {
        cli_trouble("%s: no option '%s'; 'assay %s --help' lists them", a->command->name, s,
                    a->command->name);
        return 0;
    }
    if (!o->value && value) {
        cli_trouble("%s: option --%s takes no value", a->command->name, o->name);
        return 0;
    }
    if (o->value && (value ? !*value : i + 1 >= argc || !*argv[i + 1])) {
        cli_trouble("%s: option --%s needs a value: %s", a->command->name, o->name, o->value);
        return 0;
    }
    a->given[a->n_given].option = o;
    a->given[a->n_given++].value = o->value ? (value ? value : argv[i + 1]) : "";
    return o->value && !value ? 2 : 1;
}

int cli_parse(const cli_command *command, int argc, char **argv, cli_args *args)
{
    memset(args, 0, sizeof *args);
    args->command = command;
    args->positional = calloc((size_t)argc + 1, sizeof *args->positional);
    args->given = calloc((size_t)argc + 1, sizeof *args->given);
    if (!args->positional || !args->given)
        return cli_trouble("out of memory");
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(command);
            return CLI_OK;
        }
    for (int i = 0, n; i < argc; i += n) {
        n = take(args, argc, argv, i);
        if (n == 0)
            return CLI_TROUBLE;
    }
    if (command->max_args >= 0 && args->n_positional > command->max_args &&
        find_long(command, "input", strlen("input")) && cli_has(args, "input"))
        return cli_trouble(
            "%s: '%s' is one argument too many; every input file has an -i of its own: "
            "-i a.npy -i b.npy",
            command->name, args->positional[command->max_args]);
    if (args->n_positional < command->min_args ||
        (command->max_args >= 0 && args->n_positional > command->max_args))
        return cli_trouble("usage: assay %s %s", command->name, command->usage);
    return CLI_PARSED;
}

void cli_args_free(cli_args *args)
{
    free(args->positional);
    free(args->given);
}

const char *cli_value_at(const cli_args *a, const char *option, int k)
{
    for (int i = 0; i < a->n_given; i++)
        if (strcmp(a->given[i].option->name, option) == 0 && k-- == 0)
            return a->given[i].value;
    return NULL;
}

bool cli_has(const cli_args *a, const char *option)
{
    return cli_value_at(a, option, 0) != NULL;
}

const char *cli_value(const cli_args *a, const char *option, const char *fallback)
{
    const char *value = fallback;
    for (int k = 0; cli_value_at(a, option, k); k++)
        value = cli_value_at(a, option, k);
    return value;
}

bool cli_number(const cli_args *a, const char *option, double fallback, double lo, double hi,
                double *out)
{
    const char *text = cli_value(a, option, NULL);
    char *end;

    *out = fallback;
    if (!text)
        return true;
    errno = 0;
    *out = strtod(text, &end);
    if (end == text || *end || errno || !(*out >= lo && *out <= hi)) {
        cli_trouble("%s: --%s takes a number from %.15g to %.15g, not '%s'", a->command->name,
                    option, lo, hi, text);
        return false;
    }
    return true;
}

bool cli_integer(const cli_args *a, const char *option, int64_t fallback, int64_t lo, int64_t hi,
                 int64_t *out)
{
    double number;

    if (!cli_number(a, option, (double)fallback, (double)lo, (double)hi, &number))
        return false;
    *out = (int64_t)number;
    if ((double)*out != number) {
        cli_trouble("%s: --%s takes a whole number, not '%s'", a->command->name, option,
                    cli_value(a, option, ""));
        return false;
    }
    return true;
}

void cli_progress_begin(cli_progress *p, const char *what, int64_t total, bool quiet)
{
    p->what = what;
    p->total = total;
    p->done = 0;
    p->shown = 0;
    p->terminal = isatty(STDERR_FILENO) != 0;
    p->quiet = quiet || total < 2;
}

void cli_progress_step(cli_progress *p)
{
    const int64_t parts = p->terminal ? 100 : 10;
    const int64_t now = ++p->done * parts / (p->total > 0 ? p->total : 1);

    if (p->quiet || now == p->shown)
        return;
    p->shown = now;
    if (!p->terminal) {
        fprintf(stderr, "%s: %lld of %lld\n", p->what, (long long)p->done, (long long)p->total);
        return;
    }
    fprintf(stderr, "\r%s [", p->what);
    for (int i = 0; i < 40; i++)
        fputc(i < now * 40 / 100 ? '#' : ' ', stderr);
    fprintf(stderr, "] %lld/%lld", (long long)p->done, (long long)p->total);
}

void cli_progress_end(cli_progress *p)
{
    if (!p->quiet && p->terminal)
        fprintf(stderr, "\r\033[K");
}
