#include "analysis/category.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/carried.h"
#include "analysis/paths.h"
#include "analysis/phases.h"

/* What the rules look at, for one allocation of the trace. */
struct evidence {
    const struct stack_facts *birth;
    const struct stack_facts *end; /* of the free's stack; NULL where there is none */
    uint32_t birth_run, end_run;   /* end_run NO_RUN: never freed */
};

struct assigner {
    const struct timeline *timeline;
    struct site_table *sites;
    struct phases phases;
    struct size_tallies tallies;
    uint32_t first_step_run;  /* the first run that is forward, backward or optimizer */
    bool is_cut;              /* the trace may end in the middle of a step */
    bool has_file_categories; /* some event carries a category of its own */
};

static enum phase phase_of_run(const struct assigner *assigner, uint32_t run)
{
    return run < assigner->phases.count ? (enum phase)assigner->phases.runs[run].phase
                                        : PHASE_UNKNOWN;
}

/* Whether the pass an allocation was born in is over before it is freed. */
static bool outlives_pass(const struct assigner *assigner, const struct evidence *evidence)
{
    if (evidence->end_run != NO_RUN)
        return evidence->end_run != evidence->birth_run;
    bool in_last_run = evidence->birth_run + 1 == assigner->phases.count;
    return !(in_last_run && assigner->is_cut);
}

static enum reason of_backward(const struct assigner *assigner, const struct evidence *evidence)
{
    if (outlives_pass(assigner, evidence))
        return REASON_BACKWARD_KEPT;
    if (evidence->end_run == NO_RUN)
        return evidence->birth->accumulates_grad ? REASON_BACKWARD_ACCUMULATED : REASON_NONE;
    const struct stack_facts *end = evidence->end;
    bool within_node =
        end && end->site.node != STRING_EMPTY && end->site.node == evidence->birth->site.node;
    return end && (end->in_operator || within_node) ? REASON_BACKWARD_IN_OPERATOR : REASON_BACKWARD_PASSED_ON;
}

/* The operators that bring a batch to the device or draw one there. */
static bool makes_input(const struct assigner *assigner, string_id op)
{
    static const char *const ops[] = {"aten::_to_copy", "aten::to",    "aten::copy_",
                                      "aten::randint",  "aten::randn", "aten::rand"};
    struct text text = symbols_text(site_table_symbols(assigner->sites), op);
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (text_equals(text, ops[i]))
            return true;
    return false;
}

static enum reason of_other(const struct assigner *assigner, const struct evidence *evidence)
{
    uint32_t birth = evidence->birth_run, end = evidence->end_run;
    if (!assigner->phases.any_step)
        return REASON_NONE;
    if (end == birth)
        return REASON_PLAIN_FREED;
    if (phase_of_run(assigner, end) == PHASE_BACKWARD)
        return REASON_BACKWARD_FREES;
    bool is_loss = birth > 0 && phase_of_run(assigner, birth - 1) == PHASE_FORWARD &&
                   phase_of_run(assigner, birth + 1) == PHASE_BACKWARD;
    if (is_loss)
        return REASON_LOSS;
    bool is_batch = end != NO_RUN && phase_of_run(assigner, birth + 1) == PHASE_FORWARD &&
                    makes_input(assigner, evidence->birth->site.op);
    return is_batch ? REASON_BATCH : REASON_NONE;
}

