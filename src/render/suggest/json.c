#include "render/suggest/parts.h"

static const char schema[] = "memsnap.suggest/1";

static void emit_name(struct json_writer *json, const char *key, struct text name)
{
    json_put_bytes(json, key, name.bytes, name.size);
}

/* What the figures rest on. */
static void emit_basis(struct json_writer *json, const struct suggest_subject *subject)
{
    const struct problem *problem = subject->problem;
    json_put_count(json, "pieces", problem->chain.layers);
    if (problem->merged > 0)
        json_put_count(json, "merged_pieces", problem->merged);
    json_put_string(json, "time",
                    problem->times_given ? "given"
                    : problem->timed     ? "recorded"
                                         : "activation_bytes");
    if (subject->forward)
        suggest_emit_forward(json, subject);
}

static void emit_segments(struct json_writer *json, const struct problem *problem,
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
                emit_name(json, NULL, problem->modules[m]);
        json_put_close(json, ']');
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
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
        emit_name(&json, NULL, layer_name(subject->trace, advice->modules[advice->answer.cuts[k]]));
    json_put_close(&json, ']');
    json_put_open(&json, "split_indices", '[');
    for (size_t k = 0; k < advice->answer.count; k++)
        json_put_count(&json, NULL, advice->answer.cuts[k]);
    json_put_close(&json, ']');
    json_put_count(&json, "modules", advice->module_count);
    json_put_count(&json, "splits_inside_blocks", advice->inside);
    json_put_integer(&json, "peak_bytes", advice->outcome.peak_bytes);
    json_put_real(&json, "extra_time_share", suggest_share(problem, advice->outcome.extra_time));
    json_put_integer(&json, "no_checkpoint_peak_bytes", advice->without_bytes);
    json_put_open(&json, "best", '{');
    json_put_string(&json, "model", "peak");
    json_put_integer(&json, "peak_bytes", advice->best_outcome.peak_bytes);
    json_put_real(&json, "extra_time_share",
                  suggest_share(problem, advice->best_outcome.extra_time));
    emit_segments(&json, problem, &advice->best);
    json_put_close(&json, '}');
    emit_basis(&json, subject);
    json_put_string(&json, "backend", "cpu");
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}

static void emit_schedule(struct json_writer *json, const struct problem *problem,
                          const struct schedule *schedule)
{
    static const char *const words[] = {"forward", "forward_store", "forward_keep", "backward"};
    json_put_open(json, "schedule", '[');
    for (size_t k = 0; k < schedule->count; k++) {
        struct operation operation = schedule->operations[k];
        const struct piece *piece = &problem->pieces[operation.layer];
        json_put_open(json, NULL, '{');
        json_put_string(json, "run", words[operation.kind]);
        emit_name(json, "module", problem->modules[piece->first_module]);
        json_put_count(json, "piece", operation.layer);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void emit_feasible(struct json_writer *json, const struct problem *problem,
                          const struct budget_plan *plan)
{
    json_put_integer(json, "peak_bytes", plan->peak_bytes);
    json_put_real(json, "extra_time_share", suggest_share(problem, plan->extra_time));
    json_put_open(json, "split_modules", '[');
    for (size_t k = 0; k < plan->segments.count; k++)
        emit_name(json, NULL,
                  problem->modules[problem->pieces[plan->segments.segments[k].first].first_module]);
    json_put_close(json, ']');
    emit_segments(json, problem, &plan->segments);
    emit_schedule(json, problem, &plan->schedule);
    json_put_bool(json, "verified", plan->verified);
}

static void emit_plan(struct json_writer *json, const struct problem *problem,
                      const struct budget_plan *plan)
{
    json_put_string(json, "model", plan->model == PLAN_PEAK ? "peak" : "rotor");
    json_put_integer(json, "budget_bytes", plan->budget_bytes);
    json_put_bool(json, "feasible", plan->feasible);
    if (plan->feasible)
        emit_feasible(json, problem, plan);
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
        emit_plan(&json, problem, &plans[0]);
    } else {
        json_put_open(&json, "plans", '[');
        for (size_t k = 0; k < count; k++) {
            json_put_open(&json, NULL, '{');
            emit_plan(&json, problem, &plans[k]);
            json_put_close(&json, '}');
        }
        json_put_close(&json, ']');
    }
    json_put_integer(&json, "no_checkpoint_peak_bytes", peak_without(&problem->chain));
    emit_basis(&json, subject);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}

bool suggest_front_json(FILE *out, const struct suggest_subject *subject,
                        const struct front_advice *front)
{
    const struct problem *problem = subject->problem;
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", schema);
    json_put_string(&json, "model", "peak");
    json_put_integer(&json, "no_checkpoint_peak_bytes", peak_without(&problem->chain));
    json_put_open(&json, "points", '[');
    for (size_t i = 0; i < front->front.count; i++) {
        json_put_open(&json, NULL, '{');
        json_put_integer(&json, "peak_bytes", front->front.points[i].peak_bytes);
        json_put_real(&json, "extra_time_share",
                      suggest_share(problem, front->front.points[i].extra_time));
        json_put_bool(&json, "knee", front->knees[i]);
        json_put_close(&json, '}');
    }
    json_put_close(&json, ']');
    json_put_open(&json, "nested", '[');
    for (size_t i = 0; i < front->nested.count; i++) {
        const struct rotor_point *point = &front->nested.points[i];
        json_put_open(&json, NULL, '{');
        json_put_integer(&json, "peak_bytes", point->peak_bytes);
        json_put_real(&json, "extra_time_share", suggest_share(problem, point->extra_time));
        json_put_count(&json, "segments", point->checkpoints);
        json_put_close(&json, '}');
    }
    json_put_close(&json, ']');
    json_put_open(&json, "comparison", '[');
    for (size_t k = 0; k < COMPARISON_POINTS; k++) {
        json_put_open(&json, NULL, '{');
        json_put_string(&json, "name", front->comparison[k].name);
        json_put_count(&json, "segments", front->comparison[k].checkpoints);
        json_put_integer(&json, "peak_bytes", front->comparison[k].outcome.peak_bytes);
        json_put_real(&json, "extra_time_share",
                      suggest_share(problem, front->comparison[k].outcome.extra_time));
        json_put_close(&json, '}');
    }
    json_put_close(&json, ']');
    emit_basis(&json, subject);
    json_put_string(&json, "backend", "cpu");
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
