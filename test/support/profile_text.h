/* Profiles as the text of their files. */
#ifndef ASSAY_TEST_PROFILE_TEXT_H
#define ASSAY_TEST_PROFILE_TEXT_H

#include "opt/profile/profile.h"

/* What saving `p` writes; the caller frees it. */
char *test_profile_text(const assay_profile *p);

/* Loads a file of this text. */
assay_status test_profile_load(const char *text, assay_profile **p, assay_error *err);

#endif
