/* assay manual: the manual pages, from the option tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/files/files.h"
#include "interp/cli/cli.h"
#include "schemes/record/guess.h"

/* n bytes as roff: neither escapes nor requests; lines stay lines. */
static void put(FILE *f, const char *s, size_t n)
{
    bool start = true;
    for (size_t i = 0; i < n; i++) {
        if (start && (s[i] == '.' || s[i] == '\''))
            fputs("\\&", f);
        if (s[i] == '\\')
            fputs("\\e", f);
        else if (s[i] == '-')
            fputs("\\-", f);
        else
            fputc(s[i], f);
        start = s[i] == '\n';
    }
}

static void put_text(FILE *f, const char *s)
{
    put(f, s, strlen(s));
}

/* "assay-profile-merge": the page's name. */
static void page_name(const cli_command *c, char name[64])
{
    snprintf(name, 64, c ? "assay-%s" : "assay", c ? c->name : "");
    for (char *s = name; *s; s++)
        if (*s == ' ')
            *s = '-';
}

static void put_head(FILE *f, const cli_command *c, const char *summary)
{
    char name[64];
    page_name(c, name);
    fputs(".TH ", f);
    for (const char *s = name; *s; s++)
        fputc(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s, f);
    fprintf(f, " 1 \"\" \"assay %s\" \"Assay\"\n.SH NAME\n", ASSAY_VERSION);
    put_text(f, name);
    fputs(" \\- ", f);
    put_text(f, summary);
    fputc('\n', f);
}

static void put_option(FILE *f, const cli_option *o)
{
    fputs(".TP\n", f);
    if (o->letter)
        fprintf(f, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", f);
    put_text(f, o->name);
    fputs("\\fR", f);
    if (o->value) {
        fputs(" \\fI", f);
        put_text(f, o->value);
        fputs("\\fR", f);
    }
    fputc('\n', f);
    put_text(f, o->help);
    fputc('\n', f);
}

static void put_synopsis(FILE *f, const cli_command *c)
{
    fputs(".SH SYNOPSIS\n", f);
    fprintf(f, ".B assay %s\n", c->name);
    put_text(f, c->usage);
    fputc('\n', f);
    if (c->verbs)
        fputs(".SH VERBS\n", f);
    for (const cli_verb *v = c->verbs; v && v->name; v++) {
        fprintf(f, ".TP\n\\fB%s\\fR ", v->name);
        put_text(f, v->usage);
        fputc('\n', f);
        put_text(f, v->summary);
        fputs(".\n", f);
        if (strspn(v->options, " ") < strlen(v->options)) {
            fputs("Options:", f);
            put_text(f, v->options);
            fputc('\n', f);
        }
    }
}

static void put_status(FILE *f)
{
    fputs(".SH EXIT STATUS\n0 done or same, 1 different or a check that failed, 2 trouble: one "
          "line on "
          "standard error says which.\n.SH SEE ALSO\n",
          f);
}

static void put_command(FILE *f, const void *what)
{
    const cli_command *c = what;
    const cli_option help = {"help", 'h', NULL, "these options and examples"};

    put_head(f, c, c->summary);
    put_synopsis(f, c);
    fputs(".SH OPTIONS\n", f);
    for (const cli_option *o = c->options; o->name; o++)
        put_option(f, o);
    put_option(f, &help);
    fputs(".SH EXAMPLES\n.nf\n", f);
    put_text(f, c->examples);
    fputs(".fi\n", f);
    put_status(f);
    fputs(".BR assay (1)\n", f);
}

static void put_all(FILE *f, const void *what)
{
    const cli_command *const *all = what;
    char name[64];
    put_head(f, NULL, "a reference interpreter for quantized neural networks");
    fputs(".SH SYNOPSIS\n.B assay\n\\fICOMMAND\\fR ...\n.SH DESCRIPTION\nGiven a model and a "
          "scheme, a "
          "description of a target's arithmetic, it computes in integers the bits that the "
          "hardware must produce, and says where a device differs.\n.SH COMMANDS\n",
          f);
    for (int i = 0; all[i]; i++) {
        page_name(all[i], name);
        fputs(".TP\n.BR ", f);
        put_text(f, name);
        fputs(" (1)\n", f);
        put_text(f, all[i]->summary);
        fputc('\n', f);
    }
    fputs(
        ".SH ENVIRONMENT\n.TP\n.B ASSAY_ISA\nportable, avx2 or vnni: the instructions of the fast "
        "engine, instead of the best available.\n",
        f);
    put_status(f);
    for (int i = 0; all[i]; i++) {
        page_name(all[i], name);
        fputs(".BR ", f);
        put_text(f, name);
        fputs(" (1),\n", f);
    }
    fputs(".BR assay\\-schemes (7),\n.BR assay\\-bundles (7),\n.BR assay\\-probing (7)\n", f);
}

static int write_page(const char *dir, const cli_command *c, void (*put_page)(FILE *, const void *),
                      const void *what)
{
    char name[64], path[4096];
    assay_error err;
    page_name(c, name);
    if (snprintf(path, sizeof path, "%s/%s.1", dir, name) >= (int)sizeof path)
        return cli_trouble("manual: the folder's name is too long");
    return file_print(path, put_page, what, &err) ? cli_failed(&err) : CLI_OK;
}

static int write_pages(const char *dir, const cli_command *const *all)
{
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return cli_trouble("%s: %s", dir, strerror(errno));
    int status = write_page(dir, NULL, put_all, all);
    for (int i = 0; all[i] && status == CLI_OK; i++)
        status = write_page(dir, all[i], put_command, all[i]);
    return status;
}

static int run(const cli_args *a)
{
    const char *dir = cli_value(a, "output", NULL);
    char name[64] = "";

    if (dir && a->n_positional > 0)
        return cli_trouble("manual: --output writes all pages; give it no COMMAND");
    if (dir)
        return write_pages(dir, a->all);
    for (int i = 0; i < a->n_positional; i++)
        snprintf(name + strlen(name), sizeof name - strlen(name), "%s%.30s", i ? " " : "",
                 a->positional[i]);
    if (!name[0])
        put_all(stdout, a->all);
    for (int i = 0; name[0] && a->all[i]; i++)
        if (strcmp(a->all[i]->name, name) == 0) {
            put_command(stdout, a->all[i]);
            return CLI_OK;
        }
    if (!name[0])
        return CLI_OK;
    char words[ASSAY_GUESS_WORDS];
    assay_guess g = ASSAY_GUESS(name);
    for (int i = 0; a->all[i]; i++)
        assay_guess_consider(&g, a->all[i]->name);
    return cli_trouble("manual: no command '%s'%s", name, assay_guess_words(&g, words));
}

static const cli_option options[] = {
    {"output", 'o', "DIR", "all pages into a folder, as files for man"}, {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_manual = {
    .name = "manual",
    .usage = "[COMMAND] | -o DIR",
    .summary = "print the manual page of a command, for man",
    .examples = "  assay manual golden | man -l -\n"
                "  assay manual -o man1\n",
    .options = options,
    .min_args = 0,
    .max_args = 2,
    .run = run,
};
