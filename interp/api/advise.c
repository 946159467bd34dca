/* Advice where images are not what a network takes: what preprocess.yaml could say. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "interp/api/data.h"

/* Height, width and channels of samples [h, w, 1 or 3], as of PNGs, or of what preprocessing made
 * planes of; false when they are no such. */
static bool is_image(const assay_sample_type *t, int64_t image[3])
{
    int first = 0;
    while (first < t->rank - 3 && t->shape[first] == 1)
        first++;
    if (t->rank - first != 3)
        return false;
    for (int d = 0; d < 3; d++)
        image[d] = t->shape[first + (t->planar ? (d + 1) % 3 : d)];
    return image[2] == 1 || image[2] == 3;
}

/* What makes elements of type t those of the input, as ", KEY: VALUE"; "" where nothing is needed.
 */
static const char *advise_element(const assay_sample_type *t, assay_elem e)
{
    if (e.kind == ASSAY_KIND_F32 && t->type != ASSAY_NPY_F4)
        return t->type == ASSAY_NPY_U2 ? ", scale: 1/65535" : ", scale: 1/255";
    const bool codes = e.kind == ASSAY_KIND_INT && e.bits == 8 && e.is_signed;
    return codes && t->type == ASSAY_NPY_U1 ? ", dtype: i8" : "";
}

/* "KEY: VALUE" of all `keys`, which begin with ", " where they are needed. */
static void say(char text[320], bool also, const char *const keys[4])
{
    char all[160];
    const int n = snprintf(all, sizeof all, "%s%s%s%s", keys[0], keys[1], keys[2], keys[3]);
    if (n > 2)
        snprintf(text, 320,
                 "; preprocess.yaml (beside the data, or `preprocess`) could %ssay: {%s}",
                 also ? "also " : "", all + 2);
}

/* How images of these channels are in the input's last three dimensions: 1 planar, 0 interleaved,
 * -1 they are not. */
static int order_in(const int64_t dim[3], const int64_t image[3], int64_t channels)
{
    const bool same = memcmp(dim, image, 2 * sizeof *image) == 0;
    if (dim[2] == channels && (same || dim[0] != channels))
        return 0;
    return dim[0] == channels && !same ? 1 : -1;
}

/* What makes such channels of an image's. */
static const char *advise_channels(const assay_sample_type *t, int64_t channels)
{
    return channels == 3             ? ", channel_order: RGB"
           : t->type == ASSAY_NPY_U1 ? ", gray: pillow"
                                     : ", gray: [0.299, 0.587, 0.114]";
}

const char *assay_advise(const assay_sample_type *t, const assay_value *in, char text[320])
{
    const assay_type *y = &in->type;
    const bool prepared = t->planar || t->type == ASSAY_NPY_F4;
    const char *element = advise_element(t, y->elem), *channels = "";
    char resize[64] = "", layout[24] = "";
    int64_t image[3];
    text[0] = '\0';
    if (!is_image(t, image))
        return text;
    if (y->rank > 0 && y->rank < 3 && y->dim[y->rank - 1] == image[0] * image[1] * image[2]) {
        say(text, prepared, (const char *const[]){"", "", ", layout: flat", element});
        return text;
    }
    if (y->rank < 3)
        return text;
    const int64_t *dim = y->dim + y->rank - 3, other = 4 - image[2];
    int planar = order_in(dim, image, image[2]);
    if (planar < 0) {
        planar = order_in(dim, image, other);
        channels = advise_channels(t, other);
    }
    if (planar < 0) {
        snprintf(text, 320,
                 "; no key of preprocess.yaml makes its channels of the images' %" PRId64,
                 image[2]);
        return text;
    }
    const int64_t *size = dim + planar;
    if (memcmp(size, image, 2 * sizeof *image) != 0)
        snprintf(resize, sizeof resize, ", resize: [%" PRId64 ", %" PRId64 "]", size[0], size[1]);
    if (!prepared || (planar == 1) != t->planar)
        snprintf(layout, sizeof layout, ", layout: %s", planar == 1 ? "NCHW" : "NHWC");
    say(text, prepared, (const char *const[]){resize, channels, layout, element});
    return text;
}
