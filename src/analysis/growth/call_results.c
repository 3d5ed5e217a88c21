#include "analysis/growth/call_results.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/code/paths.h"

#define LEVELS 512 /* of Python calls; deeper calls count as the deepest */
#define NONE   UINT32_MAX
#define LOOP   3 /* calls at one line that make it a loop */

/* What a frame means for the results of a call. */
enum role {
    ROLE_UNSEEN,
    ROLE_PASSES,     /* native, or torch's code around each call of a module: holds nothing */
    ROLE_HOLDS,      /* other Python */
    ROLE_SEQUENTIAL, /* holds its last result only */
};

struct result {
    uint32_t lifetime;
    uint32_t next;         /* in the list of its call */
    uint32_t next_of_line; /* in the list of its line; only while it may be replaced */
    frame_id line;         /* of the call that holds it */
    uint32_t arrival; /* number of the return, or of the allocation, with which it came there */
    bool is_handed;   /* a function that the call has called made it */
    bool is_over;
};

/* What functions that were called at a line have returned there. */
struct loop {
    uint32_t returns;      /* that are not visited yet */
    uint32_t last_arrival; /* of the last one that was visited */
    bool is_loop;
};

/* A call in progress. */
struct call {
    frame_id line;
    frame_id last; /* the line that has made or received a result last; NO_FRAME: none */
    bool last_is_handed;
    uint32_t results; /* of this turn, the latest first */
    uint32_t old;     /* of earlier turns */
};

struct call_results {
    struct site_table *sites;
    struct budget *budget;
    call_results_end *end;
    void *context;
    uint8_t *roles;     /* by frame */
    uint32_t *of_line;  /* by frame: results of earlier turns that its next ones replace */
    struct loop *loops; /* by frame; scratch */
    uint32_t arrivals;
    struct result *results;
    size_t count, result_capacity, role_capacity, line_capacity, loop_capacity;
    size_t depth;
    bool is_lost; /* the last item's stack shows no call in progress */
    struct call calls[LEVELS];
};

struct call_results *call_results_create(struct site_table *sites, size_t most,
                                         call_results_end *end, void *context,
                                         struct budget *budget, struct error *err)
{
    size_t frames = symbols_frame_count(site_table_symbols(sites));
    struct call_results *results = calloc(1, sizeof(*results));
    if (!results) {
        error_out_of_memory(err);
        return NULL;
    }
    *results = (struct call_results){
        .sites = sites, .budget = budget, .end = end, .context = context, .is_lost = true};
    if (!vec_reserve(results->roles, results->role_capacity, frames + 1, budget, err) ||
        !vec_reserve(results->of_line, results->line_capacity, frames + 1, budget, err) ||
        !vec_reserve(results->loops, results->loop_capacity, frames + 1, budget, err) ||
        !vec_reserve(results->results, results->result_capacity, most + 1, budget, err)) {
        call_results_destroy(results);
        return NULL;
    }
    memset(results->roles, ROLE_UNSEEN, frames);
    memset(results->of_line, 0xFF, frames * sizeof(*results->of_line));
    memset(results->loops, 0, frames * sizeof(*results->loops));
    return results;
}

void call_results_destroy(struct call_results *results)
{
    if (!results)
        return;
    vec_free(results->roles, results->role_capacity, sizeof(*results->roles), results->budget);
    vec_free(results->of_line, results->line_capacity, sizeof(*results->of_line), results->budget);
    vec_free(results->loops, results->loop_capacity, sizeof(*results->loops), results->budget);
    vec_free(results->results, results->result_capacity, sizeof(*results->results),
             results->budget);
    free(results);
}

static enum role find_role(const struct call_results *results, frame_id id)
{
    const struct symbols *symbols = site_table_symbols(results->sites);
    struct frame frame = symbols_frame_at(symbols, id);
    enum frame_kind kind = site_frame_kind(results->sites, id);
    struct text base = path_base(symbols_text(symbols, frame.file));
    if (kind == FRAME_NATIVE || (kind == FRAME_LIBRARY && text_equals(base, "module.py")))
        return ROLE_PASSES;
    if (kind == FRAME_LIBRARY && text_equals(base, "container.py") &&
        text_equals(symbols_text(symbols, frame.name), "forward"))
        return ROLE_SEQUENTIAL;
    return ROLE_HOLDS;
}

static enum role role_of(struct call_results *results, frame_id id)
{
    if (results->roles[id] == ROLE_UNSEEN)
        results->roles[id] = (uint8_t)find_role(results, id);
    return (enum role)results->roles[id];
}

static void end_result(struct call_results *results, uint32_t index, size_t item)
{
    if (!results->results[index].is_over)
        results->end(results->context, results->results[index].lifetime, item);
    results->results[index].is_over = true;
}

static void end_list(struct call_results *results, uint32_t first, size_t item)
{
    for (uint32_t i = first; i != NONE; i = results->results[i].next)
        end_result(results, i, item);
}

/* A line of a call has new results: they replace those of an earlier turn, and in Sequential all
 * earlier ones. */
static void replace(struct call_results *results, struct call *call, bool is_handed, size_t item)
{
    for (uint32_t i = results->of_line[call->line]; i != NONE; i = results->results[i].next_of_line)
        end_result(results, i, item);
    results->of_line[call->line] = NONE;
    call->last = call->line;
    call->last_is_handed = is_handed;
    results->arrivals++;
    if (role_of(results, call->line) == ROLE_SEQUENTIAL) {
        end_list(results, call->results, item);
        call->results = NONE;
    }
}

static void put(struct call_results *results, struct call *call, bool is_handed, uint32_t index)
{
    struct result *result = &results->results[index];
    result->line = call->line;
    result->is_handed = is_handed;
    result->arrival = results->arrivals;
    result->next = call->results;
    call->results = index;
}

