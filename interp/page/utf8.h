/* Names, which are bytes, as UTF-8 for the pages that show them. */
#ifndef ASSAY_INTERP_UTF8_H
#define ASSAY_INTERP_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character that a text begins with, or 0 when it begins with none (RFC 3629).
 */
size_t page_utf8_character(const char *text);
/* The greatest length of at most `length` bytes that does not end inside a character. */
size_t page_utf8_cut(const char *text, size_t length);
/* `bytes` as UTF-8 into text[size]: those that are of no character as \xHH, four bytes for one;
 * what does not fit is left out, whole characters. */
void page_utf8_escape(const char *bytes, char *text, size_t size);

#endif
