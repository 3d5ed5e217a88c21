/* The tables of torch.cuda.memory_summary() in a log. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "decode/core/others.h"
#include "decode/stats/stats.h"

#define HEADING     SUMMARY_HEADING
#define VALUE_SHOWN 40

struct stats_tables {
    const struct stats_sink *sink;
    struct stats_row row;
    bool is_open;  /* a heading was read, the last rule was not */
    bool has_rows; /* the present table has rows */
    int metric;    /* the metric of the lines about one pool; -1 if not known */
    struct error *err;
};

static const struct {
    const char *name;
    enum stats_metric metric;
} metrics[] = {
    {"Allocated memory", STATS_ALLOCATED_BYTES},
    {"Active memory", STATS_ACTIVE_BYTES},
    {"Requested memory", STATS_REQUESTED_BYTES},
    {"GPU reserved memory", STATS_RESERVED_BYTES},
    {"Non-releasable memory", STATS_INACTIVE_SPLIT_BYTES},
    {"Allocations", STATS_ALLOCATIONS},
    {"Active allocs", STATS_ACTIVE},
    {"GPU reserved segments", STATS_SEGMENTS},
    {"Non-releasable allocs", STATS_INACTIVE_SPLITS},
    {"Oversize allocations", STATS_OVERSIZE_ALLOCATIONS},
    {"Oversize GPU segments", STATS_OVERSIZE_SEGMENTS},
};

/* Finds the next cell of a line, and the text after its bar. */
static struct text take_cell(struct text *rest)
{
    const char *bar = rest->size > 0 ? memchr(rest->bytes, '|', rest->size) : NULL;
    struct text cell = {rest->bytes, bar ? (size_t)(bar - rest->bytes) : rest->size};
    size_t taken = cell.size + (bar != NULL);
    *rest = (struct text){rest->bytes + taken, rest->size - taken};
    return text_trim(cell);
}

/* The factor of a unit: powers of 1024 for sizes, of 1000 for numbers. 0: not a unit. */
static int64_t unit_factor(struct text unit, bool is_bytes)
{
    static const char letters[] = "KMGTP";
    int64_t factor = 1;
    if (unit.size == 0 || (is_bytes && text_equals(unit, "B")))
        return factor;
    const char *letter = strchr(letters, unit.bytes[0]);
    struct text rest = {unit.bytes + 1, unit.size - 1};
    if (!letter || *letter == '\0')
        return 0;
    if (is_bytes ? !text_equals(rest, "iB") && !text_equals(rest, "B") : rest.size > 0)
        return 0;
    for (const char *at = letters; at <= letter; at++)
        factor *= is_bytes ? 1024 : 1000;
    return factor;
}

static bool bad_cell(const struct stats_tables *reader, uint64_t line, struct text cell,
                     bool is_bytes)
{
    struct text shown = text_first(cell, VALUE_SHOWN);
    return error_set(reader->err, STATUS_BAD_INPUT, "line %" PRIu64 ": expected %s, found '%.*s'",
                     line, is_bytes ? "a size such as 512 KiB" : "a number", (int)shown.size,
                     shown.bytes);
}

static bool read_number(struct stats_tables *reader, uint64_t line, struct text cell, bool is_bytes,
                        int64_t *number)
{
    bool is_negative = text_starts(cell, "-"); /* counters of a pool that another allocator frees */
    size_t begin = is_negative, end = begin;
    while (end < cell.size && ascii_is_digit(cell.bytes[end]))
        end++;
    struct text unit = text_trim((struct text){cell.bytes + end, cell.size - end});
    int64_t factor = unit_factor(unit, is_bytes);
    if (end == begin || factor == 0 ||
        !text_number((struct text){cell.bytes + begin, end - begin}, number) ||
        __builtin_mul_overflow(*number, is_negative ? -factor : factor, number))
        return bad_cell(reader, line, cell, is_bytes);
    reader->row.is_rounded = reader->row.is_rounded || factor > 1;
    return true;
}

