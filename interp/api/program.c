/* Programs with an engine, and runs that are watched. */
#include "interp/api/program.h"

#include "interp/api/options.h"
#include "interp/golden/contract.h"
#include "schemes/node/admit.h"

assay_status assay_engine_take(const assay_engine_options *options, assay_engine_options *own,
                               assay_program_options *out, assay_error *err)
{
    const assay_status status = ASSAY_OPTIONS_TAKE(options, own, err);
    const char *engine = own->engine ? own->engine : "ref";

    *out = (assay_program_options){
        .keep_all = own->keep_all, .threads = own->threads, .isa = own->isa};
    if (status)
        return status;
    if (!run_engine_find(engine, &out->engine))
        return assay_fail(err, ASSAY_ERR_INPUT, "engine is ref, fast or both, not '%.100s'",
                          engine);
    return ASSAY_OK;
}

assay_status assay_program_make_for(const assay_graph *g, const assay_scheme *s,
                                    const assay_engine_options *options, assay_program **out,
                                    assay_error *err)
{
    assay_engine_options o;
    assay_program_options own;
    assay_status status = assay_engine_take(options, &o, &own, err);

    *out = NULL;
    if (!status && s && !o.as_is)
        status = assay_scheme_admits_graph(s, g, err);
    return status ? status : run_program_make_with(g, s, &own, out, err);
}

assay_status assay_program_contract(const assay_program *p, char **json, assay_error *err)
{
    return assay_text_of_json(p->scheme ? golden_contract_json(p) : json_null(), json, err);
}

static void print_plan(FILE *f, const void *what)
{
    const assay_program *p = what;
    run_plan_print(f, p->graph, p->plan);
}

static void draw_plan(FILE *f, const void *what)
{
    const assay_program *p = what;
    page_plan_draw(f, p->graph, p->plan);
}

assay_status assay_program_plan(const assay_program *p, char **text, char **svg, assay_error *err)
{
    char **const texts[] = {text, svg};
    assay_status status = assay_text_of(print_plan, p, text, err);

    if (svg)
        *svg = NULL;
    if (!status)
        status = assay_text_of(draw_plan, p, svg, err);
    return assay_texts_end(status, texts, 2);
}

assay_status assay_execute_with(assay_run *r, assay_node_fn fn, bool accumulators, void *user,
                                assay_error *err)
{
    return run_execute(r, fn, accumulators, user, err);
}
