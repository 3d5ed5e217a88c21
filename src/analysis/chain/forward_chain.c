#include "analysis/chain/forward_chain.h"

#include <stdlib.h>

#include "analysis/chain/at_peak.h"
#include "analysis/chain/build.h"
#include "analysis/chain/doubts.h"
#include "analysis/chain/elsewhere.h"
#include "analysis/chain/held.h"
#include "analysis/chain/names.h"
#include "analysis/chain/part_calls.h"
#include "analysis/chain/rests.h"
#include "analysis/chain/selective.h"
#include "analysis/chain/sizes.h"
#include "analysis/chain/splits.h"
#include "analysis/growth/retained_graphs.h"
#include "analysis/phase/births.h"

const char *output_evidence_name(enum output_evidence evidence)
{
    static const char *const names[] = {"none", "last", "repeats"};
    return names[evidence];
}

static int64_t kept_by(const struct build *build, size_t part)
{
    bool by_loops = build->options->level == CHAIN_LOOPS;
    return (by_loops ? call_weight : call_kept)(&build->tree,
                                                &build->tree.nodes[build->cut.nodes[part]]);
}

static bool add_element(struct build *build, uint32_t part, struct error *err)
{
    struct forward_chain *chain = build->chain;
    if (!vec_reserve(chain->elements, chain->element_capacity, chain->count + 1, chain->budget,
                     err))
        return false;
    chain->elements[chain->count++] =
        (struct chain_element){.first_part = part, .end_part = part + 1};
    return true;
}

static bool is_modules(const struct chain_part *part)
{
    return part->end_call > part->first_call;
}

/* True if a part that keeps nothing belongs to the element after it, because it runs between module
 * calls and other code. A checkpoint around the module calls must end with them. The part may be a
 * module whose result the other code uses, such as in a concatenation. `last` is the last part
 * before it that keeps something. */
static bool belongs_to_next(const struct build *build, uint32_t part, uint32_t last)
{
    const struct chain_part *parts = build->chain->parts;
    while (part < build->cut.count && kept_by(build, part) == 0)
        part++;
    return part < build->cut.count && is_modules(&parts[last]) && !is_modules(&parts[part]);
}

/* A part that keeps nothing joins the element before it. At the beginning, or if it belongs to the
 * next element, it joins that one. */
static bool add_elements(struct build *build, struct error *err)
{
    struct forward_chain *chain = build->chain;
    int64_t kept = 0;
    uint32_t last = 0;
    for (uint32_t part = 0; part < build->cut.count; part++) {
        int64_t own = kept_by(build, part);
        bool alone = own == 0 && kept > 0 && belongs_to_next(build, part, last);
        bool join =
            chain->count > 0 && !alone && (own == 0 || kept == 0 || build->cut.joined[part]);
        if (!join && !add_element(build, part, err))
            return false;
        chain->elements[chain->count - 1].end_part = part + 1;
        kept = join ? kept + own : own;
        last = own > 0 ? part : last;
    }
    return true;
}

static void join_many(struct forward_chain *chain, size_t most)
{
    size_t count = chain->count;
    if (count <= most)
        return;
    for (size_t k = 0; k < most; k++) {
        struct chain_element element = chain->elements[count * k / most];
        element.end_part = chain->elements[count * (k + 1) / most - 1].end_part;
        chain->elements[k] = element;
    }
    chain->joined = count;
    chain->count = most;
}

/* Gives the calls of a part that keeps nothing to the part before it in its element, whose row they
 * continue. */
static void give_calls(struct chain_part *part, struct chain_part *before)
{
    if (before && before->end_call > before->first_call && before->end_call == part->first_call)
        before->end_call = part->end_call;
    part->first_call = part->end_call;
}

/* An element of several parts is named after the parts that keep something. The other parts are
 * dropped, unless they are iterations of a loop. */
static void drop_empty_parts(struct build *build)
{
    struct forward_chain *chain = build->chain;
    uint32_t made = 0;
    for (size_t i = 0; i < chain->count; i++) {
        struct chain_element *element = &chain->elements[i];
        uint32_t first = made;
        for (uint32_t part = element->first_part; part < element->end_part; part++) {
            bool keeps = kept_by(build, part) > 0;
            bool needed = keeps || chain->parts[part].loop != NO_LOOP;
            if (!keeps)
                give_calls(&chain->parts[part], made > first ? &chain->parts[made - 1] : NULL);
            if (needed || (made == first && part + 1 == element->end_part))
                chain->parts[made++] = chain->parts[part];
        }
        element->first_part = first;
        element->end_part = made;
    }
    chain->part_count = made;
}

