#include "analysis/report/explain.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"

void explain_query_parse(const char *text, struct explain_query *query)
{
    char *end = NULL;
    *query = (struct explain_query){.site = text};
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X') || !text[2])
        return;
    uint64_t addr = strtoull(text, &end, 16);
    if (*end == '\0')
        *query = (struct explain_query){.addr = addr};
}

static struct explained of_preexisting(const struct device_report *report, size_t index)
{
    const struct preexisting *preexisting = &report->timeline->preexisting[index];
    return (struct explained){
        .category = report->all.of_preexisting[index],
        .reason = report->all.why_preexisting[index],
        .index = (uint32_t)index,
        .addr = preexisting->addr,
        .size = preexisting->size,
        .stack = preexisting->stack,
        .born = EVENT_NEVER,
        .freed = preexisting_end(preexisting),
    };
}

static struct explained of_lifetime(const struct device_report *report, size_t index)
{
    const struct trace *trace = report->timeline->trace;
    const struct lifetime *lifetime = &report->timeline->lifetimes[index];
    return (struct explained){
        .in_trace = true,
        .category = report->all.of_lifetime[index],
        .reason = report->all.why_lifetime[index],
        .index = (uint32_t)index,
        .addr = trace_addr(trace, lifetime->alloc),
        .size = trace_size(trace, lifetime->alloc),
        .stack = timeline_stack(report->timeline, index),
        .born = lifetime->alloc,
        .freed = lifetime_end(lifetime),
    };
}

/* Caches for each stack if its label contains the text. */
struct fitting {
    const struct explain_query *query;
    struct site_table *sites;
    uint8_t *known; /* by stack: 0 unknown, 1 fits, 2 does not fit */
    size_t count, capacity;
    struct buffer label;
};

static bool stack_fits(struct fitting *fitting, stack_id stack, bool *fits, struct error *err)
{
    if (fitting->known[stack] == 0) {
        struct site site;
        if (!site_of(fitting->sites, stack, &site, err))
            return false;
        buffer_clear(&fitting->label);
        site_label(fitting->sites, stack, &site, &fitting->label);
        if (fitting->label.failed)
            return error_out_of_memory(err);
        bool found = fitting->label.size > 0 && strstr(fitting->label.bytes, fitting->query->site);
        fitting->known[stack] = found ? 1 : 2;
    }
    *fits = fitting->known[stack] == 1;
    return true;
}

static bool add_if_fits(struct explanation *explanation, struct fitting *fitting,
                        const struct explained *item, struct error *err)
{
    bool fits = item->addr == fitting->query->addr;
    if (fitting->query->site && !stack_fits(fitting, item->stack, &fits, err))
        return false;
    if (!fits)
        return true;
    if (!vec_grow((void **)&explanation->items, &explanation->capacity, explanation->count + 1,
                  sizeof(*item), explanation->budget, err))
        return false;
    explanation->items[explanation->count++] = *item;
    return true;
}

static int compare_sizes(const void *a, const void *b)
{
    const struct explained *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->in_trace != y->in_trace)
        return x->in_trace ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool find_all(struct explanation *made, const struct device_report *report,
                     struct fitting *fitting, struct error *err)
{
    struct explained item;
    bool ok = vec_reserve(fitting->known, fitting->capacity, fitting->count, made->budget, err);
    if (ok)
        memset(fitting->known, 0, fitting->count);
    for (size_t i = 0; ok && i < report->timeline->preexisting_count; i++) {
        item = of_preexisting(report, i);
        ok = add_if_fits(made, fitting, &item, err);
    }
    for (size_t i = 0; ok && i < report->timeline->lifetime_count; i++) {
        item = of_lifetime(report, i);
        ok = add_if_fits(made, fitting, &item, err);
    }
    return ok;
}

bool explain_find(struct explanation *explanation, const struct device_report *report,
                  struct site_table *sites, const struct explain_query *query, struct error *err)
{
    struct explanation made = {.budget = report->timeline->snapshot->budget};
    struct fitting fitting = {.query = query, .sites = sites};
    fitting.count = symbols_stack_count(site_table_symbols(sites));
    bool ok = find_all(&made, report, &fitting, err);
    vec_free(fitting.known, fitting.capacity, 1, made.budget);
    buffer_release(&fitting.label);
    if (!ok) {
        explanation_release(&made);
        return false;
    }
    if (query->site && made.count > 0)
        qsort(made.items, made.count, sizeof(*made.items), compare_sizes);
    *explanation = made;
    return true;
}

void explanation_release(struct explanation *explanation)
{
    vec_free(explanation->items, explanation->capacity, sizeof(*explanation->items),
             explanation->budget);
    *explanation = (struct explanation){0};
}

static int compare_evidence(const void *a, const void *b)
{
    const struct size_evidence *x = a, *y = b;
    return (x->size > y->size) - (x->size < y->size);
}

struct size_evidence *explain_size(struct size_evidence *evidence, size_t sizes, uint64_t size)
{
    struct size_evidence key = {.size = size};
    return bsearch(&key, evidence, sizes, sizeof(key), compare_evidence);
}

static void count_one(struct size_evidence *evidence, size_t sizes, const struct explained *item)
{
    struct size_evidence *of = explain_size(evidence, sizes, item->size);
    if (!of)
        return;
    of->all++;
    of->never_freed += item->freed == EVENT_NEVER;
    of->by_category[item->category]++;
}

struct size_evidence *explain_sizes(const struct device_report *report,
                                    const struct explained *items, size_t count, size_t *sizes)
{
    struct size_evidence *evidence = calloc(count + 1, sizeof(*evidence));
    size_t distinct = 0;
    if (!evidence)
        return NULL;
    for (size_t i = 0; i < count; i++)
        evidence[i].size = items[i].size;
    qsort(evidence, count, sizeof(*evidence), compare_evidence);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || evidence[i].size != evidence[distinct - 1].size)
            evidence[distinct++].size = evidence[i].size;
    for (size_t i = 0; i < report->timeline->preexisting_count; i++) {
        struct explained item = of_preexisting(report, i);
        count_one(evidence, distinct, &item);
    }
    for (size_t i = 0; i < report->timeline->lifetime_count; i++) {
        struct explained item = of_lifetime(report, i);
        count_one(evidence, distinct, &item);
    }
    *sizes = distinct;
    return evidence;
}
