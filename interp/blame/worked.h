/* One element of a blamed node, worked through twice: as the golden scheme computes it of the
 * device's inputs, and under the cause. */
#ifndef ASSAY_INTERP_BLAME_WORKED_H
#define ASSAY_INTERP_BLAME_WORKED_H

#include "interp/blame/blame.h"
#include "interp/explain/explain.h"

/* Another value of a parameter of the record, with which this element is as the device has it. */
typedef struct blame_counterfactual {
    char class[BLAME_CLASS];
    char detail[BLAME_DETAIL];
} blame_counterfactual;

typedef struct blame_worked {
    int row, sample; /* the sample by its place in the bundle */
    int64_t element;
    bool observed;          /* by the device */
    int64_t golden, device; /* values in the dumps: codes, or bits of floats */
    explain_trace trace;
    const blame_fault *fault; /* whose cause `under` shows; NULL: none */
    explain_trace under;
    explain_pair *pair; /* of trace and under */
    int n_pairs, parts; /* the first pair that is not equal; -1: all are */
    blame_counterfactual *other;
    int n_other, tried; /* how many values were */
} blame_worked;

/* element -1: the first of which the device and the replay differ. sample: its number in the
 * bundle, -1: the first that has such an element, or the first at all. ASSAY_ERR_INPUT where there
 * is none of these. Whatever is returned, *w is to be freed by blame_worked_free. */
assay_status blame_work(const blame_report *r, int row, int64_t sample, int64_t element,
                        blame_worked *w, assay_error *err);
void blame_worked_free(blame_worked *w);

/* "conv1[0,3,5,7]": the row, and the element or -1 where none is named. */
assay_status blame_parse_element(const blame_report *r, const char *text, int *row,
                                 int64_t *element, assay_error *err);

void blame_worked_print(const blame_report *r, const blame_worked *w, FILE *f);
json_t *blame_worked_json(const blame_report *r, const blame_worked *w);
#endif