static bool find_runs(struct build *build, struct error *err)
{
    struct forward_chain *chain = build->chain;
    if (!vec_grow((void **)&build->runs, &build->run_capacity, chain->count + 1, sizeof(uint32_t),
                  chain->budget, err))
        return false;
    for (size_t i = 0; i < chain->count; i++)
        build->runs[i] =
            build->tree.nodes[build->cut.nodes[chain->elements[i].first_part]].first_run;
    build->runs[chain->count] = (uint32_t)build->tree.run_count;
    return true;
}

static bool divide_at_calls(struct build *build, struct error *err)
{
    const struct chain_options *options = build->options;
    return module_calls_find(&build->calls, &build->tree, err) &&
           (options->level != CHAIN_CALLS ||
            cut_at_calls(&build->cut, &build->tree, &build->calls, options->most, err));
}

/* Makes no elements if the pattern of CHAIN_PATTERN matches no line. */
bool chain_make_elements(struct build *build, struct error *err)
{
    struct forward_chain *chain = build->chain;
    if (!cut_choose(&build->cut, &build->tree, build->options, err))
        return false;
    if (build->options->level == CHAIN_PATTERN && !build->cut.matched) {
        chain->absence = CHAIN_UNMATCHED;
        return true;
    }
    chain->by_depth = build->cut.by_depth;
    struct symbols *symbols = site_table_symbols(build->sites);
    if (!divide_at_calls(build, err) ||
        !chain_name_parts(chain, &build->tree, &build->cut, build->sites, err) ||
        !chain_set_calls(chain, &build->tree, &build->cut, &build->calls, symbols, err) ||
        !add_elements(build, err))
        return false;
    join_many(chain, build->options->most);
    if (!find_runs(build, err))
        return false;
    drop_empty_parts(build);
    return chain_tell_apart(chain, symbols, err);
}

static bool list_kept(struct build *build, struct error *err)
{
    struct forward_chain *chain = build->chain;
    const struct timeline *timeline = build->timeline;
    size_t count = timeline->lifetime_count;
    int64_t compiled = 0; /* bytes of torch.compile's code, less those of other code */
    for (size_t i = births_from(timeline, build->pass.first); i < count; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        if (item >= build->pass.backward)
            break;
        const struct stack_facts *facts =
            site_stack_facts(build->sites, timeline->trace->stack[item], err);
        if (!facts)
            return false;
        if (facts->is_kv_cache && lifetime_end(&timeline->lifetimes[i]) >= build->pass.backward)
            chain->cache_bytes += (int64_t)trace_size(timeline->trace, item);
        if (!pass_keeps(&build->pass, timeline, &build->categories, i))
            continue;
        bool is_cast = build->categories.of_lifetime[i] == CATEGORY_CAST_CACHE;
        bool is_held =
            !build->pass.unfinished && lifetime_end(&timeline->lifetimes[i]) >= build->pass.end;
        if ((is_held && !chain_add_held(chain, timeline->trace, item, err)) ||
            !vec_push(chain->kept, chain->kept_count, chain->kept_capacity, chain->budget, err,
                      item) ||
            (is_cast && !vec_push(chain->casts, chain->cast_count, chain->cast_capacity,
                                  chain->budget, err, item)))
            return false;
        chain->transformed |= facts->is_transformed;
        int64_t bytes = (int64_t)trace_size(timeline->trace, item);
        compiled += facts->is_compiled ? bytes : -bytes;
    }
    chain->compiled = compiled > 0;
    return true;
}

bool chain_measure_elements(struct build *build, struct error *err)
{
    struct forward_chain *chain = build->chain;
    struct chain_measure measure = {build->timeline, &build->categories, &build->tree,
                                    &build->pass,    build->runs,        build->sites};
    if (!chain_set_outputs(chain, &measure, err))
        return false;
    for (size_t i = 0; i < chain->count; i++) {
        chain->activation_bytes += chain->elements[i].activation_bytes;
        chain->checkpointed += chain->elements[i].checkpointed;
    }
    if (!list_kept(build, err) || !chain_set_readers(chain, &measure, err) ||
        !chain_set_extras(chain, &measure, err) || !chain_set_rests(chain, &measure, err) ||
        !chain_hold_read_results(chain, &measure, err))
        return false;
    chain_set_splits(chain, &measure);
    chain_find_largest(chain, &measure);
    return chain_set_doubts(chain, &measure, err) && chain_set_times(chain, &measure, err) &&
           chain_set_operators(chain, &measure, err);
}

