#include <inttypes.h>
#include <stdio.h>

#include "model/device.h"
#include "render/replay/rows.h"

#define SCHEMA "memsnap.replay/1"

static void put_difference(struct json_writer *json, const struct device_replay *replay)
{
    static const char *const names[] = {[DIFFERENCE_NONE] = "",
                                        [DIFFERENCE_ADDRESS] = "address",
                                        [DIFFERENCE_NOWHERE] = "segment",
                                        [DIFFERENCE_RELEASE] = "release"};
    const struct as_is *as_is = &replay->as_is;
    if (as_is->difference == DIFFERENCE_NONE) {
        json_put_null(json, "first_difference");
        return;
    }
    json_put_open(json, "first_difference", '{');
    json_put_integer(json, "event", trace_file_event(replay->timeline->trace, as_is->item));
    json_put_string(json, "kind", names[as_is->difference]);
    if (as_is->difference == DIFFERENCE_ADDRESS) {
        json_put_count(json, "recorded_addr", as_is->recorded_addr);
        json_put_count(json, "replayed_addr", as_is->replayed_addr);
    }
    json_put_close(json, '}');
}

static void put_as_is(struct json_writer *json, const struct device_replay *replay)
{
    const struct as_is *as_is = &replay->as_is;
    json_put_open(json, "as_is", '{');
    json_put_count(json, "allocs", as_is->allocs);
    json_put_count(json, "exact_allocs", as_is->exact_allocs);
    json_put_count(json, "segment_events", as_is->segment_events);
    json_put_count(json, "exact_segment_events", as_is->exact_segment_events);
    json_put_string(json, "tie_break", tie_break_name(as_is->tie_break));
    put_difference(json, replay);
    json_put_close(json, '}');
}

static void put_check(struct json_writer *json, const struct device_replay *replay)
{
    json_put_open(json, "self_check", '{');
    json_put_count(json, "recorded_peak_reserved_bytes", replay->recorded_peak);
    json_put_count(json, "cold_peak_reserved_bytes", replay->cold_peak);
    json_put_bool(json, "trusted", replay_is_trusted(replay));
    json_put_string(json, "basis", replay_trust_name(replay->trust));
    json_put_close(json, '}');
}

static void put_device(struct json_writer *json, const struct device_replay *replay)
{
    const struct field_context context = {0};
    json_put_open(json, NULL, '{');
    json_put_integer(json, "device", device_number(replay->timeline->device));
    if (*replay->obstacle) {
        json_put_string(json, "obstacle", replay->obstacle);
        json_put_close(json, '}');
        return;
    }
    put_as_is(json, replay);
    put_check(json, replay);
    if (replay->capacity > 0) {
        json_put_count(json, "capacity_bytes", replay->capacity);
        json_put_string(json, "capacity_from",
                        replay->capacity_is_recorded ? "oom_event" : "gpu_memory");
    }
    json_put_count(json, "empty_caches", replay->program.empty_caches);
    json_put_open(json, replay_row_type.name, '[');
    for (size_t i = 0; i < replay->row_count; i++) {
        struct replay_row row;
        replay_row_make(&row, replay, i);
        json_put_row(json, NULL, &replay_row_type, &row, &context);
    }
    json_put_close(json, ']');
    json_put_close(json, '}');
}

bool replay_json(FILE *out, const struct replay_report *report)
{
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_input(&json, "input", NULL, &report->input);
    json_put_open(&json, "devices", '[');
    for (size_t i = 0; i < report->device_count; i++)
        put_device(&json, &report->devices[i]);
    json_put_close(&json, ']');
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
