/* A scratch folder for each test, files in it, and data sets opened from it. */
#ifndef ASSAY_TEST_FOLDER_H
#define ASSAY_TEST_FOLDER_H

#include "datasets/dataset.h"
#include "test/support/support.h"

/* Setup and teardown: *state is the folder's path; removed with all that is in it. */
int folder_make(void **state);
int folder_remove(void **state);
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

const char *folder_path(void **state, const char *name, char path[128]);
void folder_put(void **state, const char *name, const void *bytes, size_t size);
void folder_put_text(void **state, const char *name, const char *text);
/* Writes rows as they are given, in any of PNG's forms. */
void folder_put_png(void **state, const char *name, int height, int width, int color, int depth,
                    int interlace, const unsigned char *rows, size_t stride);
/* Gray pixels first, first + 1, ... */
void folder_gray_png(void **state, const char *name, int height, int width, int first);

/* Opening `name` fails with this status and a message that says this. */
void folder_refused(void **state, const char *name, const assay_dataset_options *options,
                    assay_status status, const char *says);
assay_dataset *folder_opened(void **state, const char *name, const assay_dataset_options *options);

#endif
