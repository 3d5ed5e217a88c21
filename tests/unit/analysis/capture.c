#include "unit/analysis/capture.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

void capture_init(struct capture *capture)
{
    *capture = (struct capture){.time_us = 1000, .total_size = (uint64_t)1 << 40};
}

static void separate(struct buffer *list)
{
    if (list->size > 0)
        buffer_putc(list, ',');
}

void capture_event_with(struct capture *capture, const char *action, uint64_t addr, uint64_t size,
                        const char *frames, const char *more)
{
    separate(&capture->events);
    buffer_printf(&capture->events,
                  "{\"action\":\"%s\",\"addr\":%" PRIu64 ",\"size\":%" PRIu64
                  ",\"stream\":0,\"time_us\":%" PRIu64 ",\"frames\":[%s]%s}",
                  action, addr, size, ++capture->time_us, frames, more);
}

void capture_event(struct capture *capture, const char *action, uint64_t addr, uint64_t size,
                   const char *frames)
{
    capture_event_with(capture, action, addr, size, frames, "");
}

uint64_t capture_alloc(struct capture *capture, uint64_t size, const char *frames)
{
    capture_event(capture, "alloc", ++capture->next, size, frames);
    return capture->next;
}

void capture_free(struct capture *capture, uint64_t addr, uint64_t size, const char *frames)
{
    capture_event(capture, "free_requested", addr, size, frames);
    capture_event(capture, "free_completed", addr, size, frames);
}

void capture_block(struct capture *capture, uint64_t addr, uint64_t size, const char *frames)
{
    separate(&capture->blocks);
    buffer_printf(&capture->blocks,
                  "{\"address\":%" PRIu64 ",\"size\":%" PRIu64 ",\"requested_size\":%" PRIu64
                  ",\"state\":\"active_allocated\",\"frames\":[%s]}",
                  addr, size, size, frames);
    capture->blocks_bytes += size;
    if (addr + size > capture->blocks_end)
        capture->blocks_end = addr + size;
}

/* Marks the rest of the segment as inactive. */
static void fill_segment(struct capture *capture)
{
    uint64_t told = capture->blocks_bytes + capture->untold_bytes;
    if (told >= capture->total_size)
        return;
    separate(&capture->blocks);
    buffer_printf(&capture->blocks,
                  "{\"address\":%" PRIu64 ",\"size\":%" PRIu64
                  ",\"requested_size\":0,\"state\":\"inactive\",\"frames\":[]}",
                  capture->blocks_end, capture->total_size - told);
}

void capture_annotate(struct capture *capture, const char *stage, const char *name, int device)
{
    separate(&capture->annotations);
    buffer_printf(&capture->annotations,
                  "{\"stage\":\"%s\",\"name\":\"%s\",\"device\":%d,\"time_us\":%" PRIu64 "}", stage,
                  name, device, capture->time_us);
}

void capture_setting(struct capture *capture, const char *key, const char *json_value)
{
    separate(&capture->settings);
    buffer_printf(&capture->settings, "\"%s\":%s", key, json_value);
}

static const char *text_of(const struct buffer *buffer)
{
    return buffer->bytes ? buffer->bytes : "";
}

/* Forgets what was loaded before, if anything. */
static void unload(struct capture *capture)
{
    site_table_destroy(capture->sites);
    timeline_destroy(capture->timeline);
    snapshot_destroy(capture->snapshot);
    capture->sites = NULL;
    capture->timeline = NULL;
    capture->snapshot = NULL;
}

