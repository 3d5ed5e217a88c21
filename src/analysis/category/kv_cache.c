/* Caches of the keys and values of attention, which generation keeps from token to token.
 *
 * Libraries have their own code for caches, which is known by name (code/frames.c). Other caches
 * are recognised by their lifetimes. A growing cache is concatenated in each forward pass, by one
 * line for several layers. Each block lives until the next pass has made a larger one. The blocks
 * of the first pass have no predecessor, but are freed by the same line as the others. A program
 * that trains concatenates much else, so there the cache must grow over more passes. A cache that
 * does not grow is made of equal blocks, for one request or for all requests (kv_pool.c). The
 * capture may also show only the blocks of a cache, and not how they were made (kv_standing.c). */
#include "analysis/category/classifier.h"

#include <string.h>

#include "analysis/code/operators.h"
#include "analysis/phase/births.h"
#include "base/text.h"

/* Forward passes in which a line made larger blocks than in the pass before. */
#define LEAST_GROWN  2
#define LEAST_ROLLED 8  /* the same in a program that trains, for rollouts between its steps */
#define LEAST_BLOCKS 2  /* equal blocks that a line makes in one pass, one for each layer */
#define LEAST_COPIED 4  /* the same, for a cache that is copied from pass to pass */
#define SCALAR       16 /* bytes: a block this small is a number, such as a seed, and no cache */
#define LEAST_HELD   3  /* forward passes that use the cache of one request */

/* Facts about a stack that allocates or frees. */
struct line {
    uint32_t run;       /* the last run in which it allocated */
    uint32_t count;     /* number of equal blocks in that run */
    uint32_t most;      /* highest number of equal blocks in one run */
    uint32_t runs;      /* number of runs in which it allocated */
    uint32_t grown;     /* number of runs with larger blocks than in the run before */
    uint64_t size;      /* size of the first block in that run */
    uint64_t last_size; /* size of the last block */
    uint32_t ends[2];   /* where the last two blocks of that size end, the latest first */
    bool frees_cache;
    bool holds_several; /* three equal blocks were live together */
};

struct finder {
    const struct classifier *classifier;
    struct categories *categories;
    struct line *lines; /* by stack */
    size_t line_capacity;
    uint32_t *forward_runs; /* by run, and at their end: the number of forward runs before it */
    size_t run_capacity;
};

static const struct lifetime *lifetime_at(const struct finder *finder, size_t index)
{
    return &finder->classifier->timeline->lifetimes[index];
}

static stack_id birth_stack(const struct finder *finder, size_t index)
{
    return finder->classifier->timeline->trace->stack[lifetime_at(finder, index)->alloc];
}

static stack_id end_stack(const struct finder *finder, size_t index)
{
    uint32_t end = lifetime_end(lifetime_at(finder, index));
    return end == EVENT_NEVER ? STACK_NONE : finder->classifier->timeline->trace->stack[end];
}

static uint32_t birth_run(const struct finder *finder, size_t index)
{
    return finder->classifier->phases->of_lifetime[index].birth;
}

static uint32_t end_run(const struct finder *finder, size_t index)
{
    return finder->classifier->phases->of_lifetime[index].end;
}

static enum reason reason_at(const struct finder *finder, size_t index)
{
    return reason_of(finder->categories->why_lifetime[index]);
}

static void set_reason(struct finder *finder, size_t index, enum reason reason)
{
    finder->categories->of_lifetime[index] = (uint8_t)reason_category(reason);
    finder->categories->why_lifetime[index] = (uint8_t)reason;
}

/* True if no backward pass needs an allocation that outlives the pass or the code that made it. */
static bool is_kept(const struct finder *finder, size_t index)
{
    return classifier_phase(finder->classifier, end_run(finder, index)) != PHASE_BACKWARD;
}

static bool is_operator(const struct finder *finder, const struct stack_facts *facts,
                        const char *const *names, size_t count)
{
    struct text op = symbols_text(site_table_symbols(finder->classifier->sites), facts->site.op);
    for (size_t i = 0; i < count; i++)
        if (text_equals(op, names[i]))
            return true;
    return false;
}

