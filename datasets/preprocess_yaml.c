/* preprocess.yaml: one mapping of scalars and short lists. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "datasets/internal.h"
#include "datasets/preprocess.h"
#include "graph/core/slurp.h"
#include "graph/memory.h"

typedef struct reader {
    yaml_document_t document;
    const char *name;
    assay_preprocess *out;
    assay_error *err;
} reader;

static assay_status refuse(const reader *r, const yaml_node_t *at, const char *what)
{
    const char *found = at->type == YAML_SCALAR_NODE     ? (const char *)at->data.scalar.value
                        : at->type == YAML_SEQUENCE_NODE ? "a list"
                                                         : "a mapping";
    return assay_fail(r->err, ASSAY_ERR_INPUT, "%s:%zu: expected %s, found \"%.60s\"", r->name,
                      at->start_mark.line + 1, what, found);
}

/* "0.5", "1e-3" or a fraction, "1/255". */
static bool parse_number(const yaml_node_t *node, double *value)
{
    char *end;
    if (node->type != YAML_SCALAR_NODE || node->data.scalar.length == 0)
        return false;
    const char *text = (const char *)node->data.scalar.value;
    if (strspn(text, "0123456789+-.eE/") != node->data.scalar.length)
        return false;
    *value = strtod(text, &end);
    if (end == text)
        return false;
    if (*end == '/') {
        const char *below = end + 1;
        const double divisor = strtod(below, &end);
        if (end == below || !isfinite(divisor))
            return false;
        *value /= divisor;
    }
    return *end == 0 && isfinite(*value);
}

static assay_status parse_numbers(reader *r, const yaml_node_t *node, bool divisor, int *count,
                                  double *value)
{
    const char *what = divisor ? "finite numbers other than 0" : "finite numbers";
    *count = 0;
    if (node->type == YAML_SEQUENCE_NODE) {
        const yaml_node_item_t *item = node->data.sequence.items.start;
        for (; item < node->data.sequence.items.top; item++) {
            const yaml_node_t *one = yaml_document_get_node(&r->document, *item);
            if (*count == ASSAY_MAX_CHANNELS)
                return refuse(r, node, "at most 16 numbers");
            if (!parse_number(one, &value[*count]) || (divisor && value[*count] == 0))
                return refuse(r, one, what);
            ++*count;
        }
        return *count ? ASSAY_OK : refuse(r, node, "at least one number");
    }
    *count = 1;
    return parse_number(node, value) && !(divisor && *value == 0) ? ASSAY_OK
                                                                  : refuse(r, node, what);
}

static assay_status parse_size(reader *r, const yaml_node_t *node, int64_t size[2])
{
    double value[ASSAY_MAX_CHANNELS];
    int count = 0;
    assay_status status = parse_numbers(r, node, true, &count, value);
    if (status)
        return status;
    for (int i = 0; i < 2; i++) {
        if (count != 2 || value[i] != floor(value[i]) || value[i] < 1 ||
            value[i] > ASSAY_MAX_RESIZE)
            return refuse(r, node, "[height, width], each from 1 to 16384");
        size[i] = (int64_t)value[i];
    }
    return ASSAY_OK;
}

/* Index of the scalar among `words` plus 1, as the enums count; -1 when it is none of them. */
static int parse_word(const yaml_node_t *node, const char *const words[3])
{
    for (int i = 0; node->type == YAML_SCALAR_NODE && i < 3 && words[i]; i++)
        if (strcmp((const char *)node->data.scalar.value, words[i]) == 0)
            return i + 1;
    return -1;
}

/* A key of the file, its value. */
typedef assay_status parse_value(reader *r, const yaml_node_t *value);

static assay_status parse_scale(reader *r, const yaml_node_t *value)
{
    return parse_numbers(r, value, false, &r->out->scales, r->out->scale);
}

static assay_status parse_mean(reader *r, const yaml_node_t *value)
{
    return parse_numbers(r, value, false, &r->out->means, r->out->mean);
}

static assay_status parse_std(reader *r, const yaml_node_t *value)
{
    return parse_numbers(r, value, true, &r->out->stds, r->out->std);
}

static assay_status parse_channel_order(reader *r, const yaml_node_t *value)
{
    static const char *const words[3] = {"gray", "RGB", "BGR"};
    const int word = parse_word(value, words);
    if (word < 0)
        return refuse(r, value, "gray, RGB or BGR");
    r->out->channel_order = (assay_channel_order)word;
    return ASSAY_OK;
}

static assay_status parse_gray(reader *r, const yaml_node_t *value)
{
    static const char *const words[3] = {"pillow", "opencv", NULL};
    double weight[ASSAY_MAX_CHANNELS];
    const int word = parse_word(value, words);
    int count = 0;
    r->out->gray = word < 0 ? ASSAY_GRAY_WEIGHTS : (assay_gray)word;
    if (word > 0)
        return ASSAY_OK;
    if (value->type != YAML_SEQUENCE_NODE || parse_numbers(r, value, false, &count, weight) ||
        count != 3)
        return refuse(r, value, "pillow, opencv or the weights of red, green and blue (3 numbers)");
    memcpy(r->out->weight, weight, sizeof r->out->weight);
    return ASSAY_OK;
}