static enum reason decide(const struct assigner *assigner, const struct evidence *evidence)
{
    bool ends_in_run = evidence->end_run == evidence->birth_run;
    if (evidence->birth->is_workspace)
        return REASON_WORKSPACE;
    if (evidence->birth->communicates)
        return REASON_COMMUNICATION;
    switch ((enum context)evidence->birth->context) {
    case CONTEXT_OPTIMIZER:
        return ends_in_run ? REASON_STEP_FREED : REASON_STEP_KEPT;
    case CONTEXT_BACKWARD:
        return of_backward(assigner, evidence);
    case CONTEXT_RECOMPUTE:
        return ends_in_run && evidence->end && evidence->end->context == CONTEXT_RECOMPUTE
                   ? REASON_RECOMPUTED_FREED
                   : REASON_RECOMPUTED;
    case CONTEXT_FORWARD:
        return ends_in_run ? REASON_FORWARD_FREED : REASON_FORWARD_KEPT;
    case CONTEXT_INIT:
        return ends_in_run ? REASON_MODEL_MADE_FREED : REASON_MODEL_MADE;
    case CONTEXT_DATA:
    case CONTEXT_OTHER:
        return of_other(assigner, evidence);
    case CONTEXT_NONE:
        if (phase_of_run(assigner, evidence->birth_run) == PHASE_BACKWARD)
            return of_backward(assigner, evidence);
        if (phase_of_run(assigner, evidence->birth_run) == PHASE_OPTIMIZER)
            return ends_in_run ? REASON_STEP_FREED : REASON_STEP_KEPT;
        return REASON_NONE;
    case CONTEXT_ZERO_GRAD:
        break;
    }
    return REASON_NONE;
}

/* The category the file itself gives (a converted torch.profiler run); CATEGORY_COUNT without one.
 */
static enum category category_in_file(const struct timeline *timeline, uint32_t item)
{
    const struct snapshot *snapshot = timeline->snapshot;
    uint32_t extra = timeline->trace->extra[item];
    if (extra >= snapshot->extra_count || snapshot->extras[extra].category == STRING_EMPTY)
        return CATEGORY_COUNT;
    const char *label = symbols_text(snapshot->symbols, snapshot->extras[extra].category).bytes;
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (strcasecmp(label, category_name((enum category)i)) == 0)
            return (enum category)i;
    return CATEGORY_COUNT;
}

static bool decide_lifetime(const struct assigner *assigner, const struct lifetime *lifetime,
                            uint32_t birth_run, enum category *category,
                            enum reason *reason, struct error *err)
{
    const struct trace *trace = assigner->timeline->trace;
    uint32_t end = lifetime->free_requested != EVENT_NEVER ? lifetime->free_requested
                                                           : lifetime->free_completed;
    struct evidence evidence = {.birth_run = birth_run};
    evidence.end_run = phases_run_of(&assigner->phases, end);
    evidence.birth = site_stack_facts(assigner->sites, trace->stack[lifetime->alloc], err);
    if (!evidence.birth)
        return false;
    if (end != EVENT_NEVER && trace->stack[end] != STACK_NONE) {
        evidence.end = site_stack_facts(assigner->sites, trace->stack[end], err);
        if (!evidence.end)
            return false;
    }
    *category = assigner->has_file_categories
                    ? category_in_file(assigner->timeline, lifetime->alloc)
                    : CATEGORY_COUNT;
    *reason = REASON_FILE;
    if (*category == CATEGORY_COUNT) {
        *reason = decide(assigner, &evidence);
        *category = reason_category(*reason);
    }
    return true;
}

/* Made by plain Python code before the first step and never freed: a parameter, if the sizes say
 * so. */
static bool may_be_parameter(const struct assigner *assigner, const struct lifetime *lifetime,
                             uint32_t birth_run)
{
    return lifetime->free_requested == EVENT_NEVER && lifetime->free_completed == EVENT_NEVER &&
           birth_run < assigner->first_step_run;
}

/* Notes what the sizes of an allocation of known category tell about others. */
static bool tally_lifetime(struct assigner *assigner, const struct lifetime *lifetime,
                           uint32_t birth_run, enum category category, struct error *err)
{
    bool counts = category == CATEGORY_GRADIENT || category == CATEGORY_OPTIMIZER_STATE ||
                  (category == CATEGORY_UNKNOWN && may_be_parameter(assigner, lifetime, birth_run));
    if (!counts)
        return true;
    uint64_t size = assigner->timeline->trace->size[lifetime->alloc];
    struct size_tally *tally = size_tallies_at(&assigner->tallies, size, err);
    if (!tally)
        return false;
    if (category == CATEGORY_GRADIENT)
        size_tally_gradient(tally, birth_run);
    else if (category == CATEGORY_OPTIMIZER_STATE)
        tally->made_in_step++;
    else
        tally->persistent++;
    return true;
}

