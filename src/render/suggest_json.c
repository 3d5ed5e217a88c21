#include "render/suggest_parts.h"

static const char schema[] = "memsnap.suggest/1";

static void emit_name(struct json_writer *json, const char *key, struct text name)
{
    emit_bytes(json, key, name.bytes, name.size);
}

/* What the figures rest on. */
static void emit_basis(struct json_writer *json, const struct suggest_subject *subject)
{
    const struct problem *problem = subject->problem;
    emit_count(json, "pieces", problem->chain.layers);
    if (problem->merged > 0)
        emit_count(json, "merged_pieces", problem->merged);
    emit_word(json, "time",
              problem->times_given ? "given"
              : problem->timed     ? "recorded"
                                   : "activation_bytes");
    if (subject->forward)
        suggest_emit_forward(json, subject);
}

static void emit_segments(struct json_writer *json, const struct problem *problem,
                          const struct placement *placement)
{
    emit_open(json, "segments", '[');
    for (size_t k = 0; k < placement->count; k++) {
        struct wrapped segment = placement->segments[k];
        emit_open(json, NULL, '{');
        emit_count(json, "depth", segment.depth);
        emit_open(json, "modules", '[');
        for (size_t i = segment.first; i < segment.end; i++)
            for (size_t m = problem->pieces[i].first_module; m < problem->pieces[i].end_module; m++)
                emit_name(json, NULL, problem->modules[m]);
        emit_close(json, ']');
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

bool suggest_fairscale_json(FILE *out, const struct suggest_subject *subject,
                            const struct fairscale_advice *advice)
{
    const struct problem *problem = subject->problem;
    struct json_writer json;
    json_writer_init(&json, out);
    emit_open(&json, NULL, '{');
    emit_word(&json, "schema", schema);
    emit_word(&json, "model", "sum");
    emit_count(&json, "checkpoints", advice->checkpoints);
    emit_count(&json, "skipped_layers", advice->skipped);
    emit_integer(&json, "max_memory", advice->answer.max_memory);
    emit_open(&json, "split_modules", '[');
    for (size_t k = 0; k < advice->answer.count; k++)
        emit_name(&json, NULL, layer_name(subject->trace, advice->modules[advice->answer.cuts[k]]));
    emit_close(&json, ']');
    emit_open(&json, "split_indices", '[');
    for (size_t k = 0; k < advice->answer.count; k++)
        emit_count(&json, NULL, advice->answer.cuts[k]);
    emit_close(&json, ']');
    emit_count(&json, "modules", advice->module_count);
    emit_count(&json, "splits_inside_blocks", advice->inside);
    emit_integer(&json, "peak_bytes", advice->outcome.peak_bytes);
    emit_real(&json, "extra_time_share", suggest_share(problem, advice->outcome.extra_time));
    emit_integer(&json, "no_checkpoint_peak_bytes", advice->without_bytes);
    emit_open(&json, "best", '{');
    emit_word(&json, "model", "peak");
    emit_integer(&json, "peak_bytes", advice->best_outcome.peak_bytes);
    emit_real(&json, "extra_time_share", suggest_share(problem, advice->best_outcome.extra_time));
    emit_segments(&json, problem, &advice->best);
    emit_close(&json, '}');
    emit_basis(&json, subject);
    emit_word(&json, "backend", "cpu");
    emit_close(&json, '}');
    return json_writer_finish(&json);
}

static void emit_schedule(struct json_writer *json, const struct problem *problem,
                          const struct schedule *schedule)
{
    static const char *const words[] = {"forward", "forward_store", "forward_keep", "backward"};
    emit_open(json, "schedule", '[');
    for (size_t k = 0; k < schedule->count; k++) {
        struct operation operation = schedule->operations[k];
        const struct piece *piece = &problem->pieces[operation.layer];
        emit_open(json, NULL, '{');
        emit_word(json, "run", words[operation.kind]);
        emit_name(json, "module", problem->modules[piece->first_module]);
        emit_count(json, "piece", operation.layer);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void emit_feasible(struct json_writer *json, const struct problem *problem,
                          const struct budget_plan *plan)
{
    emit_integer(json, "peak_bytes", plan->peak_bytes);
    emit_real(json, "extra_time_share", suggest_share(problem, plan->extra_time));
    emit_open(json, "split_modules", '[');
    for (size_t k = 0; k < plan->segments.count; k++)
        emit_name(json, NULL,
                  problem->modules[problem->pieces[plan->segments.segments[k].first].first_module]);
    emit_close(json, ']');
    emit_segments(json, problem, &plan->segments);
    emit_schedule(json, problem, &plan->schedule);
    emit_flag(json, "verified", plan->verified);
}

static void emit_plan(struct json_writer *json, const struct problem *problem,
                      const struct budget_plan *plan)
{
    emit_word(json, "model", plan->model == PLAN_PEAK ? "peak" : "rotor");
    emit_integer(json, "budget_bytes", plan->budget_bytes);
    emit_flag(json, "feasible", plan->feasible);
    if (plan->feasible)
        emit_feasible(json, problem, plan);
    else
        emit_integer(json, "least_budget_bytes", plan->least_budget_bytes);
    emit_integer(json, "slot_bytes", plan->model == PLAN_ROTOR ? plan->slot_bytes : 1);
    emit_word(json, "backend", plan->backend ? plan->backend->name : "cpu");
}

bool suggest_plans_json(FILE *out, const struct suggest_subject *subject,
                        const struct budget_plan *plans, size_t count)
{
    const struct problem *problem = subject->problem;
    struct json_writer json;
    json_writer_init(&json, out);
    emit_open(&json, NULL, '{');
    emit_word(&json, "schema", schema);
    if (count == 1) {
        emit_plan(&json, problem, &plans[0]);
    } else {
        emit_open(&json, "plans", '[');
        for (size_t k = 0; k < count; k++) {
            emit_open(&json, NULL, '{');
            emit_plan(&json, problem, &plans[k]);
            emit_close(&json, '}');
        }
        emit_close(&json, ']');
    }
    emit_integer(&json, "no_checkpoint_peak_bytes", peak_without(&problem->chain));
    emit_basis(&json, subject);
    emit_close(&json, '}');
    return json_writer_finish(&json);
}

bool suggest_front_json(FILE *out, const struct suggest_subject *subject,
                        const struct front_advice *front)
{
    const struct problem *problem = subject->problem;
    struct json_writer json;
    json_writer_init(&json, out);
    emit_open(&json, NULL, '{');
    emit_word(&json, "schema", schema);
    emit_word(&json, "model", "peak");
    emit_integer(&json, "no_checkpoint_peak_bytes", peak_without(&problem->chain));
    emit_open(&json, "points", '[');
    for (size_t i = 0; i < front->front.count; i++) {
        emit_open(&json, NULL, '{');
        emit_integer(&json, "peak_bytes", front->front.points[i].peak_bytes);
        emit_real(&json, "extra_time_share",
                  suggest_share(problem, front->front.points[i].extra_time));
        emit_flag(&json, "knee", front->knees[i]);
        emit_close(&json, '}');
    }
    emit_close(&json, ']');
    emit_open(&json, "nested", '[');
    for (size_t i = 0; i < front->nested.count; i++) {
        const struct rotor_point *point = &front->nested.points[i];
        emit_open(&json, NULL, '{');
        emit_integer(&json, "peak_bytes", point->peak_bytes);
        emit_real(&json, "extra_time_share", suggest_share(problem, point->extra_time));
        emit_count(&json, "segments", point->checkpoints);
        emit_close(&json, '}');
    }
    emit_close(&json, ']');
    emit_open(&json, "comparison", '[');
    for (size_t k = 0; k < COMPARISON_POINTS; k++) {
        emit_open(&json, NULL, '{');
        emit_word(&json, "name", front->comparison[k].name);
        emit_count(&json, "segments", front->comparison[k].checkpoints);
        emit_integer(&json, "peak_bytes", front->comparison[k].outcome.peak_bytes);
        emit_real(&json, "extra_time_share",
                  suggest_share(problem, front->comparison[k].outcome.extra_time));
        emit_close(&json, '}');
    }
    emit_close(&json, ']');
    emit_basis(&json, subject);
    emit_word(&json, "backend", "cpu");
    emit_close(&json, '}');
    return json_writer_finish(&json);
}