static bool is_concatenation(const struct finder *finder, const struct stack_facts *facts)
{
    static const char *const names[] = {"aten::cat", "aten::concat", "aten::concatenate"};
    /* Without C++ frames, the operator is not known. */
    return facts->site.op == STRING_EMPTY ||
           is_operator(finder, facts, names, sizeof(names) / sizeof(names[0]));
}

static void count_block(struct line *line, uint32_t run, uint64_t size)
{
    if (line->most == 0 || line->run != run) {
        line->grown += line->most > 0 && size > line->size;
        line->runs++;
        line->run = run;
        line->size = size;
        line->count = 0;
    }
    line->count += size == line->size;
    line->most = line->count > line->most ? line->count : line->most;
}

/* Notes whether a block is the third of equal ones that are live together. Code between layers may
 * end a run after each. The result of a layer replaces that of the layer before, so two are not
 * enough. */
static void note_held(struct line *line, uint64_t size, uint32_t birth, uint32_t end)
{
    if (line->last_size != size)
        line->ends[0] = line->ends[1] = 0;
    line->holds_several = line->holds_several || (line->ends[0] > birth && line->ends[1] > birth);
    line->last_size = size;
    line->ends[1] = line->ends[0];
    line->ends[0] = end;
}

/* Counts what each line keeps, and decides what code of a library allocated. */
static bool look(struct finder *finder, size_t index, struct error *err)
{
    const struct classifier *classifier = finder->classifier;
    enum category category = (enum category)finder->categories->of_lifetime[index];
    enum reason reason = reason_at(finder, index);
    if (reason == REASON_RULE || reason == REASON_FILE || category == CATEGORY_TEMPORARY ||
        !is_kept(finder, index))
        return true;
    const struct stack_facts *facts =
        site_stack_facts(classifier->sites, birth_stack(finder, index), err);
    if (!facts)
        return false;
    if (facts->is_kv_cache)
        set_reason(finder, index, REASON_KV_CACHE_CODE);
    else if (birth_stack(finder, index) != STACK_NONE) {
        const struct lifetime *block = lifetime_at(finder, index);
        struct line *line = &finder->lines[birth_stack(finder, index)];
        uint64_t size = trace_size(classifier->timeline->trace, block->alloc);
        count_block(line, birth_run(finder, index), size);
        note_held(line, size, block->alloc, lifetime_end(block));
    }
    return true;
}

/* True if a line mostly makes larger blocks than in the pass before. In a program that trains this
 * must happen more often, since such a program concatenates much else, and its batches differ in
 * length. */
static bool grows(const struct finder *finder, const struct line *line)
{
    bool trains = finder->classifier->first_backward_run != NO_RUN;
    if (trains && line->grown * 4 < line->runs * 3)
        return false;
    return line->grown >= (trains ? LEAST_ROLLED : LEAST_GROWN) && line->most >= LEAST_BLOCKS;
}

/* Decides blocks that one line concatenates and that become larger in each pass. */
static bool judge_growing(struct finder *finder, size_t index, struct error *err)
{
    stack_id stack = birth_stack(finder, index);
    if (finder->categories->of_lifetime[index] != CATEGORY_ACTIVATION ||
        !grows(finder, &finder->lines[stack]) || reason_at(finder, index) == REASON_RULE ||
        reason_at(finder, index) == REASON_FILE || !is_kept(finder, index))
        return true;
    const struct stack_facts *facts = site_stack_facts(finder->classifier->sites, stack, err);
    if (!facts)
        return false;
    if (!is_concatenation(finder, facts))
        return true;
    set_reason(finder, index, REASON_KV_CACHE_GROWS);
    if (end_stack(finder, index) != STACK_NONE)
        finder->lines[end_stack(finder, index)].frees_cache = true;
    return true;
}

/* True if plain code makes a block without contents before a rollout and frees it after the
 * rollout, so that no backward pass begins in between. Without C++ frames, the operator is not
 * known, so any operator counts. */
