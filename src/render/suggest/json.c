#include "render/core/rows.h"
#include "render/suggest/parts.h"
#include "solve/problem/flops.h"

static const char schema[] = "memsnap.suggest/1";

static void put_name(struct json_writer *json, const char *key, struct text name)
{
    json_put_bytes(json, key, name.bytes, name.size);
}

/* The source of the figures. */
static void put_basis(struct json_writer *json, const struct suggest_subject *subject)
{
    const struct problem *problem = subject->problem;
    json_put_count(json, "pieces", problem->chain.layers);
    if (problem->merged > 0)
        json_put_count(json, "merged_pieces", problem->merged);
    json_put_string(json, "time",
                    problem->times_given ? "given"
                    : problem->timed     ? "recorded"
                    : problem->weighed   ? "operator_classes"
                                         : "activation_bytes");
    if (subject->forward)
        suggest_put_forward(json, subject);
}

static void put_without(struct json_writer *json, const struct problem *problem)
{
    json_put_integer(json, "no_checkpoint_peak_bytes", suggest_peak_without(problem));
    if (problem->has_totals)
        json_put_integer(json, "no_checkpoint_total_peak_bytes",
                         problem->no_checkpoint_total_bytes);
}

static void put_segments(struct json_writer *json, const struct problem *problem,
                         const struct placement *placement)
{
    json_put_open(json, "segments", '[');
    for (size_t k = 0; k < placement->count; k++) {
        struct wrapped segment = placement->segments[k];
        json_put_open(json, NULL, '{');
        json_put_count(json, "depth", segment.depth);
        json_put_open(json, "modules", '[');
        for (size_t i = segment.first; i < segment.end; i++)
            for (size_t m = problem->pieces[i].first_module; m < problem->pieces[i].end_module; m++)
                put_name(json, NULL, problem->modules[m]);
        json_put_close(json, ']');
        suggest_put_kept(json, problem, segment);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

/* Puts what the trace, or the step, would reserve with the placement at `index`. */
static void put_reserved(struct json_writer *json, const struct suggest_subject *subject,
                         size_t index, const struct placement *placement)
{
    if (!subject->replans || placement->count == 0)
        return;
    const struct replan *replan = &subject->replans[index];
    if (replan->has_totals) {
        json_put_integer(json, "total_peak_bytes", (int64_t)replan->with_total);
        json_put_integer(json, "no_checkpoint_total_peak_bytes", (int64_t)replan->without_total);
        if (replan->own_total < replan->with_total)
            json_put_count(json, "total_peak_at_least_bytes", replan->own_total);
        uint64_t most = replan->worst_total;
        if (subject->problem->by_calls && replan->alone_total > most)
            most = replan->alone_total;
        if (most > replan->with_total)
            json_put_count(json, "total_peak_at_most_bytes", most);
        uint64_t elsewhere = subject->forward->elsewhere.bytes;
        if (replan->is_whole && replan->trace_total > elsewhere)
            elsewhere = replan->trace_total;
        if (subject->forward->unused.bytes <= replan->with_total)
            json_put_count(json, "trace_total_peak_bytes",
                           elsewhere > replan->with_total ? elsewhere : replan->with_total);
    }
    if (!replan->is_known) {
        json_put_string(json, "reserved_not_known", replan->why);
        return;
    }
    json_put_string(json, "reserved_in", replan->is_whole ? "trace" : "step");
    json_put_integer(json, "reserved_peak_bytes", (int64_t)replan->with_bytes);
    if (replan->with_most_bytes > replan->with_bytes)
        json_put_count(json, "reserved_peak_at_most_bytes", replan->with_most_bytes);
    json_put_integer(json, "no_checkpoint_reserved_peak_bytes", (int64_t)replan->without_bytes);
    json_put_count(json, "allocated_peak_bytes", replan->with_blocks);
    json_put_count(json, "no_checkpoint_allocated_peak_bytes", replan->without_blocks);
}

/* Nothing if the trace does not tell. */
static void put_flops(struct json_writer *json, const struct suggest_subject *subject,
                      const struct placement *plan)
{
    struct budget budget = {.limit = SIZE_MAX};
    struct error err;
    double share;
    if (!problem_extra_flops(subject->problem, subject->trace, plan, &share, &budget, &err))
        json->failed = true;
    else if (share >= 0)
        json_put_real(json, "extra_flops_share", share);
}

bool suggest_fairscale_json(FILE *out, const struct suggest_subject *subject,
                            const struct fairscale_advice *advice)
{
    const struct problem *problem = subject->problem;
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", schema);
    json_put_string(&json, "model", "sum");
    json_put_count(&json, "checkpoints", advice->checkpoints);
    json_put_count(&json, "skipped_layers", advice->skipped);
    json_put_integer(&json, "max_memory", advice->answer.max_memory);
    json_put_open(&json, "split_modules", '[');
    for (size_t k = 0; k < advice->answer.count; k++)
        put_name(&json, NULL, layer_name(subject->trace, advice->modules[advice->answer.cuts[k]]));
    json_put_close(&json, ']');
    json_put_open(&json, "split_indices", '[');
    for (size_t k = 0; k < advice->answer.count; k++)
        json_put_count(&json, NULL, advice->answer.cuts[k]);
    json_put_close(&json, ']');
    json_put_count(&json, "modules", advice->module_count);
    json_put_count(&json, "splits_inside_blocks", advice->inside);
    json_put_integer(&json, "peak_bytes", advice->outcome.peak_bytes);
    if (problem->has_totals)
        json_put_integer(&json, "total_peak_bytes",
                         problem->before_bytes + advice->outcome.total_bytes);
    suggest_put_cost(&json, problem, advice->outcome.extra_time);
    put_without(&json, problem);
    put_reserved(&json, subject, 0, &advice->parts);
    json_put_open(&json, "best", '{');
    json_put_string(&json, "model", "peak");
    json_put_integer(&json, "peak_bytes", advice->best_outcome.peak_bytes);
    if (problem->has_totals)
        json_put_integer(&json, "total_peak_bytes",
                         problem->before_bytes + advice->best_outcome.total_bytes);
    suggest_put_cost(&json, problem, advice->best_outcome.extra_time);
    put_flops(&json, subject, &advice->best);
    put_segments(&json, problem, &advice->best);
    put_reserved(&json, subject, 1, &advice->best);
    json_put_close(&json, '}');
    json.failed |= !suggest_put_apply(&json, subject, &advice->best);
    json.failed |= !suggest_put_warnings(&json, subject, &advice->best);
    put_basis(&json, subject);
    json_put_string(&json, "backend", "cpu");
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}

static void put_schedule(struct json_writer *json, const struct problem *problem,
                         const struct schedule *schedule)
{
    static const char *const words[] = {"forward", "forward_store", "forward_keep", "backward"};
    json_put_open(json, "schedule", '[');
    for (size_t k = 0; k < schedule->count; k++) {
        struct operation operation = schedule->operations[k];
        const struct piece *piece = &problem->pieces[operation.layer];
        json_put_open(json, NULL, '{');
        json_put_string(json, "run", words[operation.kind]);
        put_name(json, "module", problem->modules[piece->first_module]);
        json_put_count(json, "piece", operation.layer);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_feasible(struct json_writer *json, const struct suggest_subject *subject,
                         const struct budget_plan *plan, size_t index)
{
    const struct problem *problem = subject->problem;
    json_put_integer(json, "peak_bytes", plan->peak_bytes);
    if (problem->has_totals)
        json_put_integer(json, "total_peak_bytes", plan->total_bytes);
    suggest_put_cost(json, problem, plan->extra_time);
    put_flops(json, subject, &plan->segments);
    json_put_open(json, "split_modules", '[');
    for (size_t k = 0; k < plan->segments.count; k++)
        put_name(json, NULL,
                 problem->modules[problem->pieces[plan->segments.segments[k].first].first_module]);
    json_put_close(json, ']');
    put_segments(json, problem, &plan->segments);
    json->failed |= !suggest_put_apply(json, subject, &plan->segments);
    json->failed |= !suggest_put_warnings(json, subject, &plan->segments);
    put_schedule(json, problem, &plan->schedule);
    json_put_bool(json, "verified", plan->verified);
    put_reserved(json, subject, index, &plan->segments);
}

static void put_plan(struct json_writer *json, const struct suggest_subject *subject,
                     const struct budget_plan *plan, size_t index)
{
    json_put_string(json, "model", plan->model == PLAN_PEAK ? "peak" : "rotor");
    json_put_integer(json, "budget_bytes", plan->budget_bytes);
    json_put_bool(json, "feasible", plan->feasible);
    if (plan->feasible)
        put_feasible(json, subject, plan, index);
    else
        json_put_integer(json, "least_budget_bytes", plan->least_budget_bytes);
    json_put_integer(json, "slot_bytes", plan->model == PLAN_ROTOR ? plan->slot_bytes : 1);
    json_put_string(json, "backend", plan->backend ? plan->backend->name : "cpu");
}

bool suggest_plans_json(FILE *out, const struct suggest_subject *subject,
                        const struct budget_plan *plans, size_t count)
{
    const struct problem *problem = subject->problem;
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", schema);
    if (count == 1) {
        put_plan(&json, subject, &plans[0], 0);
    } else {
        json_put_open(&json, "plans", '[');
        for (size_t k = 0; k < count; k++) {
            json_put_open(&json, NULL, '{');
            put_plan(&json, subject, &plans[k], k);
            json_put_close(&json, '}');
        }
        json_put_close(&json, ']');
    }
    put_without(&json, problem);
    put_basis(&json, subject);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}

static const struct problem *problem_of(const struct field_context *context)
{
    return ((const struct suggest_subject *)context->user)->problem;
}

/* A point of the front, or a point of comparison. context->user is the struct suggest_subject. */
struct plan_point {
    const char *name; /* NULL: none */
    int64_t peak_bytes, extra_time, total_peak_bytes;
    size_t segments;
    bool knee;
};

static bool has_totals(const void *data, const struct field_context *context)
{
    (void)data;
    return problem_of(context)->has_totals;
}

static struct value cost_share(const void *data, const struct field_context *context)
{
    return (struct value){
        VALUE_REAL, .real = problem_cost_share(problem_of(context),
                                               ((const struct plan_point *)data)->extra_time)};
}

static bool is_timed(const void *data, const struct field_context *context)
{
    (void)data;
    return problem_of(context)->timed;
}

static bool is_untimed(const void *data, const struct field_context *context)
{
    return !is_timed(data, context);
}

/* Either of them; see suggest_put_cost(). */
#define COST_FIELDS                                                                                \
    FIELD_CALL(REAL, "extra_time_share", cost_share, .present = is_timed),                         \
        FIELD_CALL(REAL, "recomputed_share", cost_share, .present = is_untimed)
#define ROW struct plan_point
static const struct row_type point_type =
    ROW_TYPE("points", ROW, FIELD(ROW, BYTES, peak_bytes),
             FIELD(ROW, BYTES, total_peak_bytes, .present = has_totals), COST_FIELDS,
             FIELD(ROW, FLAG, knee));
static const struct row_type nested_type = ROW_TYPE("nested", ROW, FIELD(ROW, BYTES, peak_bytes),
                                                    COST_FIELDS, FIELD(ROW, COUNT, segments));
static const struct row_type comparison_type =
    ROW_TYPE("comparison", ROW, FIELD(ROW, WORD, name), FIELD(ROW, COUNT, segments),
             FIELD(ROW, BYTES, peak_bytes),
             FIELD(ROW, BYTES, total_peak_bytes, .present = has_totals), COST_FIELDS);
#undef ROW
#undef COST_FIELDS

static void put_point(struct json_writer *json, const char *name, const struct front_point *from,
                      bool is_knee, const struct field_context *context)
{
    const struct plan_point point = {.peak_bytes = from->peak_bytes,
                                     .extra_time = from->extra_time,
                                     .total_peak_bytes =
                                         problem_of(context)->before_bytes + from->total_bytes,
                                     .knee = is_knee};
    json_put_row(json, name, &point_type, &point, context);
}

static void put_points(struct json_writer *json, const struct front_advice *front,
                       const struct field_context *context)
{
    json_put_open(json, point_type.name, '[');
    for (size_t i = 0; i < front->front.count; i++)
        put_point(json, NULL, &front->front.points[i], front->knees[i], context);
    json_put_close(json, ']');
    put_point(json, "least", &front->front.least, false, context);
    json_put_open(json, nested_type.name, '[');
    for (size_t i = 0; i < front->nested.count; i++) {
        const struct rotor_point *from = &front->nested.points[i];
        const struct plan_point point = {.peak_bytes = from->peak_bytes,
                                         .extra_time = from->extra_time,
                                         .segments = from->checkpoints};
        json_put_row(json, NULL, &nested_type, &point, context);
    }
    json_put_close(json, ']');
    json_put_open(json, comparison_type.name, '[');
    for (size_t k = 0; k < COMPARISON_POINTS; k++) {
        const struct comparison_point *from = &front->comparison[k];
        const struct plan_point point = {.name = from->name,
                                         .peak_bytes = from->outcome.peak_bytes,
                                         .extra_time = from->outcome.extra_time,
                                         .total_peak_bytes = problem_of(context)->before_bytes +
                                                             from->outcome.total_bytes,
                                         .segments = from->checkpoints};
        json_put_row(json, NULL, &comparison_type, &point, context);
    }
    json_put_close(json, ']');
}

bool suggest_front_json(FILE *out, const struct suggest_subject *subject,
                        const struct front_advice *front)
{
    const struct problem *problem = subject->problem;
    const struct field_context context = {.user = subject};
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", schema);
    json_put_string(&json, "model", "peak");
    put_without(&json, problem);
    put_points(&json, front, &context);
    if (subject->forward)
        json_put_string(&json, "reserved_not_known",
                        "the points are not replayed; a plan with --budget is");
    put_basis(&json, subject);
    json_put_string(&json, "backend", "cpu");
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
