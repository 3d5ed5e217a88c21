#include "analysis/curves/site_ranks.h"

#include <stdlib.h>

/* Sites by number: all frames, then all operators, then the one for no stack. */
struct tally {
    struct site_table *sites;
    size_t frames;    /* their number */
    double *of_stack; /* areas */
    double *of_site;
    stack_id *example; /* by site: the stack with the largest area */
    size_t stack_count, site_count;
};

static void add(struct tally *tally, stack_id stack, uint64_t size, size_t begin, size_t end)
{
    if (begin < end)
        tally->of_stack[stack] += (double)size * (double)(end - begin);
}

static void add_all(struct tally *tally, const struct timeline *timeline,
                    const struct sampling *sampling)
{
    const struct trace *trace = timeline->trace;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        if (preexisting->in_active)
            add(tally, preexisting->stack, preexisting->size, sampling->unknown,
                sampling_column(sampling, preexisting->free_completed));
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        add(tally, trace->stack[lifetime->alloc], trace_size(trace, lifetime->alloc),
            sampling_column(sampling, lifetime->alloc),
            sampling_column(sampling, lifetime->free_completed));
    }
}

static bool find_number(const struct tally *tally, stack_id stack, size_t *number,
                        struct error *err)
{
    struct site site;
    frame_id frame;
    *number = tally->site_count - 1;
    if (stack == STACK_NONE)
        return true;
    if (!site_of(tally->sites, stack, &site, err))
        return false;
    *number = site_frame(tally->sites, stack, &site, &frame)
                  ? frame
                  : tally->frames + (site.node != STRING_EMPTY ? site.node : site.op);
    return true;
}

static bool sum_sites(struct tally *tally, struct error *err)
{
    for (size_t s = 0; s < tally->stack_count; s++) {
        size_t number;
        if (tally->of_stack[s] <= 0)
            continue;
        if (!find_number(tally, (stack_id)s, &number, err))
            return false;
        double before = tally->of_site[number];
        stack_id example = tally->example[number];
        tally->of_site[number] += tally->of_stack[s];
        if (before <= 0 || tally->of_stack[s] > tally->of_stack[example])
            tally->example[number] = (stack_id)s;
    }
    return true;
}

/* The sites of the largest areas in order; of equal ones, the lower number first. */
static size_t choose(const struct tally *tally, size_t most, size_t chosen[SITE_RANKS_MOST],
                     bool *has_others)
{
    size_t count = 0, seen = 0;
    for (size_t number = 0; number < tally->site_count; number++) {
        if (tally->of_site[number] <= 0)
            continue;
        seen++;
        size_t at = count;
        while (at > 0 && tally->of_site[chosen[at - 1]] < tally->of_site[number])
            at--;
        if (at == most)
            continue;
        if (count < most)
            count++;
        for (size_t i = count - 1; i > at; i--)
            chosen[i] = chosen[i - 1];
        chosen[at] = number;
    }
    *has_others = seen > count;
    return count;
}

static bool rank(const struct tally *tally, size_t most, struct site_ranks *ranks,
                 struct error *err)
{
    size_t chosen[SITE_RANKS_MOST];
    ranks->count = choose(tally, most, chosen, &ranks->has_others);
    for (size_t i = 0; i < ranks->count; i++)
        ranks->example[i] = tally->example[chosen[i]];
    for (size_t s = 0; s < tally->stack_count; s++) {
        size_t number, at = ranks->count;
        if (tally->of_stack[s] > 0) {
            if (!find_number(tally, (stack_id)s, &number, err))
                return false;
            for (at = 0; at < ranks->count && chosen[at] != number;)
                at++;
        }
        ranks->of_stack[s] = (uint8_t)at;
    }
    return true;
}

/* Finds the site of every stack first, since that adds operator names to the symbols; after that
 * the number of names is known. */
static bool count_sites(struct tally *tally, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(tally->sites);
    struct site site;
    for (size_t s = 0; s < tally->stack_count; s++)
        if (tally->of_stack[s] > 0 && !site_of(tally->sites, (stack_id)s, &site, err))
            return false;
    tally->frames = symbols_frame_count(symbols);
    tally->site_count = tally->frames + symbols_string_count(symbols) + 2;
    tally->of_site = calloc(tally->site_count, sizeof(*tally->of_site));
    tally->example = calloc(tally->site_count, sizeof(*tally->example));
    return (tally->of_site && tally->example) || error_out_of_memory(err);
}

bool site_ranks_make(struct site_ranks *ranks, const struct timeline *timeline,
                     const struct sampling *sampling, struct site_table *sites, size_t most,
                     struct error *err)
{
    struct tally tally = {.sites = sites,
                          .stack_count = symbols_stack_count(site_table_symbols(sites)) + 1};
    tally.of_stack = calloc(tally.stack_count, sizeof(*tally.of_stack));
    struct site_ranks made = {.of_stack = calloc(tally.stack_count, 1)};
    bool ok = (tally.of_stack && made.of_stack) || error_out_of_memory(err);
    if (ok) {
        add_all(&tally, timeline, sampling);
        ok = count_sites(&tally, err) && sum_sites(&tally, err) &&
             rank(&tally, most < SITE_RANKS_MOST ? most : SITE_RANKS_MOST, &made, err);
    }
    free(tally.of_stack);
    free(tally.of_site);
    free(tally.example);
    if (ok)
        *ranks = made;
    else
        site_ranks_release(&made);
    return ok;
}

void site_ranks_release(struct site_ranks *ranks)
{
    free(ranks->of_stack);
    *ranks = (struct site_ranks){0};
}