static assay_status parse_layout(reader *r, const yaml_node_t *value)
{
    static const char *const words[3] = {"NCHW", "NHWC", "flat"};
    const int word = parse_word(value, words);
    if (word < 0)
        return refuse(r, value, "NCHW, NHWC or flat");
    r->out->layout = (assay_image_layout)word;
    return ASSAY_OK;
}

static assay_status parse_dtype(reader *r, const yaml_node_t *value)
{
    static const char *const words[3] = {"f32", "u8", "i8"};
    const int word = parse_word(value, words);
    if (word < 0)
        return refuse(r, value, "f32, u8 or i8");
    r->out->dtype = (assay_input_dtype)word;
    return ASSAY_OK;
}

static assay_status parse_resize(reader *r, const yaml_node_t *value)
{
    return parse_size(r, value, r->out->resize);
}

static assay_status parse_interpolation(reader *r, const yaml_node_t *value)
{
    static const char *const words[3] = {"bilinear", "nearest", NULL};
    const int word = parse_word(value, words);
    if (word < 0)
        return refuse(r, value, "bilinear or nearest");
    r->out->nearest = word == 2;
    return ASSAY_OK;
}

static const struct {
    const char *key;
    parse_value *parse;
} keys[] = {
    {"scale", parse_scale},
    {"mean", parse_mean},
    {"std", parse_std},
    {"channel_order", parse_channel_order},
    {"gray", parse_gray},
    {"layout", parse_layout},
    {"dtype", parse_dtype},
    {"resize", parse_resize},
    {"interpolation", parse_interpolation},
};
enum { N_KEYS = sizeof keys / sizeof *keys };

static assay_status parse_pair(reader *r, const yaml_node_t *key, const yaml_node_t *value,
                               unsigned *seen)
{
    unsigned k = 0;
    while (k < N_KEYS && (key->type != YAML_SCALAR_NODE ||
                          strcmp((const char *)key->data.scalar.value, keys[k].key) != 0))
        k++;
    if (k == N_KEYS)
        return refuse(
            r, key,
            "scale, mean, std, channel_order, gray, layout, dtype, resize or interpolation");
    if (*seen & 1u << k)
        return refuse(r, key, "each key once");
    *seen |= 1u << k;
    return keys[k].parse(r, value);
}

static assay_status parse_document(reader *r)
{
    unsigned seen = 0;
    const yaml_node_t *root = yaml_document_get_root_node(&r->document);
    if (!root)
        return assay_fail(r->err, ASSAY_ERR_INPUT, "%s: expected a mapping, found nothing",
                          r->name);
    if (root->type != YAML_MAPPING_NODE)
        return refuse(r, root, "a mapping");
    const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
    for (; pair < root->data.mapping.pairs.top; pair++) {
        assay_status status = parse_pair(r, yaml_document_get_node(&r->document, pair->key),
                                         yaml_document_get_node(&r->document, pair->value), &seen);
        if (status)
            return status;
    }
    if (r->out->gray && r->out->channel_order > ASSAY_CHANNELS_GRAY)
        return assay_fail(r->err, ASSAY_ERR_INPUT, "%s: the key gray needs channel_order: gray",
                          r->name);
    if (r->out->gray)
        r->out->channel_order = ASSAY_CHANNELS_GRAY;
    return ASSAY_OK;
}

assay_status dataset_preprocess_parse(const char *text, size_t size, const char *name,
                                      assay_preprocess *out, assay_error *err)
{
    yaml_parser_t parser;
    reader r = {.name = name, .out = out, .err = err};
    assay_status status;
    memset(out, 0, sizeof *out);
    if (!yaml_parser_initialize(&parser))
        return assay_out_of_memory_for(err, "%s", name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    if (yaml_parser_load(&parser, &r.document)) {
        status = parse_document(&r);
        yaml_document_delete(&r.document);
    } else {
        status = assay_fail(err, ASSAY_ERR_INPUT, "%s:%zu: broken YAML: %s", name,
                            parser.problem_mark.line + 1,
                            parser.problem ? parser.problem : "cannot be read");
    }
    yaml_parser_delete(&parser);
    if (status)
        memset(out, 0, sizeof *out);
    return status;
}

assay_status dataset_preprocess_read(const char *path, assay_preprocess *out, assay_error *err)
{
    unsigned char *text;
    size_t size;
    memset(out, 0, sizeof *out);
    assay_status status = assay_slurp(path, &text, &size, err);
    if (status)
        return status;
    status = dataset_preprocess_parse((const char *)text, size, path, out, err);
    free(text);
    return status;
}

assay_status dataset_preprocess_find(const char *path, assay_preprocess *out, bool *found,
                                     assay_error *err)
{
    char *file;
    memset(out, 0, sizeof *out);
    assay_status status = dataset_find_beside(path, "preprocess.yaml", &file, err);
    if (found)
        *found = file != NULL;
    if (!status && file)
        status = dataset_preprocess_read(file, out, err);
    free(file);
    return status;
}
