/* Tables that are filled by running a scheme; see explain.h. */
#include <assert.h>

#include "schemes/explain/explain.h"

#include <inttypes.h>
#include <math.h>

static assay_elem output_type(const assay_record *rec)
{
    return (assay_elem){ASSAY_KIND_INT, (uint8_t)rec->types.activation_bits,
                        rec->types.activation_signed != 0};
}

/* Unsigned codes are shown around the middle of their range. */
static int64_t middle_of(const assay_record *rec)
{
    assert(rec->types.activation_bits >= 1 && rec->types.activation_bits <= 16);
    return rec->types.activation_signed || rec->types.activation_zero_point == ASSAY_ZERO_POINT_NONE
               ? 0
               : INT64_C(1) << (rec->types.activation_bits - 1);
}

/* One rescale; false with the reason when the target refuses. */
static bool one(assay_single *o, double real, int64_t zero, int64_t acc, int64_t *code, char *why,
                size_t size)
{
    const assay_batch b = {
        .n = 1, .type = output_type(&o->rec), .scale = &real, .zero_point = &zero};
    if (!assay_single_set(o, &b, 0, why, size))
        return false;
    return assay_single_code(o, acc, true, code, why, size);
}

assay_status assay_explain_rounding(FILE *f, const assay_scheme *s, const char *op, unsigned form,
                                    assay_error *err)
{
    static const double values[] = {-2.5, -1.5, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.5, 2.5};
    enum { N = sizeof values / sizeof *values };
    char why[256];
    assay_single o;
    assay_status status = assay_single_start(&o, s, op, form, err);
    if (status)
        return status;
    int64_t middle = middle_of(&o.rec);
    bool zero_points = o.rec.types.activation_zero_point == ASSAY_ZERO_POINT_ANY;
    fprintf(f, "  %-24s", "value");
    for (int i = 0; i < N; i++)
        fprintf(f, "%7g", values[i]);
    fprintf(f, "\n");
    for (int shift = 1; shift <= 3; shift++)
        for (int64_t odd = 0; odd <= zero_points; odd++) {
            char label[48];
            snprintf(label, sizeof label, "R = 1/%d%s", 1 << shift, odd ? ", zero point odd" : "");
            fprintf(f, "  %-24s", label);
            for (int i = 0; i < N; i++) {
                double acc = ldexp(values[i], shift);
                int64_t code;
                if (acc != floor(acc))
                    fprintf(f, "%7s", ".");
                else if (one(&o, ldexp(1, -shift), middle + odd, (int64_t)acc, &code, why,
                             sizeof why))
                    fprintf(f, "%7" PRId64, code - middle - odd);
                else
                    fprintf(f, "%7s", "-");
            }
            fprintf(f, "\n");
        }
    return ASSAY_OK;
}

/* Ties, double roundings, float32 products that make ties, large accumulators, saturation. */
static const struct {
    int64_t acc;
    double real;
    int zero;
} examples[32] = {
    {1, 0.5, 0},
    {-1, 0.5, 0},
    {-2, 0.25, 0},
    {1, 0.25, 0},
    {-1, 0.25, 0},
    {-6, 0.25, 0},
    {10, 0.25, 0},
    {-10, 0.25, 0},
    {14, 0.25, 0},
    {2, 0.25, 1},
    {6, 0.25, 1},
    {-2, 0.25, 1},
    {-6, 0.25, -3},
    {300, 0.5, 0},
    {-1000, 0.5, 0},
    {1000, 0.03125, 0},
    {1, 0.3f, 0},
    {-1, 0.3f, 0},
    {5, 0.1f, 0},
    {15, 0.3f, 0},
    {-15, 0.3f, 0},
    {135, 0.0037f, 0},
    {128, 0.0117f, 0},
    {5000, 0.0037f, 0},
    {5000, 0.0117f, 1},
    {6028, 0.00406430103f, 0},
    {-6028, 0.00406430103f, 0},
    {12345, 0.00406430103f, -5},
    {26000, 0.0037f, 0},
    {33816577, 1.90734863e-06f, 0},
    {1090, 0.1f, 0},
    {268435456, 4, 0},
};

static void print_example(FILE *f, assay_single *o, int64_t acc, double real, int64_t zero)
{
    char why[256];
    int64_t code;
    bool pow2 = o->rec.types.power_of_two_scales != 0;
    real = pow2 ? exp2(round(log2(real))) : real;
    fprintf(f, "  %10" PRId64 " %-13.9g %4" PRId64 " %10.4f", acc, real, zero, (double)acc * real);
    if (!one(o, real, zero, acc, &code, why, sizeof why)) {
        fprintf(f, "  refused: %s\n", why);
        return;
    }
    fprintf(f, "  %5" PRId64, code);
    const assay_encoded *e = &o->encoded;
    if (assay_single_is_float(o) || o->rec.rescale.encoding == ASSAY_ENCODE_THRESHOLDS)
        fprintf(f, "\n");
    else
        fprintf(f, "  (%" PRId64 ", %" PRId64 ")%s\n", e->multiplier,
                derive_shift_to_target(&o->rec.rescale, e->shift) - e->pre,
                e->pre > 0 ? " after the pre-shift" : "");
}

assay_status assay_explain_examples(FILE *f, const assay_scheme *s, const char *op, unsigned form,
                                    assay_error *err)
{
    assay_single o;
    assay_status status = assay_single_start(&o, s, op, form, err);
    if (status)
        return status;
    bool any = o.rec.types.activation_zero_point == ASSAY_ZERO_POINT_ANY;
    fprintf(f, "  %10s %-13s %4s %10s  %5s  %s\n", "acc", "R", "zero", "acc * R", "code",
            "(multiplier, shift)");
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        print_example(f, &o, examples[i].acc, examples[i].real,
                      any ? examples[i].zero + middle_of(&o.rec) : middle_of(&o.rec));
    return ASSAY_OK;
}
