/* Values for the parameters of matrix units, and their dots; see mac_values.h. */
#include "test/support/mac_values.h"

#include <stdio.h>
#include <string.h>

#include "schemes/mac/formats.h"
#include "schemes/mac/mac.h"
#include "schemes/mac/scale.h"
#include "test/support/support.h"

size_t test_mac_values(const assay_mac_parameter *p, int64_t now, int64_t v[64])
{
    char text[1024];
    size_t n = 0;
    const bool is_mode = p->kind == ASSAY_MAC_MODE || p->kind == ASSAY_MAC_MODE_OR_NONE;
    const bool is_number = p->kind == ASSAY_MAC_INT || p->kind == ASSAY_MAC_INT_OR_NONE;
    const int count = p->kind == ASSAY_MAC_FORMAT ? ASSAY_MAC_FORMATS
                      : is_mode                   ? ASSAY_ROUND_COUNT
                                                  : 0;
    for (int i = 0; i < count; i++)
        v[n++] = i;
    snprintf(text, sizeof text, "%s", mac_expected(p, (char[1024]){""}, sizeof text));
    for (char *word = strtok(text, " ,;:'|()"); word && n < 56; word = strtok(NULL, " ,;:'|()"))
        n += mac_parse(p, word, &v[n]);
    const int64_t near = now == ASSAY_MAC_NONE ? p->min : now;
    const int64_t numbers[] = {p->min, p->min + 1, near - 1, near + 1, 2 * near, p->max};
    for (size_t i = 0; is_number && i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] >= p->min && numbers[i] <= p->max)
            v[n++] = numbers[i];
    return n;
}

uint32_t test_mac_dot(const assay_mac *m, const assay_mac_rows *row)
{
    uint64_t d = 0;
    assay_error err;
    assert_ok(mac_dots(m, 1, row, &d, &err), &err);
    return mac_to_f32((enum assay_mac_format)m->out, (uint32_t)d);
}
