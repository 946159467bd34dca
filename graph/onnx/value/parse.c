/* Parser from bytes to the messages of onnx.proto.
 *
 * protobuf-c copies what it parses. So that the weights are not copied with the rest, the model is
 * first rewritten without the larger payloads: in place of its raw_data a tensor gets their place
 * in the file, as the fields raw_offset and raw_length that onnx.proto adds to the format. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "graph/onnx/value/value.h"

/* ---- rewriting ---- */

/* Messages on the way to tensors. Subgraphs (attributes' g) are left as they are. */
typedef enum message { MODEL, GRAPH, NODE, ATTRIBUTE, TENSOR, OTHER } message;

static message submessage(message in, uint64_t field)
{
    if (in == MODEL && field == 7)
        return GRAPH;
    if (in == GRAPH)
        return field == 1 ? NODE : field == 5 ? TENSOR : OTHER;
    if ((in == NODE || in == ATTRIBUTE) && field == 5)
        return in == NODE ? ATTRIBUTE : TENSOR;
    return OTHER;
}

enum { RAW_DATA = 9, RAW_OFFSET = 1001, RAW_LENGTH = 1002, PAYLOAD_MIN = 256 };
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

typedef struct rewriter {
    const uint8_t *base; /* the file */
    uint8_t *out;        /* NULL while only counting */
    size_t length;
} rewriter;

/* Reads a varint at *p; false when it does not end before `end`. */
static bool get_varint(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
    *v = 0;
    for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
        uint8_t b = *(*p)++;
        *v |= (uint64_t)(b & 127) << shift;
        if (!(b & 128))
            return true;
    }
    return false;
}

static void put_bytes(rewriter *r, const void *bytes, size_t n)
{
    if (r->out && n)
        memcpy(r->out + r->length, bytes, n);
    r->length += n;
}

/* With a fixed number of bytes, so that lengths can be filled in later; 0: as many as needed. */
static void put_varint(rewriter *r, uint64_t v, int bytes)
{
    for (int i = 1;; i++) {
        bool more = bytes ? i < bytes : v > 127;
        uint8_t b = (uint8_t)((v & 127) | (more ? 128 : 0));
        put_bytes(r, &b, 1);
        v >>= 7;
        if (!more)
            return;
    }
}

/* Appends the message in p..end, rewritten; false when it is malformed. Recursion ends with the
 * levels of `message`. */
static bool rewrite(rewriter *r, message kind, const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        const uint8_t *start = p;
        uint64_t tag, n = 0;

        if (!get_varint(&p, end, &tag))
            return false;
        switch (tag & 7) {
        case WIRE_VARINT:
            if (!get_varint(&p, end, &n))
                return false;
            n = 0;
            break;
        case WIRE_BYTES:
            if (!get_varint(&p, end, &n))
                return false;
            break;
        case WIRE_64:
        case WIRE_32:
            n = (tag & 7) == WIRE_64 ? 8 : 4;
            break;
        default:
            return false;
        }
        if (n > (uint64_t)(end - p))
            return false;
        message sub = (tag & 7) == WIRE_BYTES ? submessage(kind, tag >> 3) : OTHER;
        if (sub != OTHER) {
            put_varint(r, tag, 0);
            size_t at = r->length;
            put_varint(r, 0, 5);
            if (!rewrite(r, sub, p, p + n))
                return false;
            rewriter back = {.out = r->out, .length = at};
            put_varint(&back, r->length - at - 5, 5);
        } else if (kind == TENSOR && tag == (RAW_DATA << 3 | WIRE_BYTES) && n >= PAYLOAD_MIN) {
            put_varint(r, RAW_OFFSET << 3 | WIRE_VARINT, 0);
            put_varint(r, (uint64_t)(p - r->base), 0);
            put_varint(r, RAW_LENGTH << 3 | WIRE_VARINT, 0);
            put_varint(r, n, 0);
        } else if (kind != TENSOR || (tag >> 3 != RAW_OFFSET && tag >> 3 != RAW_LENGTH)) {
            put_bytes(r, start, (size_t)(p + n - start));
        }
        p += n;
    }
    return true;
}

/* ---- allocation ---- */

/* What an import may allocate for a file of `length` bytes: models unpack to a few times their
 * size, and folding adds a little. */
