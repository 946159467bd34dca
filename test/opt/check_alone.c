/* The checker of certificates without the optimizer: this program links with opt/check, graph and
 * schemes alone (test/meson.build), so that whatever the checker needs of anything else is missing
 * when it is linked. It writes its own certificates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "opt/certificate/certificate.h"
#include "opt/check/proof.h"

#define TYPE "u8[6] q(0.1,0)"
#define HEAD "graph t { input x: " TYPE "\n"
static const char two[] = HEAD "a: " TYPE " = rescale(x) codes[10,30]\n"
                               "b: " TYPE " = rescale(a) codes[0,40]\noutput b }";
static const char one[] = HEAD "b: " TYPE " = rescale(x) codes[10,30]\noutput b }";
static const char other[] = HEAD "b: " TYPE " = rescale(x) codes[10,31]\noutput b }";

static assay_graph *read_graph(const char *text)
{
    assay_graph *g;
    assay_error err;
    assert_int_equal(text_graph_parse(text, strlen(text), "t", NULL, &g, &err), ASSAY_OK);
    return g;
}

/* A certificate under tflite whose one step makes `after` of `before`; sealed. */
static char *certificate(const char *before, const char *after)
{
    assay_graph *model = read_graph(before), *result = read_graph(after);
    assay_scheme *s;
    char from[33], to[33], hex[33];
    assay_error err;
    assert_int_equal(assay_scheme_open("tflite", &s, &err), ASSAY_OK);
    assert_int_equal(certificate_network(model, from, &err), ASSAY_OK);
    assert_int_equal(certificate_network(result, to, &err), ASSAY_OK);
    json_t *root = json_pack(
        "{s:i, s:{s:s, s:s, s:s}, s:s, s:s, s:i, s:[{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:s}]}",
        "assay_proof", ASSAY_CERTIFICATE_VERSION, "scheme", "name", s->name, "digest", s->digest,
        "text", s->text, "model", from, "result", to, "output_bound", 0, "steps", "pass", "merge",
        "node", "b", "obligation", "codes", "verdict", "exact", "bound", 0, "evidence",
        "256/256 codes equal", "before", before, "after", after);
    assert_non_null(root);
    assert_int_equal(certificate_digest(root, hex, &err), ASSAY_OK);
    assert_int_equal(json_object_set_new(root, "digest", json_string(hex)), 0);
    char *text = json_dumps(root, 0);
    assert_non_null(text);
    json_decref(root);
    assay_scheme_free(s);
    assay_graph_free(model);
    assay_graph_free(result);
    return text;
}

static assay_status check(const char *before, const char *after, assay_error *err)
{
    char *text = certificate(before, after);
    assay_proof_report report;
    assay_status status = check_proof(text, strlen(text), "proof", NULL, &report, err);
    free(text);
    if (!status) {
        assert_int_equal(report.steps, 1);
        assert_int_equal(report.proved, 1);
    }
    return status;
}

static void claims(void **state)
{
    assay_error err;
    (void)state;
    assert_int_equal(check(two, one, &err), ASSAY_OK);
    assert_int_equal(check(two, other, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "outputs differ by 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
