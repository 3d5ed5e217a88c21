#include "analysis/replay/figure.h"

#include "analysis/replay/replay.h"

/* Runs the program once without a limit, and once within what was there when memory ran out. */
static bool run(const struct device_replay *replay, const struct allocator_settings *settings,
                struct replay_figure *figure, struct error *err)
{
    const struct program *program = &replay->program;
    struct what_if question = {
        .settings = *settings,
        .tie_break = replay->as_is.tie_break,
        .device = {CAPACITY_NONE, program_device_total(replay->timeline, 0), CAPACITY_NONE},
        .no_tries = true,
        .budget = program->budget,
    };
    struct what_if_result result;
    if (!what_if_run(program, &question, &result, err))
        return false;
    figure->recorded_bytes = replay->recorded_peak;
    figure->replayed_bytes = result.totals.peak_reserved;
    figure->is_known = result.totals.ooms == 0;
    figure->ran_out = program->ooms > 0;
    if (!figure->ran_out)
        return true;
    question.no_tries = false;
    question.stops = true;
    question.device.capacity = program->oom_capacity;
    if (!what_if_run(program, &question, &result, err))
        return false;
    figure->fits = result.totals.ooms == 0;
    figure->fitting_bytes = result.totals.peak_reserved;
    return true;
}

bool replay_figure_make(const struct timeline *timeline, struct site_table *sites, const char *conf,
                        struct replay_figure *figure, struct error *err)
{
    struct replay_figure made = {0};
    struct allocator_settings settings;
    struct device_replay replay;
    if (timeline->trace->count > FIGURE_EVENTS) {
        *figure = made;
        return true;
    }
    if (!conf_parse(conf, &settings, err))
        return false;
    const struct replay_options options = {
        .settings = &settings, .setting_count = 1, .tie_break = TIE_BREAKS};
    if (!device_replay_begin(timeline, sites, NULL, &options, &replay, err))
        return false;
    bool ok =
        *replay.obstacle || !replay_is_trusted(&replay) || run(&replay, &settings, &made, err);
    device_replay_release(&replay);
    if (ok)
        *figure = made;
    return ok;
}
