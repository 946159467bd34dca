/* The text form of a graph: printed and parsed without loss, one node a line.
 *
 * The grammar is a fixed format (golden bundles hold it). White space separates; '#' starts a
 * comment up to the end of the line; statements need no separator.
 *
 *   graph   = "graph" name "{" { item } "}"
 *   item    = "model" string                            digest of the source file, 32 hex digits
 *           | "scheme" string                           what it was quantized for: a note
 *           | "input" name ":" type                     in the graph's order
 *           | "const" name ":" type "=" data
 *           | "var" name ":" type [ "=" data ]          state kept between runs; starts as zeros
 *           | "value" name ":" type                     defined by nothing (graphs under work)
 *           | "output" name { "," name }
 *           | graph                                     body of control flow, in order
 *           | name ":" type { "," name ":" type } "=" op "(" [ arg { "," arg } ] ")"
 *             [ "{" attr "=" text { "," attr "=" text } "}" ]    attr.def; defaults are left out
 *             [ "act" "[" number "," number "]" ]       fused activation, real bounds
 *             [ "codes" "[" int "," int "]" ]           fused activation, bounds as codes
 *             [ "@" name ]                              the node's name, when not its first
 *   arg     = name | "_"                                "_": an optional input that is absent
 *   type    = elem "[" [ int { "," int } ] "]" [ params ] [ "src" "(" int ")" ]
 *   elem    = "f32" | "bool" | "i1".."i32" | "u1".."u32" | "i64"
 *   params  = "q" "(" number "," int ")"                per tensor
 *           | "q" "(" "axis" "=" int "," numbers "," ints ")"    scales, zero points
 *           | "q" "(" "axis" "=" int "," "block" "=" int ","     per block; one zero point is all's
 *             ( numbers | file ) "," ( ints | int | file ) ")"
 *   data    = numbers | ints | file                     C order
 *   file    = "file" string [ "xxh3" string ]           .npy in the directory of constants, whose
 *                                                       elements may be packed (packed.h), and the
 *                                                       digest that they must have
 *   numbers = "[" [ number { "," number } ] "]"         ints likewise
 *   name    = letters, digits and _ . / $ -, not starting with '-', not "_" and none of the words
 *             that start an item; anything else is a string
 *   string  = '"' ... '"' with \" and \\, on one line
 *   number  = as C's strtof reads, inf, -inf, nan; other NaNs as nan(0x7fc00001)
 *
 * `src` is the value's index in the source file. Constants stand before the node that first uses
 * them. Parsing numbers values in the order of the text, so indices may differ from those of the
 * printed graph; printing again gives the same text. */
#ifndef ASSAY_GRAPH_TEXT_H
#define ASSAY_GRAPH_TEXT_H

#include "graph/core/buf.h"
#include "graph/core/graph.h"

/* Constants of more elements than this go to files, when there is a directory for them. */
#define ASSAY_TEXT_INLINE 16

/* Appends the text of g to *out. constants_dir: an existing directory for the large constants
 * (written there as c0000_NAME.npy), or NULL to have all of them in the text. Nodes should be in
 * order (assay_graph_compact), or the text will not parse. */
assay_status text_graph_print(const assay_graph *g, const char *constants_dir, assay_buf *out,
                              assay_error *err);

/* Parameters per block of more scales than this go to files where their constant does. */
#define ASSAY_TEXT_PARAMS 256
bool text_params_in_files(const assay_qparams *q);

/* What a file holds. */
typedef enum assay_text_part {
    ASSAY_TEXT_ELEMENTS,
    ASSAY_TEXT_SCALES,
    ASSAY_TEXT_ZERO_POINTS
} assay_text_part;
typedef struct assay_text_array {
    int value; /* the constant */
    assay_text_part part;
    const assay_type *type; /* of scales: f32 of rank 1, of zero points: i32 of rank 1 */
    const void *data;
} assay_text_array;

/* The same with a say in which constants go to files, and who writes them. */
#define ASSAY_TEXT_FILE_NAME 80
typedef struct assay_text_options {
    size_t inline_limit; /* constants of more elements go to files */
    /* File names hold part of the digest, c0000_NAME.0123456789abcdef.npy: constants that differ
     * never share a name. */
    bool named_by_digest;
    /* Takes each array that goes to a file, with the file's name and the digest of its elements
     * (text_constant_digest); of one constant the elements come last. NULL: all are in the text. */
    assay_status (*put)(void *user, const assay_graph *g, const assay_text_array *array,
                        const char *file, const char *digest, assay_error *err);
    bool lists; /* parameters are lists in the text, however long, as earlier versions had them */
    void *user;
} assay_text_options;
assay_status text_graph_print_with(const assay_graph *g, const assay_text_options *options,
                                   assay_buf *out, assay_error *err);

/* The directory of a text's constants. */
typedef struct assay_text_folder {
    const char *path;  /* NULL: there is none */
    int inside;        /* an open folder, which path is relative to and nothing may lead out of
                          (assay_slurp_inside); -1: path is a path as any */
    const char *shown; /* that folder's name in messages */
} assay_text_folder;

/* Parses one graph and verifies it. `file` names the text in messages, which give line and column;
 * constants_dir may be NULL when the text names no files. The text need not be NUL-terminated. */
assay_status text_graph_parse(const char *text, size_t length, const char *file,
                              const char *constants_dir, assay_graph **out, assay_error *err);
assay_status text_graph_parse_in(const char *text, size_t length, const char *file,
                                 const assay_text_folder *constants, assay_graph **out,
                                 assay_error *err);

/* ---- pieces for other printers ---- */
/* "f32[1,3]", "i8[1,8] q(0.02,-3)". */
void text_type_print(const assay_type *t, assay_buf *out);
/* A name, quoted when it needs to be. */
void text_name_print(const char *name, assay_buf *out);
/* Whether a name may stand without quotes. */
bool text_name_is_bare(const char *name);

#endif
