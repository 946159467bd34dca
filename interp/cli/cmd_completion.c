/* assay completion: scripts that complete for shells, made from the option tables. */
#include <string.h>

#include "interp/cli/cli.h"
#include "schemes/mac/scheme.h"

typedef const cli_command *const *commands; /* ends with NULL */

/* What stands in front of the second word of a command of two: "profile" of "profile merge". */
static int first_word(const cli_command *c)
{
    return (int)strcspn(c->name, " ");
}

static bool has_first_word(const cli_command *c, const char *word, int n)
{
    return first_word(c) == n && strncmp(c->name, word, (size_t)n) == 0;
}

static int count(commands all)
{
    int n = 0;
    while (all[n])
        n++;
    return n;
}

/* Whether no command before it begins with the same word. */
static bool is_first(commands all, int i)
{
    for (int k = 0; k < i; k++)
        if (has_first_word(all[k], all[i]->name, first_word(all[i])))
            return false;
    return true;
}

/* Words that may stand behind the command's first one: verbs, or the rest of names of two words. */
static void print_second_words(commands all, const cli_command *c)
{
    for (const cli_verb *v = c->verbs; v && v->name; v++)
        printf("%s ", v->name);
    for (int i = 0; all[i]; i++)
        if (has_first_word(all[i], c->name, first_word(c)) && all[i]->name[first_word(c)])
            printf("%s ", all[i]->name + first_word(c) + 1);
}

/* Whether the value is one of some words, as "multiplier|scale". */
static bool is_choice(const char *value)
{
    return value && strchr(value, '|') &&
           strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-|") == strlen(value);
}

static bool is_scheme(const cli_option *o)
{
    return strcmp(o->name, "scheme") == 0 || strcmp(o->name, "schemes") == 0 ||
           strcmp(o->name, "among") == 0;
}

static void print_presets(void)
{
    for (const char *const *name = assay_scheme_presets(); *name; name++)
        printf("%s ", *name);
    for (const char *const *name = assay_mac_schemes(); *name; name++)
        printf("%s ", *name);
}

/* ---- bash ---- */

static void bash_values(const cli_command *c)
{
    for (const cli_option *o = c->options; o->name; o++) {
        if (!is_choice(o->value))
            continue;
        printf("    \"%.*s --%s\") words='", first_word(c), c->name, o->name);
        for (const char *s = o->value; *s; s++)
            putchar(*s == '|' ? ' ' : *s);
        printf("' ;;\n");
    }
}

static void bash_options(const cli_command *c)
{
    printf("        \"%s \"*) words='", c->name);
    for (const cli_option *o = c->options; o->name; o++) {
        if (o->letter)
            printf("-%c ", o->letter);
        printf("--%s ", o->name);
    }
    printf("--help' ;;\n");
}

static int bash(commands all)
{
    printf("# bash completion of assay, made by `assay completion bash`\n_assay() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=''\n"
           "    local line=\"${COMP_WORDS[*]:1:COMP_CWORD-1} \"\n"
           "    case \"${COMP_WORDS[1]} $prev\" in\n");
    for (int i = 0; all[i]; i++)
        bash_values(all[i]);
    printf("    *\" --scheme\" | *\" -s\" | *\" --schemes\" | *\" --among\" | 'scheme show' | "
           "'scheme diff' | 'scheme try')\n"
           "        words='");
    print_presets();
    printf("' ;;\n    esac\n    if [ -z \"$words\" ] && [[ $cur == -* ]]; then\n        case "
           "\"$line\" in\n");
    for (int i = count(all) - 1; i >= 0; i--) /* names of two words follow theirs of one */
        bash_options(all[i]);
    printf("        *) words='--help --version' ;;\n        esac\n    elif [ -z \"$words\" ] && [ "
           "\"$COMP_CWORD\" = 2 ]; then\n"
           "        case ${COMP_WORDS[1]} in\n");
    for (int i = 0; all[i]; i++)
        if (is_first(all, i)) {
            printf("        %.*s) words='", first_word(all[i]), all[i]->name);
            print_second_words(all, all[i]);
            printf("' ;;\n");
        }
    printf("        esac\n    elif [ \"$COMP_CWORD\" = 1 ]; then\n        words='help ");
    for (int i = 0; all[i]; i++)
        if (is_first(all, i))
            printf("%.*s ", first_word(all[i]), all[i]->name);
    printf("'\n    fi\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}\n"
           "complete -o default -F _assay assay\n"); /* files where there is no word */
    return CLI_OK;
}