/* Finds what a line is about. False: nothing that is known. */
static bool find_row(struct stats_tables *reader, struct text name, enum stats_pool *pool)
{
    *pool = text_equals(name, "from large pool")   ? STATS_LARGE
            : text_equals(name, "from small pool") ? STATS_SMALL
                                                   : STATS_ALL;
    if (*pool != STATS_ALL)
        return reader->metric >= 0;
    reader->metric = -1;
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
        if (text_equals(name, metrics[i].name))
            reader->metric = (int)metrics[i].metric;
    return reader->metric >= 0;
}

static bool read_row(struct stats_tables *reader, uint64_t line, struct text rest)
{
    enum stats_pool pool;
    struct text name = take_cell(&rest);
    if (!find_row(reader, name, &pool))
        return true;
    enum stats_metric metric = (enum stats_metric)reader->metric;
    for (enum stats_moment moment = 0; moment < STATS_MOMENTS; moment++) {
        int64_t number;
        if (!read_number(reader, line, take_cell(&rest), stats_is_bytes(metric), &number))
            return false;
        stats_set(&reader->row, metric, pool, moment, number);
    }
    reader->has_rows = true;
    return true;
}

/* "CUDA OOMs: 0 | cudaMalloc retries: 0" */
static bool read_counters(struct stats_tables *reader, uint64_t line, struct text rest)
{
    static const struct {
        const char *name;
        enum stats_counter counter;
    } counters[] = {{"OOMs: ", STATS_OOMS}, {"retries: ", STATS_RETRIES}};
    while (rest.size > 0) {
        struct text cell = take_cell(&rest);
        for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
            const char *at = text_find(cell, counters[i].name);
            if (!at)
                continue;
            at += strlen(counters[i].name);
            struct text digits =
                text_trim((struct text){at, (size_t)(cell.bytes + cell.size - at)});
            int64_t number;
            if (!text_number(digits, &number))
                return bad_cell(reader, line, digits, false);
            stats_take(&reader->row,
                       (struct text){stats_counter_names[counters[i].counter],
                                     strlen(stats_counter_names[counters[i].counter])},
                       number);
        }
    }
    return true;
}

static bool close_table(struct stats_tables *reader, bool is_cut)
{
    bool was_open = reader->is_open;
    reader->is_open = false;
    reader->row.is_cut = is_cut;
    return !was_open || reader->sink->row(reader->sink->self, &reader->row, reader->err);
}

static bool open_table(struct stats_tables *reader, uint64_t line, struct text rest)
{
    size_t digits = 0;
    if (!close_table(reader, true))
        return false;
    while (digits < rest.size && ascii_is_digit(rest.bytes[digits]))
        digits++;
    reader->row = (struct stats_row){.device = -1, .line = line};
    if (digits > 0 && digits < 10)
        text_number((struct text){rest.bytes, digits}, &reader->row.device);
    reader->is_open = true;
    reader->has_rows = false;
    reader->metric = -1;
    return true;
}

static bool read_line(struct stats_tables *reader, const struct log_line *line)
{
    struct text text = line->text;
    const char *heading = text_find(text, HEADING), *end = text.bytes + text.size;
    if (heading) {
        heading += strlen(HEADING);
        return open_table(reader, line->number, (struct text){heading, (size_t)(end - heading)});
    }
    const char *bar = reader->is_open && text.size > 0 ? memchr(text.bytes, '|', text.size) : NULL;
    if (!bar)
        return true;
    struct text rest = {bar + 1, (size_t)(end - bar - 1)};
    if (text_starts(rest, "===="))
        return !reader->has_rows || close_table(reader, false);
    if (text_starts(rest, "----"))
        return true;
    if (!reader->has_rows && text_find(rest, "OOMs: "))
        return read_counters(reader, line->number, rest);
    return read_row(reader, line->number, rest);
}

struct stats_tables *stats_tables_create(const struct stats_sink *sink, struct error *err)
{
    struct stats_tables *tables = calloc(1, sizeof(*tables));
    if (!tables)
        error_out_of_memory(err);
    else
        tables->sink = sink;
    return tables;
}

bool stats_tables_take(struct stats_tables *tables, const struct log_line *line, struct error *err)
{
    tables->err = err;
    return read_line(tables, line);
}

bool stats_tables_end(struct stats_tables *tables, struct error *err)
{
    tables->err = err;
    return close_table(tables, true);
}

void stats_tables_destroy(struct stats_tables *tables)
{
    free(tables);
}
