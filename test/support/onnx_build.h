/* ONNX models from a few lines of text, for tests.
 *
 *   in x f32 N,3,8,8              an input; a letter is a symbolic dimension, "-" a scalar
 *   const w f32 4,3,3,3           an initializer in raw_data, filled with small numbers
 *   const s i64 2 = 1 -1          ... with these numbers (as many as given, even when wrong)
 *   list s i64 2 = 1 -1           the same in the typed list
 *   ext w f32 4 w.bin 16 16       an initializer in a file, with offset and length
 *   Conv x,w,_ -> y pads=[1,1,1,1] auto_pad=NOTSET alpha=0.5 : name
 *   out y f32
 *
 * Of a node: inputs ("_" absent, "-" none), outputs, attributes (int, float with a point, string,
 * lists of ints or floats in [], tensor as {DTYPE DIMS NUMBERS}, graph as {graph LINE; LINE}) and
 * after " : " its name. An op of
 * another domain is DOMAIN:OP. Types: f32 f16 bf16 f64 bool i8 u8 i16 u16 i32 u32 i64 u64 str; u4
 * and i4, whose numbers are bytes of two codes. */
#ifndef ASSAY_TEST_ONNX_BUILD_H
#define ASSAY_TEST_ONNX_BUILD_H

#include <stddef.h>
#include <stdint.h>

/* For `opset`: the model names another domain's, and no standard one. */
#define ONNX_BUILD_NO_OPSET 1

/* The serialized model, malloc'ed; fails the test when the text is not as above. */
void *onnx_build(int64_t opset, const char *text, size_t *length);

/* ONNX's number of an element type by our name, "f32". */
int onnx_build_dtype(const char *name);

#endif
