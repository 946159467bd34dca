/* The name that was probably meant by a word that is none. */
#include "test/support/support.h"

#include "schemes/record/guess.h"

static const char *const names[] = {"tflite", "tflite-single", "conv", "cos", "quantize", "golden"};

static const char *meant(const char *word, char words[ASSAY_GUESS_WORDS])
{
    assay_guess g = ASSAY_GUESS(word);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assay_guess_consider(&g, names[i]);
    return assay_guess_words(&g, words);
}

static void words(void **state)
{
    static const struct {
        const char *word, *meant;
    } cases[] = {
        {"tflit", "; nearest: tflite"},                 /* cut short: the shortest that goes on */
        {"quant", "; nearest: quantize"},               /* however much is missing */
        {"cnov", "; nearest: conv"},                    /* two exchanged: one edit */
        {"goldne", "; nearest: golden"},                /* at the end */
        {"TFLite", "; nearest: tflite"},                /* capitals are no edits */
        {"GOLDNE", "; nearest: golden"},                /* two exchanged all the same */
        {"QUANT", "; nearest: quantize"},               /* or cut short */
        {"tflight-single", "; nearest: tflite-single"}, /* a third may be wrong */
        {"q", ""},                                      /* one letter cuts nothing short */
        {"frobnicate", ""},                             /* nothing is near */
        {"", ""},                                       /* nor of nothing */
        {"tflite-single-and-much-more-than-sixty-three-letters-of-a-long-name", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[ASSAY_GUESS_WORDS];
        assert_string_equal(meant(cases[i].word, text), cases[i].meant);
    }
}

static void of_nothing(void **state)
{
    const assay_guess g = ASSAY_GUESS("word");
    (void)state;
    assert_null(assay_guess_near(&g));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words), cmocka_unit_test(of_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
