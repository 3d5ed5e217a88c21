#include "analysis/report/open_annotations.h"

#include <stdlib.h>

/* An annotation event at or before the moment, with its place in the file. */
struct mark {
    string_id name;
    bool is_start;
    int64_t time_us;
    size_t order;
};

struct marks {
    struct mark *items;
    size_t count, capacity;
};

/* The time of an item, or of the nearest earlier item that has a time. -1 stands for the moment
 * just before the first event. */
static int64_t time_of_item(const struct trace *trace, int64_t item)
{
    if (item < 0) {
        int64_t first = trace->count > 0 ? trace_time(trace, 0) : TIME_NONE;
        return first == TIME_NONE ? TIME_NONE : first - 1;
    }
    while (item >= 0 && trace_time(trace, (size_t)item) == TIME_NONE)
        item--;
    return item < 0 ? TIME_NONE : trace_time(trace, (size_t)item);
}

static int compare_by_name(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_by_time(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool collect(const struct timeline *timeline, int64_t time, struct marks *marks,
                    struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    struct annotation_range own = annotations_of(&snapshot->annotation_index, timeline->device);
    for (size_t i = 0; i < own.count; i++) {
        const struct annotation_row *row = &snapshot->annotations[own.items[i].index];
        bool is_start = row->stage == ANNOTATION_START;
        if (is_start ? row->time_us > time : row->time_us >= time)
            continue;
        if (!vec_reserve(marks->items, marks->capacity, marks->count + 1, snapshot->budget, err))
            return false;
        marks->items[marks->count++] =
            (struct mark){row->name, is_start, row->time_us, own.items[i].index};
    }
    return true;
}

/* Keeps only the STARTs that no END of the same name closes. Marks are sorted by name. */
static void drop_closed(struct marks *marks)
{
    size_t kept = 0, bottom = 0; /* [bottom, kept): open marks of the current name */
    for (size_t i = 0; i < marks->count; i++) {
        struct mark mark = marks->items[i];
        if (kept > 0 && marks->items[kept - 1].name != mark.name)
            bottom = kept;
        if (mark.is_start)
            marks->items[kept++] = mark;
        else if (kept > bottom)
            kept--;
    }
    marks->count = kept;
}

bool annotations_open(const struct timeline *timeline, int64_t item, struct open_annotations *open,
                      struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct marks marks = {0};
    int64_t time = time_of_item(timeline->trace, item);
    if (time != TIME_NONE && !collect(timeline, time, &marks, err)) {
        vec_free(marks.items, marks.capacity, sizeof(*marks.items), budget);
        return false;
    }
    if (marks.count > 0) {
        qsort(marks.items, marks.count, sizeof(*marks.items), compare_by_name);
        drop_closed(&marks);
        qsort(marks.items, marks.count, sizeof(*marks.items), compare_by_time);
    }
    struct open_annotation *made = calloc(marks.count + 1, sizeof(*made));
    if (made) {
        for (size_t i = 0; i < marks.count; i++)
            made[i] = (struct open_annotation){marks.items[i].name, marks.items[i].time_us};
        *open = (struct open_annotations){made, marks.count};
    } else {
        error_out_of_memory(err);
    }
    vec_free(marks.items, marks.capacity, sizeof(*marks.items), budget);
    return made != NULL;
}
