/* The part of a suggestion's JSON from which a program applies the plan: the same modules, in the
 * same parts, as in the printed Python. */
#include <stdlib.h>

#include "render/suggest/parts.h"

struct applied {
    struct json_writer *json;
    const struct problem *problem;
    const struct placement *placement;
    struct left_out left_out;
    bool *written;            /* by index in left_out: the module was written once */
    struct wrapped *segments; /* the open segments, a stack: segments are nested or disjoint */
    size_t open;
};

static bool is_repeated(const struct applied *applied, struct text name)
{
    return left_out_index(&applied->left_out, name) != NOT_LEFT_OUT;
}

/* False for a repeated module that was written before. */
static bool write_once(struct applied *applied, struct text name)
{
    size_t index = left_out_index(&applied->left_out, name);
    if (index == NOT_LEFT_OUT)
        return true;
    bool first = !applied->written[index];
    applied->written[index] = true;
    return first;
}

/* Some module of the segment is written. */
static bool has_modules(const struct applied *applied, struct wrapped segment)
{
    const struct problem *problem = applied->problem;
    size_t m = problem->pieces[segment.first].first_module;
    for (; m < problem->pieces[segment.end - 1].end_module; m++)
        if (!is_repeated(applied, problem->modules[m]))
            return true;
    return false;
}

static void put_name(struct applied *applied, const char *key, struct text name)
{
    json_put_bytes(applied->json, key, name.bytes, name.size);
}

static void open_segment(struct applied *applied, struct wrapped segment)
{
    json_put_open(applied->json, NULL, '{');
    json_put_open(applied->json, "modules", '[');
    applied->segments[applied->open++] = segment;
}

static void close_segments(struct applied *applied, size_t end)
{
    for (; applied->open > 0 && applied->segments[applied->open - 1].end == end; applied->open--) {
        json_put_close(applied->json, ']');
        suggest_put_kept(applied->json, applied->problem, applied->segments[applied->open - 1]);
        json_put_close(applied->json, '}');
    }
}

static void put_piece(struct applied *applied, size_t piece)
{
    const struct problem *problem = applied->problem;
    for (size_t m = problem->pieces[piece].first_module; m < problem->pieces[piece].end_module; m++)
        if (!is_repeated(applied, problem->modules[m]))
            put_name(applied, NULL, problem->modules[m]);
}

/* Each part is one module, which may run more than once: each of its runs is checkpointed. */
static void put_whole(struct applied *applied)
{
    const struct problem *problem = applied->problem;
    for (size_t k = 0; k < applied->placement->count; k++) {
        struct text name =
            problem->modules[problem->pieces[applied->placement->segments[k].first].first_module];
        if (!write_once(applied, name))
            continue;
        open_segment(applied, applied->placement->segments[k]);
        put_name(applied, NULL, name);
        close_segments(applied, applied->placement->segments[k].end);
    }
}

static void put_nested(struct applied *applied)
{
    const struct placement *placement = applied->placement;
    size_t next = 0, layers = applied->problem->chain.layers;
    for (size_t i = 0; i < layers; i++) {
        close_segments(applied, i);
        for (; next < placement->count && placement->segments[next].first == i; next++)
            if (has_modules(applied, placement->segments[next]))
                open_segment(applied, placement->segments[next]);
        if (applied->open > 0)
            put_piece(applied, i);
    }
    close_segments(applied, layers);
}

static void put_call(void *data, struct text call)
{
    put_name(data, NULL, call);
}

/* False: out of memory. */
static bool put_calls(struct applied *applied, const struct suggest_subject *subject)
{
    bool ok = true;
    for (size_t k = 0; ok && k < applied->placement->count; k++) {
        struct wrapped segment = applied->placement->segments[k];
        open_segment(applied, segment);
        ok = suggest_each_call(subject, segment, put_call, applied);
        close_segments(applied, segment.end);
    }
    return ok;
}

static void put_reason(struct applied *applied, struct text name, const char *reason)
{
    json_put_open(applied->json, NULL, '{');
    put_name(applied, "module", name);
    json_put_string(applied->json, "reason", reason);
    json_put_close(applied->json, '}');
}

/* The modules of the placement that no part has. */
static void put_left_out(struct applied *applied, bool whole)
{
    const struct problem *problem = applied->problem;
    json_put_open(applied->json, "left_out", '[');
    for (size_t k = 0; !whole && k < applied->placement->count; k++) {
        struct wrapped segment = applied->placement->segments[k];
        size_t m = problem->pieces[segment.first].first_module;
        for (; m < problem->pieces[segment.end - 1].end_module; m++)
            if (is_repeated(applied, problem->modules[m]) &&
                write_once(applied, problem->modules[m]))
                put_reason(applied, problem->modules[m], "repeated");
    }
    json_put_close(applied->json, ']');
}

void suggest_put_kept(struct json_writer *json, const struct problem *problem,
                      struct wrapped segment)
{
    struct text names[CHAIN_OPTIONS];
    size_t count = suggest_kept(problem, segment, names);
    if (count == 0)
        return;
    json_put_open(json, "keep_operators", '[');
    for (size_t k = 0; k < count; k++)
        json_put_bytes(json, NULL, names[k].bytes, names[k].size);
    json_put_close(json, ']');
}

static void put_loops(struct json_writer *json, const struct suggest_subject *subject)
{
    json_put_open(json, "loops", '[');
    for (size_t k = 0; k < subject->forward->loop_count; k++) {
        const struct chain_loop *loop = &subject->forward->loops[k];
        struct text name = symbols_text(subject->trace->symbols, loop->name);
        json_put_open(json, NULL, '{');
        json_put_bytes(json, "name", name.bytes, name.size);
        json_put_count(json, "iterations", loop->iterations);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static bool put_apply(struct applied *applied, const struct suggest_subject *subject)
{
    bool whole = suggest_whole_modules(applied->problem, applied->placement), ok = true;
    bool by_calls = applied->problem->by_calls;
    json_put_open(applied->json, "apply", '{');
    json_put_string(applied->json, "target",
                    by_calls           ? "calls"
                    : subject->forward ? "lines"
                                       : "modules");
    json_put_open(applied->json, "parts", '[');
    if (by_calls)
        ok = put_calls(applied, subject);
    else if (whole)
        put_whole(applied);
    else
        put_nested(applied);
    json_put_close(applied->json, ']');
    put_left_out(applied, whole || by_calls);
    if (subject->forward && !by_calls)
        put_loops(applied->json, subject);
    json_put_close(applied->json, '}');
    return ok;
}

bool suggest_put_apply(struct json_writer *json, const struct suggest_subject *subject,
                       const struct placement *placement)
{
    if (suggest_is_compiled(subject))
        return true;
    struct applied applied = {.json = json, .problem = subject->problem, .placement = placement};
    bool ok = left_out_find(&applied.left_out, subject->problem);
    if (ok) {
        applied.segments = malloc((placement->count + 1) * sizeof(*applied.segments));
        applied.written = calloc(applied.left_out.count + 1, sizeof(*applied.written));
        ok = applied.segments && applied.written;
    }
    ok = ok && put_apply(&applied, subject);
    left_out_release(&applied.left_out);
    free(applied.segments);
    free(applied.written);
    return ok;
}
