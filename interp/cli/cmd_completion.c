/* assay completion: scripts that complete for shells, made from the option tables. */
#include <assert.h>
#include <string.h>

#include "interp/cli/cli.h"
#include "opt/calibrate/calibrate.h"
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

#define WORDS 256 /* the longest list of values, in bytes */

/* Whether the value is one of some words, as "multiplier|scale". */
static bool is_choice(const char *value)
{
    return strchr(value, '|') &&
           strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-|") == strlen(value);
}

/* The words of a list, "a, b or c" or "a|b|c", with a blank behind each. */
static void split(const char *list, char words[WORDS])
{
    size_t used = 0;
    words[0] = 0;
    for (size_t n; *list; list += n) {
        list += strspn(list, ", |");
        n = strcspn(list, ", |");
        assert(used + n + 2 <= WORDS);
        if (n > 0 && strncmp(list, "or ", 3) != 0)
            used += (size_t)snprintf(words + used, WORDS - used, "%.*s ", (int)n, list);
    }
}

/* The calibrations that the help of an option names, and the rounding of weights. */
static void list_methods(const cli_option *o, char words[WORDS])
{
    size_t used = 0;
    words[0] = 0;
    for (int c = ASSAY_CALIBRATE_MIN_MAX; c <= ASSAY_CALIBRATE_HEADROOM; c++) {
        const char *name = calibrate_name((assay_calibration)c);
        if (strstr(o->help, name))
            used += (size_t)snprintf(words + used, WORDS - used, "%s ", name);
    }
    if (strstr(o->help, "gptq"))
        snprintf(words + used, WORDS - used, "gptq ");
}

/* The words that an option's value is chosen from, with a blank behind each; false: it is any text.
 */
static bool list_values(const cli_option *o, char words[WORDS])
{
    const char *method = o->value ? strstr(o->value, "METHOD") : NULL;
    if (o->value && is_choice(o->value))
        split(o->value, words);
    else if (method && strcmp(method, "METHOD") == 0)
        list_methods(o, words);
    else if (strcmp(o->name, "symmetry") == 0)
        split(calibrate_symmetry_names, words);
    else
        return false;
    return true;
}

/* Words that may stand behind the command's first one: verbs, the rest of names of two words, or
 * what its argument is chosen from. */
static void print_second_words(commands all, const cli_command *c)
{
    char words[WORDS];
    for (const cli_verb *v = c->verbs; v && v->name; v++)
        printf("%s ", v->name);
    for (int i = 0; all[i]; i++)
        if (has_first_word(all[i], c->name, first_word(c)) && all[i]->name[first_word(c)])
            printf("%s ", all[i]->name + first_word(c) + 1);
    if (is_choice(c->usage)) {
        split(c->usage, words);
        printf("%s", words);
    }
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
    char words[WORDS];
    for (const cli_option *o = c->options; o->name; o++)
        if (list_values(o, words))
            printf("    \"%.*s --%s\") words='%s' ;;\n", first_word(c), c->name, o->name, words);
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
    printf(
        "# bash completion of assay, made by `assay completion bash`\n_assay() {\n"
        "    local given=(\"${COMP_WORDS[@]:0:COMP_CWORD + 1}\") n=$COMP_CWORD words=''\n"
        "    local cur=${given[n]}\n"
        "    case ${given[1]} in help | manual) # what follows is a command's name\n"
        "        if ((n > 1)) && [[ $cur != -* ]]; then given=(assay \"${given[@]:2}\") n=$((n - "
        "1)); fi ;;\n"
        "    esac\n"
        "    if [[ $cur = '=' ]]; then cur='' n=$((n + 1)); fi # readline parts --option=value in "
        "three\n"
        "    local prev=${given[n - 1]}\n"
        "    if [[ $prev = '=' ]]; then prev=${given[n - 2]}; fi\n"
        "    if [[ $prev != -* && ${given[n - 1]} = '=' ]] && ((n > 3)); then\n"
        "        prev=${given[n - 3]} # --calibration PATTERN=METHOD\n"
        "        if [[ $prev = '=' ]]; then prev=${given[n - 4]}; fi\n"
        "    fi\n"
        "    local line=\"${given[*]:1:n-1} \"\n"
        "    case \"${given[1]} $prev\" in\n");
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
           "\"$n\" = 2 ]; then\n"
           "        case ${given[1]} in\n");
    for (int i = 0; all[i]; i++)
        if (is_first(all, i)) {
            printf("        %.*s) words='", first_word(all[i]), all[i]->name);
            print_second_words(all, all[i]);
            printf("' ;;\n");
        }
    printf("        esac\n    elif [ \"$n\" = 1 ]; then\n        words='help ");
    for (int i = 0; all[i]; i++)
        if (is_first(all, i))
            printf("%.*s ", first_word(all[i]), all[i]->name);
    printf("'\n    fi\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}\n"
           "complete -o default -F _assay assay\n"); /* files where there is no word */
    return CLI_OK;
}

/* ---- zsh ---- */

#define PATTERN "[PATTERN=]" /* a value may be for tensors of such a name only */

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
    char words[WORDS];
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
        else if (list_values(o, words))
            printf(strncmp(o->value, PATTERN, strlen(PATTERN)) == 0 ? "_assay_by_name %s" : "(%s)",
                   words);
        else
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
    printf(")\n    compadd -a names\n    _files\n}\n"
           "_assay_by_name() { # what may follow PATTERN=\n    compset -P '*='\n"
           "    compadd \"$@\"\n}\n_assay() {\n    local -a commands=(");
    for (int i = 0; all[i]; i++)
        if (is_first(all, i)) {
            printf("\n        '%.*s:", first_word(all[i]), all[i]->name);
            zsh_text(all[i]->summary);
            putchar('\'');
        }
    printf(
        ")\n    if [[ $words[2] == (help|manual) && $words[CURRENT] != -* ]] && (( CURRENT > 2 "
        ")); then\n        shift words # what follows is a command's name\n        (( CURRENT-- "
        "))\n    fi\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        "
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
    return cli_trouble("completion: the shell is bash or zsh, not '%s'", shell);
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