static bool is_for_rollout(const struct finder *finder, size_t index,
                           const struct stack_facts *facts)
{
    struct text op = symbols_text(site_table_symbols(finder->classifier->sites), facts->site.op);
    if (operator_computes(op))
        return false;
    for (uint32_t run = birth_run(finder, index); run < end_run(finder, index); run++)
        if (classifier_phase(finder->classifier, run) == PHASE_BACKWARD)
            return false;
    return true;
}

static uint64_t birth_size(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->classifier->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

/* The number of forward passes that begin while a block lives. */
static uint32_t passes_over(const struct finder *finder, size_t index)
{
    uint32_t end = end_run(finder, index);
    size_t until = end == NO_RUN ? finder->classifier->phases->count : end;
    return finder->forward_runs[until] - finder->forward_runs[birth_run(finder, index)];
}

/* True if a line allocates storage to be filled later, as torch.zeros() does. Other blocks that
 * stay may be results that the program collects. Without C++ frames the operator is not known; then
 * the line must make many blocks, for several requests. */
static bool makes_room(const struct finder *finder, const struct line *line,
                       const struct stack_facts *facts)
{
    struct text op = symbols_text(site_table_symbols(finder->classifier->sites), facts->site.op);
    return op.size > 0 ? operator_makes_storage(op)
                       : line->most >= LEAST_COPIED && line->runs >= LEAST_HELD;
}

/* True if judge_rest() may correct a block that was given this reason. */
static bool may_be_rest(bool trains, enum reason reason)
{
    if (reason == REASON_BEFORE_FORWARD || reason == REASON_BATCH)
        return true;
    return !trains && (reason == REASON_FORWARD_RESULT || reason == REASON_NONE ||
                       reason == REASON_AFTER_FORWARD);
}

/* True if plain code makes equal blocks for several layers at once, which live over several forward
 * passes and are freed together. That is the cache of one request. The program may also keep the
 * caches of requests that are done. */
static bool is_held(const struct finder *finder, size_t index, const struct stack_facts *facts)
{
    const struct line *line = &finder->lines[birth_stack(finder, index)];
    enum reason reason = reason_at(finder, index);
    bool stays = end_run(finder, index) == NO_RUN;
    uint32_t passes = passes_over(finder, index);
    if (facts->context != CONTEXT_OTHER || (stays && !makes_room(finder, line, facts)) ||
        birth_size(finder, index) <= SCALAR)
        return false;
    if (finder->classifier->first_backward_run != NO_RUN)
        return !stays && line->most >= LEAST_COPIED && passes >= LEAST_ROLLED &&
               may_be_rest(true, reason) && is_for_rollout(finder, index, facts);
    if (!may_be_rest(false, reason) || reason == REASON_FORWARD_RESULT)
        return false;
    return (line->most >= LEAST_BLOCKS && passes >= LEAST_HELD) ||
           (line->most >= LEAST_COPIED && line->runs >= LEAST_HELD && passes > 0);
}

/* Sets whether a stack frees blocks of a cache: of a growing one, or in a library's own code. */
static bool look_at_end(const struct finder *finder, stack_id end, bool *frees_cache,
                        struct error *err)
{
    *frees_cache = false;
    if (end == STACK_NONE)
        return true;
    const struct stack_facts *facts = site_stack_facts(finder->classifier->sites, end, err);
    *frees_cache = facts && (facts->is_kv_cache || finder->lines[end].frees_cache);
    return facts != NULL;
}

/* Decides blocks that a growing cache replaces, and caches of one request. */
static bool judge_rest(struct finder *finder, size_t index, struct error *err)
{
    bool trains = finder->classifier->first_backward_run != NO_RUN;
    if (!may_be_rest(trains, reason_at(finder, index)))
        return true;
    stack_id stack = birth_stack(finder, index);
    bool frees_cache, makes_several = finder->lines[stack].most >= LEAST_BLOCKS;
    if (!makes_several && !finder->lines[stack].holds_several)
        return true;
    const struct stack_facts *facts = site_stack_facts(finder->classifier->sites, stack, err);
    if (!facts || !look_at_end(finder, end_stack(finder, index), &frees_cache, err))
        return false;
    if (!trains && frees_cache && reason_at(finder, index) == REASON_FORWARD_RESULT)
        set_reason(finder, index, REASON_KV_CACHE_FIRST);
    else if (makes_several && is_held(finder, index, facts))
        set_reason(finder, index, REASON_KV_CACHE_HELD);
    return true;
}

static bool judge_preexisting(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->classifier->timeline;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        enum reason reason = reason_of(finder->categories->why_preexisting[i]);
        const struct stack_facts *facts =
            site_stack_facts(finder->classifier->sites, timeline->preexisting[i].stack, err);
        if (!facts)
            return false;
        if (!facts->is_kv_cache || reason == REASON_RULE || reason == REASON_FILE)
            continue;
        finder->categories->of_preexisting[i] = CATEGORY_KV_CACHE;
        finder->categories->why_preexisting[i] = REASON_KV_CACHE_CODE;
    }
    return true;
}

