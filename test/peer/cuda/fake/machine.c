/* The PTX interpreter: a line is done by every thread of the block before the next; branches are
 * taken by all alike. What PTX does asynchronously is done as late as it may be. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

/* ---- reading ---- */

static const char *const known[] = {"mov.u32",
                                    "mov.b32",
                                    "and.b32",
                                    "and.b64",
                                    "or.b32",
                                    "or.b64",
                                    "shr.u32",
                                    "shr.u64",
                                    "shl.b32",
                                    "add.u64",
                                    "sub.u32",
                                    "mul.lo.u32",
                                    "mul.wide.u32",
                                    "mad.lo.u32",
                                    "cvt.u64.u32",
                                    "ld.param.u64",
                                    "ld.param.u32",
                                    "ld.b32",
                                    "st.b32",
                                    "st.shared.b32",
                                    "setp.lt.u32",
                                    "setp.eq.u32",
                                    "setp.ne.u32",
                                    "setp.eq.and.u32",
                                    "selp.b32",
                                    "bra",
                                    "bar.sync",
                                    "ret",
                                    "fence.proxy.async",
                                    "ld.shared.b32",
                                    "ld.b64",
                                    "st.b64",
                                    "mov.b64",
                                    "selp.b64",
                                    "add.u32",
                                    "xor.b32",
                                    "wgmma.fence.sync.aligned",
                                    "wgmma.commit_group.sync.aligned",
                                    "wgmma.wait_group.sync.aligned",
                                    "mbarrier.init.shared.b64",
                                    "mbarrier.try_wait.parity.shared.b64",
                                    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
                                    "tcgen05.dealloc.cta_group::1.sync.aligned.b32",
                                    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned",
                                    "tcgen05.st.sync.aligned.32x32b.x4.b32",
                                    "tcgen05.st.sync.aligned.32x32b.x16.b32",
                                    "tcgen05.ld.sync.aligned.32x32b.x8.b32",
                                    "tcgen05.wait::st.sync.aligned",
                                    "tcgen05.wait::ld.sync.aligned",
                                    "tcgen05.fence::before_thread_sync",
                                    "tcgen05.fence::after_thread_sync",
                                    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::"
                                     "cluster.b64")};

static bool is_known(const char *opcode)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], opcode) == 0)
            return true;
    return strncmp(opcode, "mma.sync.aligned.", 17) == 0 ||
           strncmp(opcode, "wgmma.mma_async.sync.aligned.", 29) == 0 ||
           strncmp(opcode, "tcgen05.mma.cta_group::1.kind::", 31) == 0;
}

/* Arguments part at commas outside of braces; blanks go. */
static void read_arguments(const char *text, struct line *l)
{
    int n = 0, depth = 0;
    size_t at = 0;
    for (; *text && *text != ';' && n < MOST_ARGUMENTS; text++) {
        depth += (*text == '{') - (*text == '}');
        if (*text == ',' && depth == 0) {
            n++;
            at = 0;
        } else if (!isspace((unsigned char)*text) && at + 1 < sizeof l->argument[0]) {
            l->argument[n][at++] = *text;
        }
    }
}

static void read_line(const char *text, struct line *l)
{
    int used = 0;
    *l = (struct line){.predicate = -1};
    l->negated = strncmp(text, "@!", 2) == 0;
    if (sscanf(text, l->negated ? "@!%%p%d%n" : "@%%p%d%n", &l->predicate, &used) == 1)
        text += used;
    sscanf(text, " %111[^ ;]%n", l->opcode, &used);
    read_arguments(text + used, l);
}

