/* Arguments and messages of the command line. */
#include "interp/cli/args.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/record/guess.h"

enum { MAX_OPTIONS = 64 }; /* of a command */

FILE *cli_notes_of(const cli_args *a)
{
    for (int i = 0; i < a->n_given; i++)
        if (a->given[i].value && strcmp(a->given[i].value, "-") == 0)
            return stderr;
    return stdout;
}

FILE *cli_notes(const char *file)
{
    return file && strcmp(file, "-") == 0 ? stderr : stdout;
}

int cli_trouble(const char *format, ...)
{
    assay_error err;
    char text[sizeof err.text];
    va_list list;

    va_start(list, format);
    vsnprintf(err.text, sizeof err.text, format, list);
    va_end(list);
    cli_name_options(err.text, text, sizeof text);
    assay_fail(&err, ASSAY_ERR_INPUT, "%s", text); /* one line, whatever an argument holds */
    fflush(stdout);
    fprintf(stderr, "assay: %s\n", err.text);
    return CLI_TROUBLE;
}

int cli_failed(const assay_error *err)
{
    return cli_trouble("%s", err->text);
}

int cli_out_of_memory(void)
{
    return cli_trouble("out of memory");
}

static const cli_verb *find_verb(const cli_command *c, const char *name)
{
    for (const cli_verb *v = c->verbs; v && v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

/* Is it an option of the command and, where a verb is given, one that this takes? */
static bool takes(const cli_verb *v, const char *option)
{
    char name[64];
    snprintf(name, sizeof name, " %s ", option);
    return !v || strstr(v->options, name);
}

/* All examples, or those of one verb. */
static void print_examples(const cli_command *c, const cli_verb *v)
{
    char start[64];
    snprintf(start, sizeof start, "  assay %s %s ", c->name, v ? v->name : "");
    printf("\nexamples:\n");
    for (const char *s = c->examples; *s; s += strcspn(s, "\n") + 1)
        if (!v || strncmp(s, start, strlen(start)) == 0)
            printf("%.*s\n", (int)strcspn(s, "\n"), s);
}

static void print_verbs(const cli_command *c)
{
    printf("\nverbs ('assay %s VERB --help' shows what one takes):\n", c->name);
    for (const cli_verb *v = c->verbs; v->name; v++)
        printf("  %-13s %s\n", v->name, v->summary);
}

static void print_help(const cli_command *c, const cli_verb *v)
{
    char name[64];
    snprintf(name, sizeof name, v ? "%s %s" : "%s", c->name, v ? v->name : "");
    printf("assay %s: %s\n\nusage: assay %s %s\n", name, v ? v->summary : c->summary, name,
           v ? v->usage : c->usage);
    if (c->verbs && !v)
        print_verbs(c);
    printf("\noptions:\n");
    for (const cli_option *o = c->options; o->name; o++) {
        char left[96];
        if (!takes(v, o->name))
            continue;
        int n = o->letter ? snprintf(left, sizeof left, "-%c, --%s", o->letter, o->name)
                          : snprintf(left, sizeof left, "    --%s", o->name);
        if (o->value)
            snprintf(left + n, sizeof left - (size_t)n, " %s", o->value);
        if (strlen(left) >= 30)
            printf("  %s\n%33s%s\n", left, "", o->help);
        else
            printf("  %-30s %s\n", left, o->help);
    }
    printf("  %-30s %s\n", "-h, --help", "this text");
    print_examples(c, v);
}

static bool is_name(const char *name, const char *given, size_t n)
{
    return strlen(name) == n && strncmp(name, given, n) == 0;
}

/* An option by the name that it has, or had. */
static const cli_option *find_long(const cli_command *c, const char *name, size_t n)
{
    /* Old spellings, for every command that has the option; the help names none. */
    static const struct {
        const char *alias, *name;
    } aliases[] = {{"schema", "symmetry"}, {"chooser", "qparams-method"}};

    for (const cli_option *o = c->options; o->name; o++)
        if (is_name(o->name, name, n))
            return o;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (is_name(aliases[i].alias, name, n))
            return find_long(c, aliases[i].name, strlen(aliases[i].name));
    return NULL;
}

static const cli_option *find_letter(const cli_command *c, char letter)
{
    for (const cli_option *o = c->options; o->name; o++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

/* Names the option that there is not, and the one that was probably meant. */
static void no_option(const cli_command *c, const cli_verb *v, const char *given)
{
    char name[64], words[ASSAY_GUESS_WORDS];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "="), given);
    assay_guess g = ASSAY_GUESS(name);
    char(*dashed)[64] = calloc(MAX_OPTIONS, sizeof *dashed);
    int n = 0;
    assay_guess_consider(&g, "--help");
    for (const cli_option *o = c->options; dashed && o->name && n < MAX_OPTIONS; o++)
        if (takes(v, o->name)) {
            snprintf(dashed[n], sizeof *dashed, "--%s", o->name);
            assay_guess_consider(&g, dashed[n++]);
        }
    cli_trouble("%s%s%s: no option '%s'%s; 'assay %s%s%s --help' lists them", c->name, v ? " " : "",
                v ? v->name : "", name, assay_guess_words(&g, words), c->name, v ? " " : "",
                v ? v->name : "");
    free(dashed);
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
        no_option(a->command, a->verb, s);
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

/* --help and --version may stand anywhere. */
static bool asks(const cli_command *c, const char *word, const char *name, char letter)
{
    if (word[0] != '-' || (word[1] != '-' && word[2] != 0))
        return false;
    return word[1] == '-' ? strcmp(word + 2, name) == 0
                          : word[1] == letter && !find_letter(c, letter);
}

static bool answer(const cli_args *a, int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (asks(a->command, argv[i], "help", 'h')) {
            print_help(a->command, a->verb);
            return true;
        }
    for (int i = 0; i < argc; i++)
        if (asks(a->command, argv[i], "version", 'V')) {
            printf("assay %s\n", ASSAY_VERSION);
            return true;
        }
    return false;
}

static int check_count(const cli_args *a)
{
    const cli_command *c = a->command;

    if (c->max_args >= 0 && a->n_positional > c->max_args &&
        find_long(c, "input", strlen("input")) && cli_has(a, "input"))
        return cli_trouble(
            "%s: '%s' is one argument too many; give each input file an -i of its own: "
            "-i a.npy -i b.npy",
            c->name, a->positional[c->max_args]);
    if (c->max_args >= 0 && a->n_positional > c->max_args)
        return cli_trouble("%s: '%s' is one argument too many; usage: assay %s %s", c->name,
                           a->positional[c->max_args], c->name, c->usage);
    if (a->n_positional < c->min_args)
        return cli_trouble("usage: assay %s %s", c->name, c->usage);
    return CLI_PARSED;
}

static int no_verb(const cli_command *c, const char *given)
{
    assay_guess g = ASSAY_GUESS(given);
    char words[ASSAY_GUESS_WORDS];

    for (const cli_verb *v = c->verbs; v->name; v++)
        assay_guess_consider(&g, v->name);
    return cli_trouble("no verb '%s %s'%s; 'assay %s --help' lists them", c->name, given,
                       assay_guess_words(&g, words), c->name);
}

/* How many names the verb takes and which options. */
static int check_verb(const cli_args *a)
{
    const cli_command *c = a->command;
    const cli_verb *v = a->verb;
    const int names = a->n_positional - 1;

    if (names > v->max_args)
        return cli_trouble("%s %s: '%s' is one argument too many; usage: assay %s %s%s%s", c->name,
                           v->name, a->positional[v->max_args + 1], c->name, v->name,
                           *v->usage ? " " : "", v->usage);
    if (names < v->min_args)
        return cli_trouble("usage: assay %s %s%s%s", c->name, v->name, *v->usage ? " " : "",
                           v->usage);
    for (int k = 0; k < a->n_given; k++)
        if (!takes(v, a->given[k].option->name)) {
            char given[64];
            snprintf(given, sizeof given, "--%s", a->given[k].option->name);
            no_option(c, v, given);
            return CLI_TROUBLE;
        }
    return CLI_PARSED;
}

/* No option reads from "-", and two that write there would mix. */
static int check_streams(const cli_args *a)
{
    const char *first = NULL;
    for (int i = 0; i < a->n_given; i++) {
        const char *name = a->given[i].option->name;
        if (!a->given[i].value || strcmp(a->given[i].value, "-") != 0)
            continue;
        if (first && strcmp(first, name) != 0)
            return cli_trouble("%s: --%s and --%s both write to standard output", a->command->name,
                               first, name);
        first = name;
    }
    return CLI_PARSED;
}

int cli_parse(const cli_command *command, int argc, char **argv, cli_args *args)
{
    memset(args, 0, sizeof *args);
    args->command = command;
    args->verb = argc > 0 ? find_verb(command, argv[0]) : NULL;
    args->positional = calloc((size_t)argc + 1, sizeof *args->positional);
    args->given = calloc((size_t)argc + 1, sizeof *args->given);
    if (!args->positional || !args->given)
        return cli_out_of_memory();
    if (command->verbs && argc > 0 && argv[0][0] != '-' && !args->verb)
        return no_verb(command, argv[0]);
    if (answer(args, argc, argv))
        return CLI_OK;
    if (command->verbs && !args->verb)
        return cli_trouble("%s: the verb comes first; 'assay %s --help' lists them", command->name,
                           command->name);
    for (int i = 0, n; i < argc; i += n) {
        n = take(args, argc, argv, i);
        if (n == 0)
            return CLI_TROUBLE;
    }
    const int status = check_streams(args);
    return status != CLI_PARSED ? status : command->verbs ? check_verb(args) : check_count(args);
}

int cli_execute(const cli_args *args)
{
    return args->verb ? args->verb->run(args) : args->command->run(args);
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