/* ---- zsh ---- */

/* A text within '...' of an _arguments specification. */
static void zsh_text(const char *s)
{
    for (; *s; s++)
        if (*s == '\'')
            printf("'\\''");
        else
            printf(strchr("[]:\\", *s) ? "\\%c" : "%c", *s);
}

static void zsh_option(const cli_option *o)
{
    printf(" \\\n        '*'");
    if (o->letter)
        printf("{-%c%s,--%s%s}", o->letter, o->value ? "+" : "", o->name, o->value ? "=" : "");
    else
        printf("--%s%s", o->name, o->value ? "=" : "");
    printf("'[");
    zsh_text(o->help);
    printf("]");
    if (o->value) {
        putchar(':');
        zsh_text(o->value);
        putchar(':');
        if (is_scheme(o))
            printf("_assay_schemes");
        else if (is_choice(o->value)) {
            putchar('(');
            for (const char *s = o->value; *s; s++)
                putchar(*s == '|' ? ' ' : *s);
            putchar(')');
        } else
            printf("_files");
    }
    putchar('\'');
}

static void zsh_command(const cli_command *c)
{
    printf("    '%s'%s)\n        _arguments -s -S", c->name, c->verbs ? "*" : "");
    for (const cli_option *o = c->options; o->name; o++)
        zsh_option(o);
    printf(" \\\n        '--help[this text]' '*:file:_files' ;;\n");
}

static int zsh(commands all)
{
    printf("#compdef assay\n# zsh completion of assay, made by `assay completion zsh`\n"
           "_assay_schemes() {\n    local -a names=(");
    print_presets();
    printf(")\n    compadd -a names\n    _files\n}\n_assay() {\n    local -a commands=(");
    for (int i = 0; all[i]; i++)
        if (is_first(all, i)) {
            printf("\n        '%.*s:", first_word(all[i]), all[i]->name);
            zsh_text(all[i]->summary);
            putchar('\'');
        }
    printf(")\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        "
           "return\n    fi\n"
           "    local name=$words[2]\n    if (( CURRENT == 3 )); then\n        case $name in\n");
    for (int i = 0; all[i]; i++)
        if (is_first(all, i)) {
            printf("        %.*s) compadd -- ", first_word(all[i]), all[i]->name);
            print_second_words(all, all[i]);
            printf(";;\n");
        }
    printf("        esac\n    fi\n    case \"$words[2] $words[3]\" in\n    ");
    for (int i = 0, n = 0; all[i]; i++)
        if (all[i]->name[first_word(all[i])])
            printf("%s'%s'", n++ ? " | " : "", all[i]->name);
    printf(") name+=\" $words[3]\"; shift words; (( CURRENT-- )) ;;\n    esac\n"
           "    shift words\n    (( CURRENT-- ))\n    case $name in\n");
    for (int i = 0; all[i]; i++)
        zsh_command(all[i]);
    printf("    esac\n}\n_assay \"$@\"\n");
    return CLI_OK;
}

static int run(const cli_args *a)
{
    const char *shell = a->positional[0];
    if (strcmp(shell, "bash") == 0)
        return bash(a->all);
    if (strcmp(shell, "zsh") == 0)
        return zsh(a->all);
    return cli_trouble("completion: there are bash and zsh, not '%s'", shell);
}

static const cli_option options[] = {{NULL, 0, NULL, NULL}};

const cli_command cli_cmd_completion = {
    .name = "completion",
    .usage = "bash|zsh",
    .summary = "print a script that completes commands, options and schemes in a shell",
    .examples = "  source <(assay completion bash)\n"
                "  assay completion zsh > ~/.zfunc/_assay\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
