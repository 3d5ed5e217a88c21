/* Warnings of modules that need care when a checkpoint runs them twice. */
#include <stdlib.h>
#include <string.h>

#include "render/suggest/parts.h"

#define SHOWN_NAMES 3

enum warning { WARN_BATCH_NORM, WARN_RANDOM, WARN_FSDP, WARN_REPEATED, WARNINGS };

static const char *const words[WARNINGS] = {
    [WARN_BATCH_NORM] = "batch_norm",
    [WARN_RANDOM] = "random",
    [WARN_FSDP] = "fsdp",
    [WARN_REPEATED] = "repeated",
};

/* Calls `found` for each module of the placement that a warning is about. */
struct search {
    const struct suggest_subject *subject;
    const struct placement *placement;
    struct left_out repeated;
    enum warning warning;
    void (*found)(struct search *search, struct text name);
    bool *seen; /* by string id, or by index in `repeated` */
    size_t seen_size, count;
    struct buffer *names;     /* text: the first few */
    struct json_writer *json; /* JSON: NULL while modules are counted */
};

static bool is_under(struct text name, struct text module)
{
    return name.size >= module.size && memcmp(name.bytes, module.bytes, module.size) == 0 &&
           (name.size == module.size || module.size == 0 || name.bytes[module.size] == '.');
}

static bool is_in_piece(const struct problem *problem, const struct piece *piece, struct text name)
{
    for (size_t m = piece->first_module; m < piece->end_module; m++)
        if (is_under(name, piece->called.size > 0 ? piece->called : problem->modules[m]))
            return true;
    return false;
}

/* Several rows, and several pieces, may have the name. */
static void find(struct search *search, size_t number, struct text name)
{
    if (search->seen[number])
        return;
    search->seen[number] = true;
    search->count++;
    search->found(search, name);
}

static void find_by_traits(struct search *search, const struct piece *piece)
{
    const struct problem *problem = search->subject->problem;
    const struct layer_trace *trace = search->subject->trace;
    const struct layer_row *row = problem->rows[piece->first_row];
    const struct layer_row *end = piece->end_row < problem->row_count
                                      ? problem->rows[piece->end_row]
                                      : trace->rows + trace->count;
    for (; row < end; row++)
        if (row->is_forward && layer_has_trait(trace, row, words[search->warning]) &&
            is_in_piece(problem, piece, layer_name(trace, row)))
            find(search, row->module_name, layer_name(trace, row));
}

static void find_repeated(struct search *search, const struct piece *piece)
{
    const struct problem *problem = search->subject->problem;
    for (size_t m = piece->first_module; m < piece->end_module; m++) {
        size_t index = left_out_index(&search->repeated, problem->modules[m]);
        if (index != NOT_LEFT_OUT)
            find(search, index, problem->modules[m]);
    }
}

static size_t find_all(struct search *search)
{
    search->count = 0;
    memset(search->seen, 0, search->seen_size);
    for (size_t k = 0; k < search->placement->count; k++) {
        struct wrapped segment = search->placement->segments[k];
        for (size_t i = segment.first; segment.depth == 0 && i < segment.end; i++) {
            const struct piece *piece = &search->subject->problem->pieces[i];
            if (search->warning == WARN_REPEATED)
                find_repeated(search, piece);
            else
                find_by_traits(search, piece);
        }
    }
    return search->count;
}

static void add_name(struct search *search, struct text name)
{
    if (search->count <= SHOWN_NAMES) {
        buffer_puts(search->names, search->count > 1 ? ", " : "");
        suggest_add_name(search->names, name);
    } else if (search->count == SHOWN_NAMES + 1) {
        buffer_puts(search->names, ", ...");
    }
}

/* Names are escaped already. */
static void say(const struct page *page, enum warning warning, size_t count, const char *names,
                bool whole)
{
    const char *s = count == 1 ? "" : "s";
    char counted[UNITS_TEXT_SIZE];
    units_count(counted, count);
    switch (warning) {
    case WARN_BATCH_NORM:
        suggest_say(page,
                    "%s module%s with batch norm (%s) would update statistics twice in a plain "
                    "checkpoint; the code below prevents that.",
                    counted, s, names);
        break;
    case WARN_RANDOM:
        suggest_say(page,
                    "%s module%s draw%s random numbers, as dropout does (%s). Checkpoints keep the "
                    "generator's state for the second run: do not turn preserve_rng_state off.",
                    counted, s, count == 1 ? "s" : "", names);
        break;
    case WARN_FSDP:
        suggest_say(page,
                    "%s module%s %s wrapped by FSDP (%s). Checkpoints go inside FSDP: the code "
                    "below does that for modules of the plan, but FSDP within a checkpoint gathers "
                    "its parameters once more.",
                    counted, s, count == 1 ? "is" : "are", names);
        break;
    default:
        suggest_say(page, "%s module%s run%s more than once in a step (%s): %s.", counted, s,
                    count == 1 ? "s" : "", names,
                    whole        ? "each of the runs has a checkpoint"
                    : count == 1 ? "the code leaves it out"
                                 : "the code leaves them out");
    }
}

static bool say_all(struct search *search, const struct page *page)
{
    bool whole = suggest_whole_modules(search->subject->problem, search->placement);
    bool any = false, ok = true;
    for (unsigned w = 0; ok && w < WARNINGS; w++) {
        struct buffer names = BUFFER_INIT;
        search->names = &names;
        search->warning = (enum warning)w;
        if (find_all(search) > 0 && !names.failed)
            say(page, search->warning, search->count, names.bytes, whole);
        any |= search->count > 0;
        ok = !names.failed;
        buffer_release(&names);
    }
    if (any)
        fputc('\n', page->out);
    return ok;
}

static void put_name(struct search *search, struct text name)
{
    if (search->json)
        json_put_bytes(search->json, NULL, name.bytes, name.size);
}

static bool begin(struct search *search, const struct suggest_subject *subject,
                  const struct placement *placement)
{
    size_t names = symbols_string_count(subject->trace->symbols);
    *search = (struct search){.subject = subject, .placement = placement};
    if (!left_out_find(&search->repeated, subject->problem))
        return false;
    search->seen_size = names > search->repeated.count ? names : search->repeated.count;
    search->seen = malloc(search->seen_size + 1);
    return search->seen != NULL;
}

static void end(struct search *search)
{
    left_out_release(&search->repeated);
    free(search->seen);
}

bool suggest_warnings_text(const struct page *page, const struct suggest_subject *subject,
                           const struct placement *placement)
{
    struct search search;
    if (subject->forward)
        return true;
    bool ok = begin(&search, subject, placement);
    search.found = add_name;
    ok = ok && say_all(&search, page);
    end(&search);
    return ok;
}

static void put_all(struct search *search, struct json_writer *json)
{
    for (unsigned w = 0; w < WARNINGS; w++) {
        search->warning = (enum warning)w;
        search->json = NULL;
        if (find_all(search) == 0)
            continue;
        json_put_open(json, NULL, '{');
        json_put_string(json, "about", words[w]);
        json_put_open(json, "modules", '[');
        search->json = json;
        find_all(search);
        json_put_close(json, ']');
        json_put_close(json, '}');
    }
}

bool suggest_put_warnings(struct json_writer *json, const struct suggest_subject *subject,
                          const struct placement *placement)
{
    struct search search;
    json_put_open(json, "warnings", '[');
    bool ok = begin(&search, subject, placement);
    search.found = put_name;
    if (ok && !subject->forward)
        put_all(&search, json);
    end(&search);
    json_put_close(json, ']');
    return ok;
}