size_t onnx_memory_more(size_t length)
{
    return 16 * length;
}

size_t onnx_memory_limit(size_t length)
{
    return ((size_t)256 << 20) + onnx_memory_more(length);
}

/* One message's: whether memory was what failed. */
typedef struct unpacking {
    onnx_import *im;
    bool no_memory;
} unpacking;

static void *pb_alloc(void *data, size_t size)
{
    unpacking *u = data;
    void *p = onnx_alloc(u->im, size);
    u->no_memory = u->no_memory || !p;
    return p;
}

static void pb_free(void *data, void *pointer)
{
    (void)data, (void)pointer; /* goes with the arena */
}

/* ---- parsing ---- */

/* Absent strings become empty ones, so that nothing after this meets NULL. */
static assay_status fill_strings(onnx_import *im, pb_graph *g, assay_error *err)
{
    char *empty = onnx_alloc(im, 1);

    if (!empty)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < g->n_node; i++) {
        pb_node *n = g->node[i];
        n->op_type = n->op_type ? n->op_type : empty;
        n->name = n->name ? n->name : empty;
        for (size_t k = 0; k < n->n_attribute; k++)
            if (!n->attribute[k]->name)
                n->attribute[k]->name = empty;
    }
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!g->initializer[i]->name)
            g->initializer[i]->name = empty;
    for (size_t i = 0; i < g->n_input; i++)
        if (!g->input[i]->name)
            g->input[i]->name = empty;
    for (size_t i = 0; i < g->n_output; i++)
        if (!g->output[i]->name)
            g->output[i]->name = empty;
    return ASSAY_OK;
}

static assay_status fill_function(onnx_import *im, Assay__Onnx__Function *f, assay_error *err)
{
    pb_graph nodes = {.n_node = f->n_node, .node = f->node};
    char *empty = onnx_alloc(im, 1);

    if (!empty)
        return assay_out_of_memory(err);
    f->name = f->name ? f->name : empty;
    for (size_t i = 0; i < f->n_attribute_proto; i++)
        if (!f->attribute_proto[i]->name)
            f->attribute_proto[i]->name = empty;
    return fill_strings(im, &nodes, err);
}

assay_status onnx_parse_model(onnx_import *im, pb_model **out, assay_error *err)
{
    unpacking u = {im, false};
    ProtobufCAllocator allocator = {pb_alloc, pb_free, &u};
    rewriter r = {.base = im->bytes};
    pb_model *m = NULL;

    if (rewrite(&r, MODEL, im->bytes, im->bytes + im->length)) {
        r.out = malloc(r.length + 1);
        if (!r.out)
            return assay_out_of_memory(err);
        r.length = 0;
        rewrite(&r, MODEL, im->bytes, im->bytes + im->length);
        m = assay__onnx__model__unpack(&allocator, r.length, r.out);
        free(r.out);
    }
    if (u.no_memory)
        return assay_out_of_memory(err);
    if (!m || !m->graph)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: not an ONNX model: %s", im->file,
                          m ? "it has no graph" : "malformed or truncated protobuf");
    *out = m;
    assay_status s = fill_strings(im, m->graph, err);
    for (size_t i = 0; i < m->n_functions && !s; i++)
        s = fill_function(im, m->functions[i], err);
    return s;
}

assay_status onnx_parse_graph(onnx_import *im, const ProtobufCBinaryData *bytes, pb_graph **out,
                              assay_error *err)
{
    unpacking u = {im, false};
    ProtobufCAllocator allocator = {pb_alloc, pb_free, &u};
    onnx_parsed *p = im->parsed;
    assay_status s;

    while (p && p->bytes != bytes->data)
        p = p->next;
    if (p) {
        *out = p->g;
        return ASSAY_OK;
    }
    *out = assay__onnx__graph__unpack(&allocator, bytes->len, bytes->data);
    if (u.no_memory)
        return assay_out_of_memory(err);
    if (!*out)
        return assay_fail(err, ASSAY_ERR_INPUT, "malformed subgraph");
    s = fill_strings(im, *out, err);
    if (s || !bytes->data)
        return s;
    if (!(p = onnx_alloc(im, sizeof *p)))
        return assay_out_of_memory(err);
    *p = (onnx_parsed){im->parsed, bytes->data, *out};
    im->parsed = p;
    return ASSAY_OK;
}