bool machine_load(const char *ptx, struct program *p, char *why, size_t size)
{
    char *copy = strdup(ptx), *rest = NULL;
    bool inside = false, good = true;
    *p = (struct program){0};
    for (char *text = strtok_r(copy, "\n", &rest); text && good;
         text = strtok_r(NULL, "\n", &rest)) {
        text += strspn(text, " ");
        if (isupper((unsigned char)*text) && p->labels < 4) {
            sscanf(text, "%7[A-Z]", p->label[p->labels].name);
            p->label[p->labels++].line = p->lines;
        } else if (inside && *text != '.' && *text != '}') {
            struct line *l = &p->line[p->lines++];
            read_line(text, l);
            good = is_known(l->opcode) && p->lines < 256;
            if (!good)
                snprintf(why, size, "ptxas application ptx input: unknown '%s'\nsecond line", text);
        }
        inside |= *text == '{';
    }
    free(copy);
    return good;
}

/* ---- running ---- */

uint64_t *machine_register(struct block *b, unsigned thread, const char *name)
{
    const int number = atoi(name + 2);
    if (name[0] != '%' || number >= MOST_REGISTERS)
        abort();
    return &b->value[thread][(unsigned char)name[1]][number];
}

static uint64_t operand(struct block *b, unsigned thread, const char *text)
{
    if (strcmp(text, "%tid.x") == 0)
        return thread;
    if (strcmp(text, "%ctaid.x") == 0)
        return b->number;
    if (strcmp(text, "slab") == 0)
        return 256; /* where it lies in shared memory */
    if (strcmp(text, "done") == 0)
        return 3584;
    if (strcmp(text, "place") == 0)
        return 3840;
    return text[0] == '%' ? *machine_register(b, thread, text) : strtoull(text, NULL, 10);
}

static uint64_t parameter(struct block *b, const char *text)
{
    static const char *const names[] = {"[a]",       "[b]",       "[c]",    "[d]",
                                        "[scale_a]", "[scale_b]", "[steps]"};
    enum { NAMES = sizeof names / sizeof *names, STEPS = NAMES - 1 };
    for (int i = 0; i < NAMES; i++)
        if (strcmp(names[i], text) == 0)
            return i == STEPS ? *(uint32_t *)b->parameters[i] : *(uint64_t *)b->parameters[i];
    abort();
}

uint64_t machine_address(struct block *b, unsigned thread, const char *text)
{
    char name[16] = "";
    unsigned offset = 0;
    sscanf(text, "[%15[^]+]+%u", name, &offset);
    return *machine_register(b, thread, name) + offset;
}

static uint64_t computed(const char *op, uint64_t x, uint64_t y, uint64_t z)
{
    if (strncmp(op, "and", 3) == 0)
        return x & y;
    if (strncmp(op, "or", 2) == 0)
        return x | y;
    if (strncmp(op, "xor", 3) == 0)
        return x ^ y;
    if (strncmp(op, "shr", 3) == 0)
        return x >> y;
    if (strncmp(op, "shl", 3) == 0)
        return x << y;
    if (strncmp(op, "add", 3) == 0)
        return x + y;
    if (strncmp(op, "sub", 3) == 0)
        return x - y;
    if (strncmp(op, "mul", 3) == 0)
        return x * y;
    if (strncmp(op, "mad", 3) == 0)
        return x * y + z;
    if (strncmp(op, "selp", 4) == 0)
        return z ? x : y;
    return x; /* mov, cvt */
}

static uint64_t compared(const char *op, uint64_t x, uint64_t y, bool also)
{
    if (strcmp(op, "setp.lt.u32") == 0)
        return x < y;
    if (strcmp(op, "setp.ne.u32") == 0)
        return x != y;
    return x == y && also;
}

/* Loads and stores; false: outside. */
static bool moved(const struct line *l, struct block *b, unsigned t)
{
    const bool load = l->opcode[0] == 'l', shared = strstr(l->opcode, ".shared") != NULL;
    const size_t bytes = strstr(l->opcode, "b64") ? 8 : 4;
    const uint64_t at = machine_address(b, t, l->argument[load]);
    uint64_t *value = machine_register(b, t, l->argument[!load]);
    if (shared ? at + bytes > SHARED : !machine_holds(at, bytes))
        return false;
    void *memory = shared ? (void *)(b->shared + at) : (void *)(uintptr_t)at;
    if (load)
        *value = 0;
    memcpy(load ? (void *)value : memory, load ? memory : (void *)value, bytes);
    return true;
}