void capture_load(struct capture *capture)
{
    struct buffer json = BUFFER_INIT;
    struct load_options options = {0};
    struct error err;
    unload(capture);
    fill_segment(capture);
    buffer_printf(&json,
                  "{\"segments\":[{\"device\":0,\"address\":0,\"total_size\":%" PRIu64
                  ",\"allocated_size\":0,\"active_size\":0,\"requested_size\":0,\"stream\":0,"
                  "\"segment_type\":\"large\",\"segment_pool_id\":[%u,%u],\"frames\":[],"
                  "\"blocks\":[%s]}],"
                  "\"device_traces\":[[%s]],\"allocator_settings\":{%s},"
                  "\"external_annotations\":[%s]}",
                  capture->total_size, capture->pool[0], capture->pool[1],
                  text_of(&capture->blocks), text_of(&capture->events), text_of(&capture->settings),
                  text_of(&capture->annotations));
    ck_assert(!json.failed);
    capture->snapshot = snapshot_load_memory(json.bytes, json.size, &options, &err);
    if (!capture->snapshot)
        ck_abort_msg("the capture was refused: %s", err.text);
    capture->timeline = timeline_build(capture->snapshot, 0, &err);
    ck_assert_ptr_nonnull(capture->timeline);
    capture->sites = site_table_create(capture->snapshot->symbols, &err);
    ck_assert_ptr_nonnull(capture->sites);
    buffer_release(&json);
}

struct device_report *capture_report(struct capture *capture, size_t top)
{
    struct report_options options = {.top = top};
    struct error err;
    struct device_report *report =
        device_report_build(capture->timeline, capture->sites, &options, &err);
    if (!report)
        ck_abort_msg("no report: %s", err.text);
    return report;
}

const struct finding *report_finding(const struct device_report *report, enum finding_kind kind)
{
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i].kind == kind)
            return &report->findings.items[i];
    return NULL;
}

void report_check_sums(const struct device_report *report)
{
    int64_t categories = 0, sites = 0;
    for (size_t i = 0; i < report->category_count; i++)
        categories += report->categories[i].bytes;
    for (size_t i = 0; i < report->site_count; i++)
        sites += report->sites[i].group.bytes;
    ck_assert_int_eq(categories, report->at.active_bytes);
    ck_assert_int_eq(sites, report->at.active_bytes);
}

int64_t capture_saving(struct capture *capture, enum finding_kind kind)
{
    capture_load(capture);
    struct device_report *report = capture_report(capture, 10);
    const struct finding *finding = report_finding(report, kind);
    int64_t bytes = finding ? finding->save_bytes : -1;
    device_report_destroy(report);
    return bytes;
}

enum category capture_category(struct capture *capture, uint64_t addr)
{
    uint8_t reason;
    return capture_category_why(capture, addr, &reason);
}

enum category capture_category_why(struct capture *capture, uint64_t addr, uint8_t *reason)
{
    const struct timeline *timeline = capture->timeline;
    struct categories categories;
    struct error err;
    int found = -1;
    struct phases phases;
    ck_assert(phases_build(&phases, timeline, capture->sites, &err));
    ck_assert(categories_assign(timeline, capture->sites, &phases, &categories, &err));
    phases_release(&phases);
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (timeline->preexisting[i].addr == addr) {
            found = categories.of_preexisting[i];
            *reason = categories.why_preexisting[i];
        }
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (trace_addr(timeline->trace, timeline->lifetimes[i].alloc) == addr) {
            found = categories.of_lifetime[i];
            *reason = categories.why_lifetime[i];
        }
    categories_release(&categories);
    ck_assert_int_ge(found, 0);
    return (enum category)found;
}

void capture_expect(struct capture *capture, uint64_t addr, enum category category,
                    enum confidence confidence)
{
    uint8_t reason;
    enum category found = capture_category_why(capture, addr, &reason);
    ck_assert_msg(found == category && reason_confidence(reason) == confidence, "%d: %s, %s: %s",
                  (int)addr, category_name(found), confidence_name(reason_confidence(reason)),
                  reason_name(reason));
}

void capture_release(struct capture *capture)
{
    unload(capture);
    buffer_release(&capture->events);
    buffer_release(&capture->blocks);
    buffer_release(&capture->annotations);
    buffer_release(&capture->settings);
}
