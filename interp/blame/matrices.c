/* Hypotheses over how the operands of a product of matrices are read, and over constants of one
 * value a channel beside the data: slopes, gains, offsets. */
#include <string.h>

#include "interp/blame/families.h"

/* ---- matrices ---- */

enum { TRANSPOSED, TRANSPOSED_BACK, FIRST_BATCH, BATCH_BEFORE, BATCH_BEHIND, READINGS };

int blame_matrix_count(blame_search *s)
{
    return s->n->op == ASSAY_OP_MATMUL ? 2 * READINGS : 0;
}

/* Which element of its batch is read for element k of a matrix of these rows and columns. */
static int64_t place_of(int reading, int64_t k, int64_t rows, int64_t columns)
{
    return reading == TRANSPOSED        ? k % rows * columns + k / rows
           : reading == TRANSPOSED_BACK ? k % columns * rows + k / columns
                                        : k;
}

/* Which batch is read for batch b of n. */
static int64_t batch_of(int reading, int64_t b, int64_t n)
{
    return reading == FIRST_BATCH                 ? 0
           : reading == BATCH_BEFORE && b > 0     ? b - 1
           : reading == BATCH_BEHIND && b + 1 < n ? b + 1
                                                  : b;
}

bool blame_matrix_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    static const char *const words[READINGS] = {
        "its rows stored as columns", "its columns stored as rows", "the first batch's in each",
        "that of the batch before", "that of the batch behind"};
    const int operand = i / READINGS, reading = i % READINGS;
    const assay_type *t = &c->in[operand];
    const int64_t rows = t->dim[t->rank - 2], columns = t->dim[t->rank - 1];
    const int64_t all = assay_shape_count(t), n = all / (rows * columns);
    int32_t *from = blame_codes_of(c, operand), *to = blame_codes_of(c, operand);
    (void)s;
    if (!from || !to || (reading >= FIRST_BATCH && n < 2))
        return false;
    for (int64_t e = 0; e < all; e++)
        to[e] = from[batch_of(reading, e / (rows * columns), n) * rows * columns +
                     place_of(reading, e % (rows * columns), rows, columns)];
    blame_tell(story,
               reading >= FIRST_BATCH ? "weights.stale"
               : c->constant[operand] ? "weights.layout"
                                      : "operands.swapped",
               1, "operand %d: %s", operand, words[reading]);
    return blame_set_codes(c, operand, t, to);
}

/* ---- a value a channel ---- */

static const int offsets[] = {1, -1, 2, -2, 4, -4, 8, -8};
enum { N_OFFSETS = sizeof offsets / sizeof *offsets, FIRST = N_OFFSETS, REVERSED, NONE, VALUES };

static bool holds_values(const blame_search *s, int input)
{
    const unsigned traits = assay_op_get(s->n->op)->traits;
    const assay_type *t = blame_input_type(s, input);
    return traits & (ASSAY_T_BINARY | ASSAY_T_ROWWISE) && blame_constant_of(s, input) &&
           t->elem.kind == ASSAY_KIND_INT && t->elem.bits <= 32 && assay_shape_count(t) > 1;
}

int blame_values_count(blame_search *s)
{
    int last = 0;
    for (int i = 0; i < s->n->n_in && i < BLAME_IN; i++)
        last = holds_values(s, i) ? i + 1 : last;
    return last * VALUES;
}

/* Whether the constant is added, else it multiplies. */
static bool is_added(const blame_case *c, int input)
{
    return c->op == ASSAY_OP_ADD || c->op == ASSAY_OP_SUB || input == 2;
}

bool blame_values_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int input = i / VALUES, what = i % VALUES;
    const int64_t n = assay_shape_count(&c->in[input]);
    if (!holds_values(s, input))
        return false;
    const char *class = is_added(c, input) ? what == NONE ? "bias.missing" : "bias.channel"
                        : what == NONE     ? "weights.stale"
                                           : "rescale.channel";
    int32_t *from = blame_codes_of(c, input), *to = blame_codes_of(c, input);
    if (!from || !to)
        return false;
    for (int64_t k = 0; k < n; k++)
        to[k] = what < N_OFFSETS   ? from[((k + offsets[what]) % n + n) % n]
                : what == FIRST    ? from[0]
                : what == REVERSED ? from[n - 1 - k]
                                   : 0;
    if (what < N_OFFSETS)
        blame_tell(story, class, 1, "values of operand %d moved by %d", input, offsets[what]);
    else
        blame_tell(story, class, 1, "%s of operand %d",
                   what == FIRST      ? "the first value"
                   : what == REVERSED ? "values in reverse order"
                                      : "no values",
                   input);
    return blame_set_codes(c, input, &c->in[input], to);
}