static bool step(const struct line *l, struct block *b, unsigned t)
{
    const char *op = l->opcode;
    if (strncmp(op, "ld.param", 8) == 0) {
        *machine_register(b, t, l->argument[0]) = parameter(b, l->argument[1]);
        return true;
    }
    if (strncmp(op, "ld.", 3) == 0 || strncmp(op, "st.", 3) == 0)
        return moved(l, b, t);
    const uint64_t x = operand(b, t, l->argument[1]), y = operand(b, t, l->argument[2]),
                   z = operand(b, t, l->argument[3]);
    uint64_t *to = machine_register(b, t, l->argument[0]);
    if (strncmp(op, "setp", 4) == 0)
        *to = compared(op, x, y, l->argument[3][0] == '\0' || z);
    else
        *to = computed(op, x, y, z) &
              (strstr(op, "64") || strstr(op, "wide") ? UINT64_MAX : UINT32_MAX);
    return true;
}

bool machine_is_on(const struct line *l, const struct block *b, unsigned thread)
{
    return l->predicate < 0 || (b->value[thread]['p'][l->predicate] != 0) != l->negated;
}

/* wgmma.mma_async wants wgmma.fence before it, and is done when its group is committed and waited
 * for. */
static bool wgmma(const struct line *l, struct block *b)
{
    struct asked *asked = &b->asked;
    if (strstr(l->opcode, "mma_async")) {
        if (!asked->fenced || asked->mma)
            return false;
        asked->mma = l;
        asked->fenced = asked->committed = false;
        return true;
    }
    if (strstr(l->opcode, "wait_group") && asked->mma && asked->committed) {
        matrix_wgmma(asked->mma, b);
        asked->mma = NULL;
    }
    asked->fenced |= strstr(l->opcode, "wgmma.fence") != NULL;
    asked->committed |= strstr(l->opcode, "commit_group") != NULL;
    return true;
}

/* What a block or its warps do together; `done`: it is such a line. */
static bool together(const struct line *l, struct block *b, bool *done)
{
    *done = true;
    if (strncmp(l->opcode, "wgmma.", 6) == 0)
        return wgmma(l, b);
    if (strncmp(l->opcode, "tcgen05.", 8) == 0 || strncmp(l->opcode, "mbarrier.", 9) == 0)
        return tensor_line(l, b);
    if (strncmp(l->opcode, "mma.", 4) == 0)
        matrix_mma(l, b);
    else if (strcmp(l->opcode, "fence.proxy.async") == 0)
        memcpy(b->asked.shared, b->shared, SHARED);
    else
        *done = strcmp(l->opcode, "bar.sync") == 0;
    return true;
}

static size_t line_of(const struct program *p, const char *label)
{
    for (size_t i = 0; i < p->labels; i++)
        if (strcmp(p->label[i].name, label) == 0)
            return p->label[i].line;
    abort();
}

/* At the end all is done, and tensor memory given back. */
bool machine_run(const struct program *p, struct block *b)
{
    b->asked.mma = b->tensor.loading = NULL;
    b->tensor.columns = b->tensor.phase = 0;
    b->asked.fenced = b->asked.committed = false;
    for (size_t pc = 0; strcmp(p->line[pc].opcode, "ret") != 0; pc++) {
        const struct line *l = &p->line[pc];
        bool done;
        if (strcmp(l->opcode, "bra") == 0) {
            if (machine_is_on(l, b, 0))
                pc = line_of(p, l->argument[0]) - 1;
            continue;
        }
        if (!together(l, b, &done))
            return false;
        for (unsigned t = 0; !done && t < b->threads; t++)
            if (machine_is_on(l, b, t) && !step(l, b, t))
                return false;
    }
    return !b->asked.mma && b->tensor.columns == 0;
}
