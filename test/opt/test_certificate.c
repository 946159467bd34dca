/* Certificates: edited and spoiled ones are refused. */
#include "test/support/rewrite_case.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/certificate/certificate.h"
#include "opt/check/proof.h"

static const char chain[] = "graph t { input x: u8[6] q(0.1,0)\n"
                            "a: u8[6] q(0.1,0) = rescale(x) codes[10,30]\n"
                            "b: u8[6] q(0.1,0) = rescale(a) codes[0,40]\n"
                            "c: u8[6] q(0.1,0) = rescale(b) codes[20,40]\n output c }";

/* Replaces the first `from` in the certificate by `to`; with `seal` the digest is made to fit. */
static char *edit(const rewrite_outcome *o, const char *from, const char *to, bool seal)
{
    const char *text = o->report.certificate.text, *at = strstr(text, from);
    char hex[33];
    assay_error err;
    assert_non_null(at);
    size_t length = strlen(text) - strlen(from) + strlen(to) + 1;
    char *edited = malloc(length);
    snprintf(edited, length, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    if (!seal)
        return edited;
    json_t *root = json_loads(edited, 0, NULL);
    assert_non_null(root);
    assert_ok(certificate_digest(root, hex, &err), &err);
    json_object_set_new(root, "digest", json_string(hex));
    free(edited);
    edited = json_dumps(root, 0);
    json_decref(root);
    return edited;
}

static void edited_certificates_are_refused(void **state)
{
    const struct {
        const char *from, *to;
        bool seal;
        const char *complaint;
    } edits[] = {
        {"256/256", "257/257", false, "edited"},
        {"codes[20,30]", "codes[20,31]", true, "outputs differ by"},
        {"codes[20,30]", "codes[20,31]", false, "outputs differ by"},
        {"codes[0,40]", "codes[0,25]", true, "outputs differ by"},
        {"q(0.1,0)", "q(0.1,1)", true, "step 0"},
        {"\"codes\"", "\"move\"", true, "step 0"},
        {"\"codes\"", "\"magic\"", true, "cannot be proved"},
        {"\"exact\"", "\"certain\"", true, "verdict"},
        {"\"exact\"", "\"bounded\"", false, "contradict each other"},
        {"half-away", "half-even", true, "edited"},
        {"\"model\": \"", "\"model\": \"0", false, "edited"},
        {"\"steps\"", "\"stops\"", true, "not a certificate"},
    };
    rewrite_outcome o = rewrite_run("tflite", chain);
    (void)state;
    rewrite_certified(&o);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *text = edit(&o, edits[i].from, edits[i].to, edits[i].seal);
        assay_proof_report r;
        assay_error err;
        assay_status s = check_proof(text, strlen(text), "cert", NULL, &r, &err);
        if (s == ASSAY_OK || !strstr(err.text, edits[i].complaint))
            fail_msg("edit %zu (%s): %s", i, edits[i].to, s ? err.text : "not noticed");
        free(text);
    }
    rewrite_finish(&o);
}

/* Bytes changed at random: never a crash, and never a certificate that is accepted, but where the
 * change is only of white space. */
static void spoiled_certificates_are_refused(void **state)
{
    test_rng r = test_seed("spoiled_certificates_are_refused", 7);
    rewrite_outcome o =
        rewrite_run("tflite", "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" REWRITE_CONV_PARTS
                              "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
                              "r: i8[1,2,2,2] q(0.5,0) = relu(c)\n"
                              "s: i8[1,2,2,2] q(1,3) = rescale(r)\n"
                              "m: i8[1,2,1,1] q(1,3) = max_pool(s) {kernel=[2,2]} output m }");
    const assay_buf *text = &o.report.certificate;
    (void)state;
    assert_int_equal(o.report.applied, 2);
    rewrite_certified(&o);
    for (int i = 0; i < 600; i++) {
        char *bytes = malloc(text->length);
        memcpy(bytes, text->text, text->length);
        size_t at = (size_t)test_between(&r, 0, (int64_t)text->length - 1);
        char to = (char)test_between(&r, 33, 126);
        bool space = strchr(" \n", bytes[at]) != NULL || bytes[at] == to;
        bytes[at] = to;
        assay_proof_report report;
        assay_error err;
        if (!space && check_proof(bytes, text->length, "cert", NULL, &report, &err) == ASSAY_OK)
            fail_msg("byte %zu as '%c' is not noticed", at, to);
        free(bytes);
    }
    rewrite_finish(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edited_certificates_are_refused),
        cmocka_unit_test(spoiled_certificates_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
