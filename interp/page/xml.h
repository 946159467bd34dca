/* Text inside XML: JUnit reports and SVG drawings. */
#ifndef ASSAY_INTERP_XML_H
#define ASSAY_INTERP_XML_H

#include <stdio.h>

/* Writes text with markup characters escaped; control characters become spaces,
 * bytes that are not UTF-8 become \xHH. */
void page_xml_text(FILE *f, const char *text);

#endif