static bool assign_lifetimes(struct assigner *assigner, struct categories *categories,
                             struct error *err)
{
    const struct timeline *timeline = assigner->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t birth_run = phases_run_of(&assigner->phases, lifetime->alloc);
        enum category category;
        enum reason reason;
        if (!decide_lifetime(assigner, lifetime, birth_run, &category, &reason, err) ||
            !tally_lifetime(assigner, lifetime, birth_run, category, err))
            return false;
        categories->of_lifetime[i] = (uint8_t)category;
        categories->why_lifetime[i] = (uint8_t)reason;
    }
    return true;
}

/* Second look, once every size has been counted. */
static bool find_parameters(struct assigner *assigner, struct categories *categories,
                            struct error *err)
{
    const struct timeline *timeline = assigner->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t birth_run = phases_run_of(&assigner->phases, lifetime->alloc);
        if (birth_run >= assigner->first_step_run)
            break;
        if (categories->of_lifetime[i] != CATEGORY_UNKNOWN ||
            !may_be_parameter(assigner, lifetime, birth_run))
            continue;
        const struct size_tally *found =
            size_tallies_at(&assigner->tallies, timeline->trace->size[lifetime->alloc], err);
        if (!found)
            return false;
        if (size_tally_is_parameter(found)) {
            categories->of_lifetime[i] = CATEGORY_PARAMETER;
            categories->why_lifetime[i] = REASON_GRADIENT_SIZES;
        }
    }
    return true;
}

static bool assigner_init(struct assigner *assigner, const struct timeline *timeline,
                          struct site_table *sites, struct error *err)
{
    *assigner = (struct assigner){.timeline = timeline, .sites = sites};
    if (!phases_build(&assigner->phases, timeline, sites, err))
        return false;
    size_tallies_init(&assigner->tallies, timeline->snapshot->budget);
    assigner->is_cut =
        timeline->by_action[ACTION_OOM] > 0 || timeline->trace->edge.skipped_after > 0;
    for (size_t i = 0; i < timeline->snapshot->extra_count; i++)
        if (timeline->snapshot->extras[i].category != STRING_EMPTY)
            assigner->has_file_categories = true;
    while (assigner->first_step_run < assigner->phases.count &&
           phase_of_run(assigner, assigner->first_step_run) <= PHASE_DATA)
        assigner->first_step_run++;
    return true;
}

bool categories_assign(const struct timeline *timeline, struct site_table *sites,
                       struct categories *categories, struct error *err)
{
    struct assigner assigner;
    if (!assigner_init(&assigner, timeline, sites, err))
        return false;
    struct categories made = {
        .of_lifetime = malloc(timeline->lifetime_count + 1),
        .of_carried = malloc(timeline->carried_count + 1),
        .why_lifetime = malloc(timeline->lifetime_count + 1),
        .why_carried = malloc(timeline->carried_count + 1),
    };
    bool ok = made.of_lifetime && made.of_carried && made.why_lifetime && made.why_carried;
    if (!ok)
        error_set(err, STATUS_LIMIT, "out of memory (%zu allocations)", timeline->lifetime_count);
    ok = ok && assign_lifetimes(&assigner, &made, err) &&
         carried_assign(timeline, sites, &assigner.phases, &assigner.tallies, &made, err) &&
         find_parameters(&assigner, &made, err);
    phases_release(&assigner.phases);
    size_tallies_release(&assigner.tallies);
    if (!ok) {
        categories_release(&made);
        return false;
    }
    *categories = made;
    return true;
}

void categories_release(struct categories *categories)
{
    free(categories->of_lifetime);
    free(categories->of_carried);
    free(categories->why_lifetime);
    free(categories->why_carried);
    *categories = (struct categories){0};
}
