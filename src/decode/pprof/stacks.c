#include <stdlib.h>

#include "decode/pprof/internal.h"

/* Frames of a stack; the outermost frames of a deeper one are left out. */
#define FRAMES_MOST ((size_t)1024)

static int by_location(const void *a, const void *b)
{
    uint64_t x = (*(const pprof_location *const *)a)->id,
             y = (*(const pprof_location *const *)b)->id;
    return (x > y) - (x < y);
}

static int by_function(const void *a, const void *b)
{
    uint64_t x = (*(const pprof_function *const *)a)->id,
             y = (*(const pprof_function *const *)b)->id;
    return (x > y) - (x < y);
}

bool pprof_stacks_init(struct pprof_stacks *stacks, struct pprof_rows *rows)
{
    const pprof_profile *profile = rows->profile;
    *stacks = (struct pprof_stacks){.rows = rows};
    if (!vec_reserve(stacks->locations, stacks->location_capacity, profile->n_location,
                     rows->budget, rows->err) ||
        !vec_reserve(stacks->functions, stacks->function_capacity, profile->n_function,
                     rows->budget, rows->err))
        return false;
    for (size_t i = 0; i < profile->n_location; i++)
        stacks->locations[stacks->location_count++] = profile->location[i];
    for (size_t i = 0; i < profile->n_function; i++)
        stacks->functions[stacks->function_count++] = profile->function[i];
    if (stacks->location_count > 0)
        qsort(stacks->locations, stacks->location_count, sizeof(*stacks->locations), by_location);
    if (stacks->function_count > 0)
        qsort(stacks->functions, stacks->function_count, sizeof(*stacks->functions), by_function);
    return true;
}

void pprof_stacks_release(struct pprof_stacks *stacks)
{
    struct budget *budget = stacks->rows->budget;
    vec_free(stacks->locations, stacks->location_capacity, sizeof(*stacks->locations), budget);
    vec_free(stacks->functions, stacks->function_capacity, sizeof(*stacks->functions), budget);
    vec_free(stacks->frames, stacks->frame_capacity, sizeof(*stacks->frames), budget);
}

static const pprof_location *find_location(const struct pprof_stacks *stacks, uint64_t id)
{
    pprof_location key = {.id = id};
    const pprof_location *wanted = &key;
    if (stacks->location_count == 0)
        return NULL;
    const pprof_location **found = bsearch(&wanted, stacks->locations, stacks->location_count,
                                           sizeof(*stacks->locations), by_location);
    return found ? *found : NULL;
}

static const pprof_function *find_function(const struct pprof_stacks *stacks, uint64_t id)
{
    pprof_function key = {.id = id};
    const pprof_function *wanted = &key;
    if (stacks->function_count == 0)
        return NULL;
    const pprof_function **found = bsearch(&wanted, stacks->functions, stacks->function_count,
                                           sizeof(*stacks->functions), by_function);
    return found ? *found : NULL;
}

static bool add_frame(struct pprof_stacks *stacks, const Memsnap__Pprof__Line *line)
{
    struct pprof_rows *rows = stacks->rows;
    const pprof_function *function = find_function(stacks, line->function_id);
    struct frame frame = {0};
    frame_id id;
    if (!function || stacks->frame_count == FRAMES_MOST)
        return true;
    struct text name = pprof_text(rows->profile, function->name);
    struct text file = pprof_text(rows->profile, function->filename);
    if (line->line > 0 && line->line <= UINT32_MAX)
        frame.line = (uint32_t)line->line;
    return symbols_string(rows->symbols, name.bytes, name.size, &frame.name, rows->err) &&
           symbols_string(rows->symbols, file.bytes, file.size, &frame.file, rows->err) &&
           symbols_frame(rows->symbols, frame, &id, rows->err) &&
           vec_push(stacks->frames, stacks->frame_count, stacks->frame_capacity, rows->budget,
                    rows->err, id);
}

bool pprof_stack_of(struct pprof_stacks *stacks, const pprof_sample *sample, stack_id *stack)
{
    stacks->frame_count = 0;
    for (size_t i = 0; i < sample->n_location_id && stacks->frame_count < FRAMES_MOST; i++) {
        const pprof_location *location = find_location(stacks, sample->location_id[i]);
        for (size_t n = 0; location && n < location->n_line; n++)
            if (!add_frame(stacks, location->line[n]))
                return false;
    }
    return symbols_stack(stacks->rows->symbols, stacks->frames, stacks->frame_count, stack,
                         stacks->rows->err);
}