/* Finds what retain_graph=True keeps: no backward pass frees it. */
static bool find_retained(struct build *build, struct error *err)
{
    struct retained_graphs retained;
    if (!retained_graphs_find(&retained, build->timeline, build->sites, &build->categories,
                              &build->phases, NULL, err))
        return false;
    build->chain->retained_bytes = retained.at_peak_bytes > retained.in_backward_bytes
                                       ? retained.at_peak_bytes
                                       : retained.in_backward_bytes;
    retained_graphs_release(&retained);
    return true;
}

static bool find_chain(struct build *build, struct error *err)
{
    const struct timeline *timeline = build->timeline;
    struct forward_chain *chain = build->chain;
    if (!chain_find_passes(build, err))
        return false;
    if (!build->pass.found) {
        chain->absence = !build->phases.has_stacks  ? CHAIN_NO_STACKS
                         : build->pass.any_backward ? CHAIN_NO_ACTIVATIONS
                                                    : CHAIN_NO_BACKWARD;
        return chain->absence != CHAIN_NO_ACTIVATIONS || find_retained(build, err);
    }
    bool whole = build->options->level == CHAIN_LOOPS;
    if (whole)
        pass_prefer_gradients(&build->pass, &build->passes, &build->lines, build->sites);
    if (!call_tree_build(&build->tree, timeline, build->sites, &build->categories, &build->pass,
                         whole, err))
        return false;
    if (!build->tree.has_stacks) {
        chain->absence = CHAIN_NO_STACKS;
        return true;
    }
    chain_describe_pass(build);
    chain_describe_peak(build);
    chain_compare_steps(build);
    return chain_add_other_passes(build, err) && chain_make_elements(build, err) &&
           (chain->absence != CHAIN_FOUND ||
            (chain_measure_elements(build, err) &&
             chain_relate_to_peak(chain, timeline, build->sites, &build->phases, &build->categories,
                                  &build->pass, err) &&
             chain_find_elsewhere(chain, timeline, build->sites, &build->categories, &build->phases,
                                  &build->passes, err)));
}

bool forward_chain_build(struct forward_chain *chain, const struct timeline *timeline,
                         struct site_table *sites, const struct chain_options *options,
                         struct error *err)
{
    struct forward_chain made = {.options = *options, .budget = timeline->snapshot->budget};
    struct build build = {.chain = &made, .timeline = timeline, .sites = sites, .options = options};
    bool ok = find_chain(&build, err);
    chain_release_build(&build);
    if (ok)
        *chain = made;
    else
        forward_chain_release(&made);
    return ok;
}

void forward_chain_release(struct forward_chain *chain)
{
    struct budget *budget = chain->budget;
    vec_free(chain->elements, chain->element_capacity, sizeof(*chain->elements), budget);
    vec_free(chain->parts, chain->part_capacity, sizeof(*chain->parts), budget);
    vec_free(chain->kept, chain->kept_capacity, sizeof(*chain->kept), budget);
    vec_free(chain->held, chain->held_capacity, sizeof(*chain->held), budget);
    vec_free(chain->rests, chain->rest_capacity, sizeof(*chain->rests), budget);
    vec_free(chain->doubts, chain->doubt_capacity, sizeof(*chain->doubts), budget);
    vec_free(chain->casts, chain->cast_capacity, sizeof(*chain->casts), budget);
    vec_free(chain->operators, chain->operator_capacity, sizeof(*chain->operators), budget);
    vec_free(chain->results, chain->result_capacity, sizeof(*chain->results), budget);
    vec_free(chain->calls, chain->call_capacity, sizeof(*chain->calls), budget);
    vec_free(chain->others, chain->other_capacity, sizeof(*chain->others), budget);
    vec_free(chain->loops, chain->loop_capacity, sizeof(*chain->loops), budget);
    *chain = (struct forward_chain){0};
}
