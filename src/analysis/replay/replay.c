#include "analysis/replay/replay.h"

#include <stdio.h>
#include <string.h>

#define TRUSTED_SHARE 100 /* 1 byte of 100 may differ */

static const char *const usual_settings[] = {
    "",
    "expandable_segments:True",
    "max_split_size_mb:64",
    "max_split_size_mb:128",
    "max_split_size_mb:256",
    "max_split_size_mb:512",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:8",
};

const char *replay_doubt(enum replay_trust trust)
{
    static const char *const doubts[] = {
        [TRUST_LOW] =
            "memory from before the trace raised the recorded peak, so a replay gives only "
            "lower bounds",
        [TRUST_HIGH] = "from a cold start the replay exceeds the recorded peak",
        [TRUST_INEXACT] = "the replay does not reproduce the recording",
    };
    return trust < sizeof(doubts) / sizeof(doubts[0]) ? doubts[trust] : NULL;
}

/* The highest reserved memory within the range. */
static uint64_t recorded_peak(const struct program *program)
{
    const struct trace *trace = program->timeline->trace;
    struct moment moment;
    timeline_moment(program->timeline, (int64_t)program->range.from - 1, &moment);
    int64_t now = moment.reserved_bytes, peak = now;
    for (size_t i = program->range.from; i < program->range.to; i++) {
        uint8_t action = trace->action[i];
        if (action == ACTION_SEGMENT_ALLOC || action == ACTION_SEGMENT_MAP)
            now += (int64_t)trace_size(trace, i);
        else if (action == ACTION_SEGMENT_FREE || action == ACTION_SEGMENT_UNMAP)
            now -= (int64_t)trace_size(trace, i);
        peak = now > peak ? now : peak;
    }
    return peak > 0 ? (uint64_t)peak : 0;
}

static uint64_t allowed_bytes(const struct device_replay *replay,
                              const struct allocator_settings *settings)
{
    double fraction = settings->memory_fraction;
    if (fraction <= 0 || replay->options.gpu_bytes == 0)
        return CAPACITY_NONE;
    return (uint64_t)(fraction * (double)replay->options.gpu_bytes);
}

static struct what_if question_of(const struct device_replay *replay,
                                  const struct allocator_settings *settings, struct budget *budget)
{
    uint64_t total = program_device_total(replay->timeline, replay->options.gpu_bytes);
    return (struct what_if){
        .settings = *settings,
        .tie_break = replay->as_is.tie_break,
        .device = {CAPACITY_NONE, total, allowed_bytes(replay, settings)},
        .no_empty_cache = replay->options.no_empty_cache,
        .budget = budget,
    };
}

/* Replays the recorded settings from the same cold start as all rows. If the recording ran into a
 * limit, so does the replay. */
static bool check_itself(struct device_replay *replay, struct budget *budget, struct error *err)
{
    const struct program *program = &replay->program;
    struct what_if question = question_of(replay, &replay->settings, budget);
    struct what_if_result result;
    question.no_empty_cache = false;
    if (program->ooms > 0)
        question.device.capacity = program->oom_capacity;
    else if (program->retries > 0)
        question.device.capacity = replay->recorded_peak;
    if (!what_if_run(program, &question, &result, err))
        return false;
    uint64_t cold = result.totals.peak_reserved, recorded = replay->recorded_peak;
    uint64_t tolerance = recorded / TRUSTED_SHARE;
    replay->cold_peak = cold;
    const struct as_is *as_is = &replay->as_is;
    uint64_t differing = as_is->allocs - as_is->exact_allocs;
    if (differing > as_is->allocs / TRUSTED_SHARE)
        replay->trust = TRUST_INEXACT;
    else if (program->is_whole && as_is_exact(as_is))
        replay->trust = TRUST_WHOLE;
    else if (cold + tolerance >= recorded && cold <= recorded + tolerance)
        replay->trust = TRUST_CHECKED;
    else
        replay->trust = cold < recorded ? TRUST_LOW : TRUST_HIGH;
    return true;
}

static bool same_settings(const struct allocator_settings *a, const struct allocator_settings *b)
{
    char text[2][CONF_TEXT_SIZE];
    return strcmp(conf_text(text[0], a), conf_text(text[1], b)) == 0;
}

/* The first row is that of the recorded settings. */
static bool add_row(struct device_replay *replay, const struct allocator_settings *settings,
                    struct error *err)
{
    const struct replay_setting row = {.settings = *settings,
                                       .is_recorded = replay->row_count == 0};
    for (size_t i = 0; i < replay->row_count; i++)
        if (same_settings(&replay->rows[i].settings, settings))
            return true;
    return vec_push(replay->rows, replay->row_count, replay->row_capacity, replay->program.budget,
                    err, row);
}

static bool add_usual_rows(struct device_replay *replay, struct error *err)
{
    struct allocator_settings settings;
    for (size_t i = 0; i < sizeof(usual_settings) / sizeof(usual_settings[0]); i++)
        if (!conf_parse(usual_settings[i], &settings, err) || !add_row(replay, &settings, err))
            return false;
    /* has an effect only if the program limits itself */
    settings = replay->settings;
    settings.rules.gc_threshold = 0.8;
    return !conf_can_collect(&settings) || allowed_bytes(replay, &settings) == CAPACITY_NONE ||
           add_row(replay, &settings, err);
}