static bool any_grows(const struct finder *finder)
{
    size_t stacks = symbols_stack_count(site_table_symbols(finder->classifier->sites));
    for (size_t stack = 0; stack <= stacks; stack++)
        if (grows(finder, &finder->lines[stack]))
            return true;
    return false;
}

static bool judge_all(struct finder *finder, struct error *err)
{
    const uint32_t *outliving = finder->classifier->phases->outliving;
    size_t count = finder->classifier->phases->outliving_count;
    bool ok = true;
    for (size_t n = 0; ok && n < count; n++)
        ok = look(finder, outliving[n], err);
    bool any = ok && any_grows(finder);
    for (size_t n = 0; any && ok && n < count; n++)
        ok = judge_growing(finder, outliving[n], err);
    for (size_t n = 0; ok && n < count; n++)
        ok = judge_rest(finder, outliving[n], err);
    return ok;
}

static bool count_forward_runs(struct finder *finder, struct error *err)
{
    const struct phases *phases = finder->classifier->phases;
    uint32_t count = 0;
    if (!vec_reserve(finder->forward_runs, finder->run_capacity, phases->count + 1, phases->budget,
                     err))
        return false;
    for (size_t run = 0; run < phases->count; run++) {
        finder->forward_runs[run] = count;
        count += phases->runs[run].phase == PHASE_FORWARD;
    }
    finder->forward_runs[phases->count] = count;
    return true;
}

static bool find_by_lines(struct finder *finder, struct error *err)
{
    struct budget *budget = finder->classifier->timeline->snapshot->budget;
    size_t stacks = symbols_stack_count(site_table_symbols(finder->classifier->sites));
    bool ok = vec_reserve(finder->lines, finder->line_capacity, stacks + 1, budget, err) &&
              count_forward_runs(finder, err);
    if (ok) {
        memset(finder->lines, 0, (stacks + 1) * sizeof(*finder->lines));
        ok = judge_all(finder, err);
    }
    vec_free(finder->lines, finder->line_capacity, sizeof(*finder->lines), budget);
    vec_free(finder->forward_runs, finder->run_capacity, sizeof(*finder->forward_runs), budget);
    return ok;
}

bool classify_kv_cache(const struct classifier *classifier, struct categories *categories,
                       struct error *err)
{
    struct finder finder = {.classifier = classifier, .categories = categories};
    bool is_training = classifier->first_backward_run != NO_RUN;
    struct stacks_include include;
    if (!site_stacks_include(classifier->sites, &include, err) ||
        (include.kv_cache && !judge_preexisting(&finder, err)) ||
        (!is_training && (!classify_kv_standing(classifier, categories, err) ||
                          !classify_kv_pool(classifier, categories, err))))
        return false;
    if (!classifier->phases->has_stacks)
        return is_training || classify_kv_chains(classifier, categories, err);
    return find_by_lines(&finder, err);
}
