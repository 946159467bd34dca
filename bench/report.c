/* Findings of a benchmark as lines and as JSON. */
#include "bench/report.h"

#include "bench/peak.h"

bench_report bench_report_begin(FILE *json)
{
    const char *isa;
    bench_report r = {.json = json, .peak = bench_peak(&isa)};
    if (r.peak > 0)
        printf("int8 peak by dot products (%s): %.1f GMAC/s a thread\n", isa, r.peak / 1e9);
    else
        printf("instruction set: %s, without an int8 peak\n", isa);
    printf("%-30s %-11s %-11s %5s %3s %12s %12s %12s %8s %6s %6s %6s %8s %8s %8s %8s %8s %7s %7s\n",
           "network", "form", "engine", "batch", "thr", "ns/image", "least", "greatest", "GMAC/s",
           "%peak", "x ort", "x ref", "load ms", "prep ms", "peak MB", "digests", "dump", "x files",
           "x file");
    if (json)
        fprintf(json, "{\"isa\": \"%s\", \"peak_gmac_per_s\": %.3f, \"results\": [", isa,
                r.peak / 1e9);
    return r;
}

static void print_number(int width, int decimals, double x)
{
    if (x > 0)
        printf(" %*.*f", width, decimals, x);
    else
        printf(" %*s", width, "-");
}

static void add_json(bench_report *r, const bench_result *b)
{
    const double n = (double)b->images;
    fprintf(r->json,
            "%s\n  {\"name\": \"%s\", \"form\": \"%s\", \"engine\": \"%s\", \"batch\": %lld, "
            "\"threads\": %d, \"ns_per_image\": %.0f, \"least\": %.0f, \"greatest\": %.0f, "
            "\"gmac_per_s\": %.3f, \"of_peak\": %.4f, \"times_onnxruntime\": %.3f, "
            "\"times_ref\": %.2f, \"load_ns\": %.0f, \"prepare_ns\": %.0f, \"peak_bytes\": %lld, "
            "\"digests\": %.3f, \"dump\": %.3f, "
            "\"dump_by_files\": %.3f, \"dump_by_one_file\": %.3f}",
            r->another ? "," : "", b->name, b->form, b->engine, (long long)b->images, b->threads,
            b->ns.median / n, b->ns.least / n, b->ns.greatest / n, (double)b->macs / b->ns.median,
            r->peak > 0 ? (double)b->macs / b->ns.median * 1e9 / r->peak / b->threads : 0, b->ratio,
            b->ref, b->load_ns, b->prepare_ns, (long long)b->peak_bytes, b->digests, b->dump,
            b->dump_by_files, b->dump_by_one_file);
    r->another = true;
}

void bench_report_add(bench_report *r, const bench_result *b)
{
    const double n = (double)b->images, rate = (double)b->macs / b->ns.median;
    printf("%-30s %-11s %-11s %5lld %3d %12.0f %12.0f %12.0f %8.2f", b->name, b->form, b->engine,
           (long long)b->images, b->threads, b->ns.median / n, b->ns.least / n, b->ns.greatest / n,
           rate);
    print_number(6, 1, r->peak > 0 ? 100 * rate * 1e9 / r->peak / b->threads : 0);
    print_number(6, 2, b->ratio);
    print_number(6, 0, b->ref);
    print_number(8, 2, b->load_ns / 1e6);
    print_number(8, 2, b->prepare_ns / 1e6);
    print_number(8, 1, (double)b->peak_bytes / 1e6);
    print_number(8, 3, b->digests);
    print_number(8, 2, b->dump);
    print_number(7, 2, b->dump_by_files);
    print_number(7, 2, b->dump_by_one_file);
    printf("\n");
    fflush(stdout);
    if (r->json)
        add_json(r, b);
}

void bench_report_end(bench_report *r)
{
    if (r->json) {
        fprintf(r->json, "\n]}\n");
        fclose(r->json);
    }
}
