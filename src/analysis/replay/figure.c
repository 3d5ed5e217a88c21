#include "analysis/replay/figure.h"

#include <stdio.h>

#include "analysis/replay/replay.h"

/* Runs the program once without a limit; if it ran out of memory, also within what was there then,
 * and finds the least capacity that the recorded settings need. */
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
    question.device.capacity = program->oom_capacity;
    if (!what_if_run(program, &question, &result, err))
        return false;
    figure->fits = result.totals.ooms == 0;
    figure->fits_some = !figure->fits && !result.fails_more && result.totals.ooms < program->ooms;
    figure->first_failed = result.first_failed;
    figure->last_failed = result.last_failed;
    figure->fitting_bytes = result.totals.peak_reserved;
    question.settings = replay->settings;
    question.device.capacity = CAPACITY_NONE;
    return what_if_run(program, &question, &result, err) &&
           what_if_least_capacity(program, &question, &result, &figure->needed_bytes, err);
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

static bool fill_peak(struct device_replay *replay, struct replay_peak *peak, struct error *err)
{
    const char *doubt = replay_doubt(replay->trust);
    if (*replay->obstacle)
        snprintf(peak->why, sizeof(peak->why), "cannot be replayed: %.200s", replay->obstacle);
    else if (doubt)
        snprintf(peak->why, sizeof(peak->why), "the replay cannot be trusted: %s", doubt);
    if (*peak->why)
        return true;
    /* The first row is the recorded setting, which may be the one that was asked for. */
    size_t row = replay->row_count - 1;
    if (!device_replay_row(replay, row, replay->program.budget, err))
        return false;
    peak->bytes = replay->rows[row].totals.peak_reserved;
    peak->is_known = replay->rows[row].has_least;
    if (!peak->is_known)
        snprintf(peak->why, sizeof(peak->why), "%s",
                 "with this setting the program runs out of memory on every device");
    return true;
}

bool replay_peak_make(const struct timeline *timeline, struct site_table *sites, const char *conf,
                      struct replay_peak *peak, struct error *err)
{
    struct replay_peak made = {0};
    struct allocator_settings settings;
    struct device_replay replay;
    const struct replay_options options = {
        .settings = &settings, .setting_count = 1, .tie_break = TIE_BREAKS};
    if (!conf_parse(conf, &settings, err) ||
        !device_replay_begin(timeline, sites, NULL, &options, &replay, err))
        return false;
    bool ok = fill_peak(&replay, &made, err);
    device_replay_release(&replay);
    if (ok)
        *peak = made;
    return ok;
}
