#include "analysis/layers/operator_curves.h"

#include <stdlib.h>
#include <string.h>

static void find_peaks(struct curves_report *report)
{
    const struct operator_point *points = report->curves->points;
    for (size_t i = 0; i < report->curves->count; i++) {
        uint32_t at = (uint32_t)i;
        if (points[i].allocated > points[report->allocated].allocated)
            report->allocated = at;
        if (points[i].active > points[report->active].active)
            report->active = at;
        if (points[i].reserved > points[report->reserved].reserved)
            report->reserved = at;
    }
}

static int by_growth(const void *left, const void *right)
{
    const struct curves_growth *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->point > b->point) - (a->point < b->point);
}

static bool rank_growths(struct curves_report *report, struct error *err)
{
    const struct operator_curves *curves = report->curves;
    if (curves->count < 2)
        return true;
    if (!vec_reserve(report->growths, report->growth_capacity, curves->count - 1, curves->budget,
                     err))
        return false;
    for (size_t i = 1; i < curves->count; i++)
        report->growths[report->growth_count++] = (struct curves_growth){
            (uint32_t)i, curves->points[i].allocated - curves->points[i - 1].allocated};
    qsort(report->growths, report->growth_count, sizeof(*report->growths), by_growth);
    return true;
}

static int by_place(const void *left, const void *right)
{
    const struct operator_marker *a = left, *b = right;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static void add_span(struct curves_report *report, string_id marker, uint32_t from, uint32_t to)
{
    const struct operator_point *points = report->curves->points;
    if (from >= to)
        return;
    struct curves_span span = {marker, from, to, from};
    for (uint32_t i = from; i < to; i++)
        if (points[i].allocated > points[span.peak].allocated)
            span.peak = i;
    report->spans[report->span_count++] = span;
}

static bool make_spans(struct curves_report *report, struct error *err)
{
    const struct operator_curves *curves = report->curves;
    size_t count = curves->marker_count, capacity = 0;
    struct operator_marker *markers = NULL;
    uint32_t end = (uint32_t)curves->count;
    if (!vec_reserve(report->spans, report->span_capacity, count + 1, curves->budget, err))
        return false;
    if (count == 0) {
        add_span(report, STRING_EMPTY, 0, end);
        return true;
    }
    if (!vec_reserve(markers, capacity, count, curves->budget, err))
        return false;
    memcpy(markers, curves->markers, count * sizeof(*markers));
    qsort(markers, count, sizeof(*markers), by_place);
    add_span(report, STRING_EMPTY, 0, markers[0].at);
    for (size_t i = 0; i < count; i++)
        add_span(report, markers[i].name, markers[i].at, i + 1 < count ? markers[i + 1].at : end);
    vec_free(markers, capacity, sizeof(*markers), curves->budget);
    return true;
}

struct curves_report *curves_report_build(const struct operator_curves *curves, struct error *err)
{
    struct curves_report *report = calloc(1, sizeof(*report));
    if (!report) {
        error_out_of_memory(err);
        return NULL;
    }
    report->curves = curves;
    find_peaks(report);
    if (rank_growths(report, err) && make_spans(report, err))
        return report;
    curves_report_destroy(report);
    return NULL;
}

void curves_report_destroy(struct curves_report *report)
{
    if (!report)
        return;
    struct budget *budget = report->curves->budget;
    vec_free(report->spans, report->span_capacity, sizeof(*report->spans), budget);
    vec_free(report->growths, report->growth_capacity, sizeof(*report->growths), budget);
    free(report);
}
