#include "analysis/phase/step_marks.h"

#include <stdlib.h>
#include <string.h>

/* One START or END event. */
struct edge {
    int64_t time_us, number;
    size_t order; /* in the file */
    string_id name;
    uint32_t item; /* of a START: the first item at or after its time; of an END: the first item
                      after it */
    bool is_start;
};

struct edges {
    struct edge *items;
    size_t count, capacity;
};

static bool collect(struct edges *edges, const struct timeline *timeline,
                    struct annotation_range range, size_t prefix, bool numbered, struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    if (!vec_reserve(edges->items, edges->capacity, range.count, snapshot->budget, err))
        return false;
    for (size_t i = 0; i < range.count; i++) {
        const struct annotation_row *row = &snapshot->annotations[range.items[i].index];
        struct text name = symbols_text(snapshot->symbols, row->name);
        struct edge *edge = &edges->items[edges->count++];
        *edge = (struct edge){.time_us = row->time_us,
                              .order = range.items[i].index,
                              .name = row->name,
                              .is_start = row->stage == ANNOTATION_START};
        if (numbered)
            text_number((struct text){name.bytes + prefix, name.size - prefix}, &edge->number);
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

/* Finds the items of all edges. STARTs are in order of time, and so are ENDs, so one pass over the
 * trace finds both. */
static void find_items(struct edges *edges, const struct trace *trace)
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

bool step_marks_add(struct step_marks *marks, struct step_mark mark, struct error *err)
{
    uint32_t free_from = marks->count > 0 ? marks->items[marks->count - 1].end : 0;
    if (mark.begin < free_from)
        mark.begin = free_from;
    if (mark.end < mark.begin)
        mark.end = mark.begin;
    return vec_push(marks->items, marks->count, marks->capacity, marks->budget, err, mark);
}

/* Pairs STARTs and ENDs. A START ends an open START, unless both have the same name. */
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
            mark.name = open->name;
        } else {
            mark.number = edge->number;
            mark.name = edge->name;
        }
        if (edge->is_start ? open && !same : same || (!open && marks->count == 0)) {
            if (!step_marks_add(marks, mark, err))
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
    last.name = open->name;
    return step_marks_add(marks, last, err);
}

bool step_marks_find(struct step_marks *marks, const struct timeline *timeline, const char *prefix,
                     bool numbered, struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct step_marks made = {.budget = budget};
    struct edges edges = {0};
    struct annotation_range range;
    const struct snapshot *snapshot = timeline->snapshot;
    if (!annotations_like(&snapshot->annotation_index, timeline->device, prefix, numbered,
                          snapshot->symbols, &range, err))
        return false;
    if (range.count == 0 || !trace_has_times(timeline->trace)) {
        *marks = made;
        return true;
    }
    bool ok = collect(&edges, timeline, range, strlen(prefix), numbered, err);
    if (ok) {
        qsort(edges.items, edges.count, sizeof(*edges.items), compare_edges);
        find_items(&edges, timeline->trace);
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

void step_marks_find_closures(struct step_marks *steps, const struct step_marks *zero_grads)
{
    size_t next = 0;
    for (size_t i = 0; i < steps->count; i++) {
        struct step_mark *step = &steps->items[i];
        while (next < zero_grads->count && zero_grads->items[next].begin < step->begin)
            next++;
        step->has_closure = next < zero_grads->count && zero_grads->items[next].end < step->end;
    }
    struct step_mark *first = steps->items;
    if (steps->count > 1 && !first->has_start && first->name == first[1].name)
        first->has_closure = first[1].has_closure;
}

void step_marks_release(struct step_marks *marks)
{
    vec_free(marks->items, marks->capacity, sizeof(*marks->items), marks->budget);
    *marks = (struct step_marks){0};
}