static bool add_rows(struct device_replay *replay, struct error *err)
{
    const struct replay_options *options = &replay->options;
    if (!add_row(replay, &replay->settings, err))
        return false;
    if (!options->settings)
        return add_usual_rows(replay, err);
    for (size_t i = 0; i < options->setting_count; i++)
        if (!add_row(replay, &options->settings[i], err))
            return false;
    return true;
}

static void find_capacity(struct device_replay *replay)
{
    const struct replay_options *options = &replay->options;
    if (options->gpu_bytes > 0) {
        replay->capacity = options->gpu_bytes > options->other_bytes
                               ? options->gpu_bytes - options->other_bytes
                               : 1;
    } else if (replay->program.ooms > 0) {
        replay->capacity = replay->program.oom_capacity;
        replay->capacity_is_recorded = true;
    }
}

static bool begin(struct device_replay *replay, struct site_table *sites,
                  const struct item_range *range, struct error *err)
{
    const struct timeline *timeline = replay->timeline;
    struct budget *budget = timeline->snapshot->budget;
    if (!conf_of_snapshot(timeline->snapshot, &replay->settings, err) ||
        !program_make(timeline, sites, *range, &replay->program, err))
        return false;
    replay->recorded_peak = recorded_peak(&replay->program);
    find_capacity(replay);
    return as_is_replay(&replay->program, &replay->settings, replay->options.tie_break,
                        &replay->as_is, err) &&
           check_itself(replay, budget, err) && add_rows(replay, err);
}

bool device_replay_begin(const struct timeline *timeline, struct site_table *sites,
                         const struct item_range *range, const struct replay_options *options,
                         struct device_replay *replay, struct error *err)
{
    const struct item_range all = {0, timeline->trace->count};
    struct budget *budget = timeline->snapshot->budget;
    struct device_replay made = {
        .timeline = timeline, .options = *options, .program.budget = budget};
    const char *obstacle = program_obstacle(timeline);
    struct error damage;
    if (!obstacle && !begin(&made, sites, range ? range : &all, &damage)) {
        device_replay_release(&made);
        if (damage.status != STATUS_BAD_INPUT) {
            *err = damage;
            return false;
        }
        made.timeline = timeline;
        obstacle = damage.text;
    }
    snprintf(made.obstacle, sizeof(made.obstacle), "%s", obstacle ? obstacle : "");
    *replay = made;
    return true;
}

bool device_replay_row(struct device_replay *replay, size_t index, struct budget *budget,
                       struct error *err)
{
    struct replay_setting *row = &replay->rows[index];
    struct what_if question = question_of(replay, &row->settings, budget);
    struct what_if_result free_run, limited;
    if (!what_if_run(&replay->program, &question, &free_run, err))
        return false;
    row->totals = free_run.totals;
    row->has_least = free_run.totals.ooms == 0;
    if (!row->has_least)
        return true;
    if (!what_if_least_capacity(&replay->program, &question, &free_run, &row->least_capacity, err))
        return false;
    row->fits = row->totals.peak_reserved <= replay->capacity;
    if (row->fits || replay->capacity == 0 || row->totals.peak_allocated > replay->capacity)
        return true;
    question.device.capacity = replay->capacity;
    question.stops = true;
    if (!what_if_run(&replay->program, &question, &limited, err))
        return false;
    row->fits = limited.totals.ooms == 0;
    row->retries = limited.totals.retries;
    return true;
}

/* True if a row is better than another: it needs less memory or, if it needs the same, reserves
 * less. */
static bool is_better(const struct replay_setting *row, const struct replay_setting *than)
{
    if (!row->has_least || !than->has_least)
        return row->has_least;
    if (row->totals.peak_reserved != than->totals.peak_reserved)
        return row->totals.peak_reserved < than->totals.peak_reserved;
    return row->least_capacity < than->least_capacity;
}

void device_replay_finish(struct device_replay *replay)
{
    const struct replay_setting *best = replay->row_count > 0 ? &replay->rows[0] : NULL;
    for (size_t i = 1; i < replay->row_count; i++)
        if (is_better(&replay->rows[i], best))
            best = &replay->rows[i];
    replay->best = best && best != &replay->rows[0] ? best : NULL;
}

bool device_replay_curve(const struct device_replay *replay, size_t row,
                         struct reserved_points *points, struct budget *budget, struct error *err)
{
    struct what_if question = question_of(replay, &replay->rows[row].settings, budget);
    struct what_if_result result;
    question.points = points;
    return what_if_run(&replay->program, &question, &result, err);
}

bool device_replay_other(const struct device_replay *replay, const struct program *program,
                         struct what_if_result *result, struct error *err)
{
    struct what_if question = question_of(replay, &replay->settings, program->budget);
    return what_if_run(program, &question, result, err);
}

void device_replay_release(struct device_replay *replay)
{
    vec_free(replay->rows, replay->row_capacity, sizeof(*replay->rows), replay->program.budget);
    program_release(&replay->program);
    *replay = (struct device_replay){.program.budget = replay->program.budget};
}
