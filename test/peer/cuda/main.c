/* Rows of dot products on a card's matrix units.
 *
 *   peer_cuda list             the instructions, fields between tabs: name, unit, first and last
 *                              compute capability, k, D, A, B, C, scale format, scales, PTX name
 *   peer_cuda card             the card's name, its compute capability, the driver's CUDA version;
 *                              exit 77: none here
 *   peer_cuda ptx NAME [CAPABILITY]
 *                              the kernel's text for a card, the least one where none is named
 *   peer_cuda run NAME ROWS D  the rows of the file ROWS (rows.h) on the card, results to the
 *                              file D; exit 77: no card, or a driver that does not know the
 *                              instruction yet
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "rows.h"

enum { TROUBLE = 2 };

static int list(void)
{
    for (size_t i = 0; i < n_instructions; i++) {
        const struct instruction *in = &instructions[i];
        char name[64], *mnemonic = ptx_mnemonic(in);
        instruction_name(in, name, sizeof name);
        printf("%s\t%s\t%d\t%d\t%u\t%s\t%s\t%s\t%s\t%s\t%u\t%s\n", name, in->unit, in->least,
               in->most, instruction_k(in), in->d, in->a, in->b, in->c, in->scale, in->scales,
               mnemonic);
        free(mnemonic);
    }
    return 0;
}

static int show_card(void)
{
    struct card c;
    if (!driver_is_there())
        return NO_CARD;
    if (!driver_open(&c))
        return TROUBLE;
    printf("%s\t%d\t%d.%d\n", c.name, c.capability, c.driver / 1000, c.driver % 1000 / 10);
    return 0;
}

static int show_ptx(const struct instruction *in, const char *capability)
{
    char *text = ptx_kernel(in, capability ? atoi(capability) : in->least);
    fputs(text, stdout);
    free(text);
    return 0;
}

/* Buffers hold whole blocks of rows, zeros behind the last. */
static bool put_columns(const struct rows *r, size_t padded, buffer *buffers)
{
    for (int i = 0; i < ROWS_COLUMNS; i++) {
        buffers[i] = 0;
        if (r->bytes[i] > 0 && (!driver_buffer(r->bytes[i] / r->n * padded, &buffers[i]) ||
                                !driver_put(buffers[i], r->column[i], r->bytes[i])))
            return false;
    }
    return true;
}

static bool launch(const struct instruction *in, const struct rows *r, kernel k, void *d)
{
    const size_t word = instruction_word(in);
    const unsigned each = instruction_rows(in), blocks = (r->n - 1) / each + 1;
    buffer in_rows[ROWS_COLUMNS], out;
    uint32_t steps = r->steps;
    void *arguments[] = {&in_rows[0], &in_rows[1], &in_rows[2], &out,
                         &in_rows[3], &in_rows[4], &steps};
    return put_columns(r, (size_t)blocks * each, in_rows) &&
           driver_buffer(blocks * each * word, &out) &&
           driver_run(k, blocks, instruction_threads(in), arguments) &&
           driver_get(d, out, r->n * word);
}

/* An older driver than the kernel's text needs would refuse it. */
static bool knows(const struct card *c, const struct instruction *in)
{
    const struct needs n = instruction_needs(in, c->capability);
    if (c->driver >= n.cuda)
        return true;
    fprintf(stderr, "cuda: PTX %d.%d for %s needs a driver of CUDA %d.%d, this one is of %d.%d\n",
            n.version / 10, n.version % 10, n.target, n.cuda / 1000, n.cuda % 1000 / 10,
            c->driver / 1000, c->driver % 1000 / 10);
    return false;
}

static bool compute(const struct instruction *in, const struct card *c, const struct rows *r,
                    const char *results)
{
    kernel k;
    char *ptx = ptx_kernel(in, c->capability);
    const size_t word = instruction_word(in);
    void *d = calloc(r->n, word);
    if (!d)
        abort();
    const bool good =
        driver_compile(ptx, &k) && launch(in, r, k, d) && rows_write(results, d, r->n * word);
    free(ptx);
    free(d);
    return good;
}

static int run(const struct instruction *in, const char *path, const char *results)
{
    struct rows r;
    struct card c;
    int status = TROUBLE;
    if (rows_read(path, in, &r)) {
        if (!driver_is_there())
            status = NO_CARD;
        else if (driver_open(&c))
            status = !knows(&c, in) ? NO_CARD : compute(in, &c, &r, results) ? 0 : TROUBLE;
    }
    free(r.all);
    return status;
}

int main(int argc, char **argv)
{
    const struct instruction *in = argc > 2 ? instruction_named(argv[2]) : NULL;
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list();
    if (argc == 2 && strcmp(argv[1], "card") == 0)
        return show_card();
    if (argc > 2 && !in) {
        fprintf(stderr, "cuda: no instruction '%s'; `list` shows them\n", argv[2]);
        return TROUBLE;
    }
    if ((argc == 3 || argc == 4) && strcmp(argv[1], "ptx") == 0)
        return show_ptx(in, argv[3]);
    if (argc == 5 && strcmp(argv[1], "run") == 0)
        return run(in, argv[3], argv[4]);
    fprintf(stderr, "usage: peer_cuda list | card | ptx NAME [CAPABILITY] | run NAME ROWS D\n");
    return TROUBLE;
}