/* Counts the returns at each line of a call that holds results of them. */
static void count_returns(struct call_results *results, const struct call *call)
{
    for (uint32_t i = call->results; i != NONE; i = results->results[i].next)
        results->loops[results->results[i].line] = (struct loop){.last_arrival = NONE};
    for (uint32_t i = call->results; i != NONE; i = results->results[i].next) {
        const struct result *result = &results->results[i];
        struct loop *loop = &results->loops[result->line];
        loop->returns += result->is_handed && result->arrival != loop->last_arrival;
        loop->last_arrival = result->arrival;
    }
    for (uint32_t i = call->results; i != NONE; i = results->results[i].next) {
        struct loop *loop = &results->loops[results->results[i].line];
        loop->is_loop = loop->is_loop || loop->returns >= LOOP;
        loop->last_arrival = NONE;
    }
}

/* Leaves out what a list may hold for good: the results of a loop that calls functions, and the
 * result before it, which may be its input. The trace does not show how long the list lives. */
static void leave_lists(struct call_results *results, struct call *call)
{
    uint32_t *link = &call->results, input = NONE;
    count_returns(results, call);
    while (*link != NONE) {
        struct result *result = &results->results[*link];
        struct loop *loop = &results->loops[result->line];
        bool is_first = result->is_handed && result->arrival != loop->last_arrival;
        loop->last_arrival = result->arrival;
        if (is_first && --loop->returns == 0 && loop->is_loop)
            input = result->arrival;
        bool is_input = input != NONE && result->arrival < input;
        if (is_input)
            input = NONE;
        if (is_input || (loop->is_loop && result->is_handed))
            *link = result->next;
        else
            link = &result->next;
    }
}

/* Hands the results of the last line of a call to its caller. Those of other lines are left. */
static void hand_on(struct call_results *results, size_t level, size_t item)
{
    struct call *call = &results->calls[level], *caller = call - 1;
    uint32_t others = NONE;
    if (level == 0 || call->last == NO_FRAME)
        return;
    replace(results, caller, true, item);
    if (role_of(results, call->line) != ROLE_SEQUENTIAL)
        leave_lists(results, call);
    for (uint32_t i = call->results, next; i != NONE; i = next) {
        struct result *result = &results->results[i];
        next = result->next;
        if (result->line == call->last && result->is_handed == call->last_is_handed) {
            put(results, caller, true, i);
            continue;
        }
        result->next = others;
        others = i;
    }
    call->results = others;
    call->last = NO_FRAME;
}

static void end_calls(struct call_results *results, size_t level, size_t item)
{
    while (results->depth > level) {
        struct call *call = &results->calls[--results->depth];
        hand_on(results, results->depth, item);
        end_list(results, call->results, item);
        end_list(results, call->old, item);
    }
}

/* Begins another turn of a loop in a call, or another call of the same function. */
static void turn(struct call_results *results, size_t level, size_t item)
{
    struct call *call = &results->calls[level];
    hand_on(results, level, item);
    for (uint32_t i = call->results, next; i != NONE; i = next) {
        struct result *result = &results->results[i];
        next = result->next;
        result->next_of_line = results->of_line[result->line];
        results->of_line[result->line] = i;
        result->next = call->old;
        call->old = i;
    }
    call->results = NONE;
}

static bool is_same_function(const struct call_results *results, frame_id a, frame_id b)
{
    const struct symbols *symbols = site_table_symbols(results->sites);
    struct frame x = symbols_frame_at(symbols, a), y = symbols_frame_at(symbols, b);
    return x.file == y.file && x.name == y.name;
}

static bool is_earlier(const struct call_results *results, frame_id a, frame_id b)
{
    const struct symbols *symbols = site_table_symbols(results->sites);
    return symbols_frame_at(symbols, a).line < symbols_frame_at(symbols, b).line;
}

/* The Python calls of a stack, the outermost first. */
static size_t list_calls(struct call_results *results, const struct stack *stack,
                         frame_id lines[LEVELS])
{
    size_t depth = 0;
    for (size_t i = stack->count; i-- > 0 && depth < LEVELS;)
        if (role_of(results, stack->frames[i]) != ROLE_PASSES)
            lines[depth++] = stack->frames[i];
    return depth;
}

void call_results_follow(struct call_results *results, const struct stack *stack, size_t item,
                         bool allocates)
{
    frame_id lines[LEVELS];
    size_t depth = list_calls(results, stack, lines), same = 0;
    results->is_lost = depth == 0 || (results->depth > 0 &&
                                      !is_same_function(results, lines[0], results->calls[0].line));
    if (results->is_lost)
        return;
    while (same < depth && same < results->depth && lines[same] == results->calls[same].line)
        same++;
    bool goes_on = same < depth && same < results->depth &&
                   is_same_function(results, lines[same], results->calls[same].line);
    end_calls(results, goes_on ? same + 1 : same, item);
    if (goes_on) {
        if (is_earlier(results, lines[same], results->calls[same].line))
            turn(results, same, item);
        results->calls[same].line = lines[same];
    }
    for (; results->depth < depth; results->depth++)
        results->calls[results->depth] = (struct call){
            .line = lines[results->depth], .last = NO_FRAME, .results = NONE, .old = NONE};
    if (allocates)
        replace(results, &results->calls[depth - 1], false, item + 1);
}

void call_results_add(struct call_results *results, uint32_t lifetime)
{
    if (results->is_lost || results->count == results->result_capacity)
        return;
    uint32_t index = (uint32_t)results->count++;
    results->results[index] = (struct result){.lifetime = lifetime};
    put(results, &results->calls[results->depth - 1], false, index);
}
