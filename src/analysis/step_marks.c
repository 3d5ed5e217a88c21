#include "analysis/step_marks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/paths.h"

/* One START or END. */
struct edge {
    int64_t time_us, number;
    size_t order; /* in the file */
    string_id name;
    uint32_t item; /* START: the first at or after its time; END: the first after it */
    bool is_start;
};

struct edges {
    struct edge *items;
    size_t count, capacity;
};

static bool parse_number(struct text text, int64_t *number)
{
    int64_t parsed = 0;
    if (text.size == 0)
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (text.bytes[i] < '0' || text.bytes[i] > '9' ||
            __builtin_mul_overflow(parsed, 10, &parsed) ||
            __builtin_add_overflow(parsed, text.bytes[i] - '0', &parsed))
            return false;
    *number = parsed;
    return true;
}

/* Whether a name is one of those looked for. */
static bool name_fits(struct text name, const char *prefix, bool numbered, int64_t *number)
{
    *number = 0;
    if (!text_starts(name, prefix))
        return false;
    size_t size = strlen(prefix);
    struct text rest = {name.bytes + size, name.size - size};
    return !numbered || parse_number(rest, number);
}

/* The device whose annotations to take: this one's own, else the lowest that has some. False where
 * there are none. */
static bool choose_device(const struct timeline *timeline, const char *prefix, bool numbered,
                          uint32_t *device)
{
    const struct snapshot *snapshot = timeline->snapshot;
    bool found = false;
    for (size_t i = 0; i < snapshot->annotation_count; i++) {
        const struct annotation_row *row = &snapshot->annotations[i];
        int64_t number;
        if (!name_fits(symbols_text(snapshot->symbols, row->name), prefix, numbered, &number))
            continue;
        if (row->device == timeline->device) {
            *device = row->device;
            return true;
        }
        if (!found || row->device < *device)
            *device = row->device;
        found = true;
    }
    return found;
}

static bool collect(struct edges *edges, const struct timeline *timeline, uint32_t device,
                    const char *prefix, bool numbered, struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    for (size_t i = 0; i < snapshot->annotation_count; i++) {
        const struct annotation_row *row = &snapshot->annotations[i];
        struct text name = symbols_text(snapshot->symbols, row->name);
        int64_t number;
        if (row->device != device || !name_fits(name, prefix, numbered, &number))
            continue;
        if (!vec_grow((void **)&edges->items, &edges->capacity, edges->count + 1,
                      sizeof(*edges->items), snapshot->budget, err))
            return false;
        edges->items[edges->count++] = (struct edge){.time_us = row->time_us,
                                                     .number = number,
                                                     .order = i,
                                                     .name = row->name,
                                                     .is_start = row->stage == ANNOTATION_START};
    }
    return true;
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* A START passes an item at its time, an END one after it. STARTs and ENDs each come in order, so
 * both are found in one walk. */
static void place(struct edges *edges, const struct trace *trace)
{
    size_t start = 0, end = 0;
    for (size_t i = 0; i < trace->count; i++) {
        int64_t time = trace_time(trace, i);
        if (time == TIME_NONE)
            continue;
        for (; start < edges->count &&
               (!edges->items[start].is_start || edges->items[start].time_us <= time);
             start++)
            if (edges->items[start].is_start)
                edges->items[start].item = (uint32_t)i;
        for (;
             end < edges->count && (edges->items[end].is_start || edges->items[end].time_us < time);
             end++)
            if (!edges->items[end].is_start)
                edges->items[end].item = (uint32_t)i;
        if (start == edges->count && end == edges->count)
            return;
    }
    for (; start < edges->count; start++)
        if (edges->items[start].is_start)
            edges->items[start].item = (uint32_t)trace->count;
    for (; end < edges->count; end++)
        if (!edges->items[end].is_start)
            edges->items[end].item = (uint32_t)trace->count;
}

static bool add_mark(struct step_marks *marks, struct step_mark mark, struct error *err)
{
    uint32_t free_from = marks->count > 0 ? marks->items[marks->count - 1].end : 0;
    if (mark.begin < free_from)
        mark.begin = free_from;
    if (mark.end < mark.begin)
        mark.end = mark.begin;
    if (!vec_grow((void **)&marks->items, &marks->capacity, marks->count + 1, sizeof(*marks->items),
                  marks->budget, err))
        return false;
    marks->items[marks->count++] = mark;
    return true;
}

/* A START that comes while another is open ends that one, but not where it repeats its name. */
static bool pair(struct step_marks *marks, const struct edges *edges, uint32_t item_count,
                 struct error *err)
{
    const struct edge *open = NULL;
    for (size_t i = 0; i < edges->count; i++) {
        const struct edge *edge = &edges->items[i];
        bool same = open && open->name == edge->name;
        struct step_mark mark = {.end = edge->item, .has_start = open, .has_end = !edge->is_start};
        if (open) {
            mark.begin = open->item;
            mark.number = open->number;
        } else {
            mark.number = edge->number;
        }
        if (edge->is_start ? open && !same : same || (!open && marks->count == 0)) {
            if (!add_mark(marks, mark, err))
                return false;
            open = NULL;
        }
        if (edge->is_start && !open)
            open = edge;
    }
    struct step_mark last = {.end = item_count, .has_start = true};
    if (!open)
        return true;
    last.begin = open->item;
    last.number = open->number;
    return add_mark(marks, last, err);
}

bool step_marks_find(struct step_marks *marks, const struct timeline *timeline, const char *prefix,
                     bool numbered, struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct step_marks made = {.budget = budget};
    struct edges edges = {0};
    uint32_t device = 0;
    if (!choose_device(timeline, prefix, numbered, &device)) {
        *marks = made;
        return true;
    }
    bool ok = collect(&edges, timeline, device, prefix, numbered, err);
    if (ok) {
        qsort(edges.items, edges.count, sizeof(*edges.items), compare_edges);
        place(&edges, timeline->trace);
        ok = pair(&made, &edges, (uint32_t)timeline->trace->count, err);
    }
    vec_free(edges.items, edges.capacity, sizeof(*edges.items), budget);
    if (!ok) {
        step_marks_release(&made);
        return false;
    }
    *marks = made;
    return true;
}

void step_marks_release(struct step_marks *marks)
{
    vec_free(marks->items, marks->capacity, sizeof(*marks->items), marks->budget);
    *marks = (struct step_marks){0};
}
