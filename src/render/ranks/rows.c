#include "render/ranks/rows.h"

#include <inttypes.h>
#include <string.h>

#include "render/core/escape.h"

void add_group_name(struct buffer *text, size_t group)
{
    if (group >= 26)
        add_group_name(text, group / 26 - 1);
    buffer_putc(text, (char)('A' + group % 26));
}

void add_row_name(struct buffer *text, const struct rank_row *row)
{
    const struct summary *summary = row->summary;
    if (summary->rank >= 0)
        buffer_printf(text, "rank %" PRId64, summary->rank);
    else
        escape_text(text, summary->path, strlen(summary->path));
    if (summary->device_count < 2)
        return;
    if (row->device->device < 0)
        buffer_puts(text, ", host");
    else
        buffer_printf(text, ", device %" PRId64, row->device->device);
}

void add_missing(struct buffer *text, const struct ranks *ranks)
{
    struct rank_gaps gaps;
    ranks_find_missing(ranks, &gaps);
    if (gaps.missing > 0) {
        buffer_puts(text, gaps.missing == 1 ? "there is no capture of rank "
                                            : "there are no captures of ranks ");
        for (size_t i = 0; i < gaps.count; i++) {
            buffer_printf(text, "%s%" PRId64, i > 0 ? ", " : "", gaps.items[i].first);
            if (gaps.items[i].last > gaps.items[i].first)
                buffer_printf(text, "-%" PRId64, gaps.items[i].last);
        }
        if (gaps.count == RANK_GAPS)
            buffer_puts(text, ", ...");
    }
    if (gaps.repeated == 0)
        return;
    buffer_puts(text, gaps.missing > 0 ? "; " : "");
    if (gaps.repeated == 1)
        buffer_printf(text, "rank %" PRId64 " has", gaps.repeats_of - 1);
    else
        buffer_printf(text, "%zu ranks have", gaps.repeated);
    buffer_puts(text, " several captures, which may be of different runs");
}

const struct summary_category *largest_category(const struct summary_device *device)
{
    const struct summary_category *largest = NULL;
    for (size_t i = 0; i < device->category_count; i++)
        if (device->categories[i].bytes > 0 &&
            (!largest || device->categories[i].bytes > largest->bytes))
            largest = &device->categories[i];
    return largest;
}

static const struct rank_row *row_of(const void *row)
{
    return row;
}

#define GETTER(name_, result_, type_)                                                              \
    static struct value name_(const void *data, const struct field_context *context)               \
    {                                                                                              \
        const struct rank_row *row = row_of(data);                                                 \
        (void)context;                                                                             \
        return type_(result_);                                                                     \
    }

/* A figure that may be unknown. */
static struct value known(int64_t figure)
{
    return figure == SUMMARY_UNKNOWN ? value_none() : value_integer(figure);
}

static struct value text_value(const char *text)
{
    return *text ? (struct value){VALUE_TEXT, .text = {text, strlen(text)}} : value_none();
}

GETTER(rank, row->summary->rank, known)
GETTER(path, row->summary->path, text_value)
GETTER(device, row->device->device, value_integer)
GETTER(peak, row->device->peak_bytes, value_integer)
GETTER(start, row->device->start_bytes, value_integer)
GETTER(at_end, row->device->end_bytes, value_integer)
GETTER(allocated, row->device->allocated_peak_bytes, value_integer)
GETTER(reserved, row->device->reserved_peak_bytes, value_integer)
GETTER(reserved_at_peak, row->device->reserved_at_peak_bytes, value_integer)
GETTER(unused, row->device->unused_bytes, known)
GETTER(growth, row->device->growth_bytes, value_integer)
GETTER(peak_event, row->device->peak_event, value_integer)
GETTER(peak_us, row->device->peak_us, known)
GETTER(phase, row->device->phase, text_value)
GETTER(events, row->device->events, value_count)
GETTER(steps, row->device->steps, value_count)
GETTER(ooms, row->device->ooms, value_count)
GETTER(oom, row->device->oom, text_value)

static int64_t bytes_of(const void *row, enum category category)
{
    const struct summary_device *device = row_of(row)->device;
    for (size_t i = 0; i < device->category_count; i++)
        if (strcmp(device->categories[i].name, category_name(category)) == 0)
            return device->categories[i].bytes;
    return 0;
}

#define CATEGORY_GETTER(name_, category_)                                                          \
    static struct value name_(const void *row, const struct field_context *context)                \
    {                                                                                              \
        (void)context;                                                                             \
        return value_integer(bytes_of(row, category_));                                            \
    }

CATEGORY_GETTER(parameters, CATEGORY_PARAMETER)
CATEGORY_GETTER(gradients, CATEGORY_GRADIENT)
CATEGORY_GETTER(optimizer_state, CATEGORY_OPTIMIZER_STATE)
CATEGORY_GETTER(activations, CATEGORY_ACTIVATION)

static struct value other(const void *row, const struct field_context *context)
{
    (void)context;
    return value_integer(row_of(row)->device->peak_bytes - bytes_of(row, CATEGORY_PARAMETER) -
                         bytes_of(row, CATEGORY_GRADIENT) -
                         bytes_of(row, CATEGORY_OPTIMIZER_STATE) -
                         bytes_of(row, CATEGORY_ACTIVATION));
}

static void put_categories(struct json_writer *json, const void *row,
                           const struct field_context *context)
{
    const struct summary_device *device = row_of(row)->device;
    (void)context;
    json_put_open(json, "categories", '[');
    for (size_t i = 0; i < device->category_count; i++) {
        json_put_open(json, NULL, '{');
        json_put_string(json, "name", device->categories[i].name);
        json_put_integer(json, "bytes", device->categories[i].bytes);
        json_put_count(json, "count", device->categories[i].count);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static struct value name_text(const void *row, const struct field_context *context)
{
    const struct rank_row *from = row_of(row);
    if (from->summary->rank >= 0)
        buffer_printf(context->scratch, "%" PRId64, from->summary->rank);
    else
        buffer_puts(context->scratch, "-");
    if (from->summary->device_count > 1)
        buffer_printf(context->scratch, "/%" PRId64, from->device->device);
    return value_scratch(context);
}

static struct value group_text(const void *row, const struct field_context *context)
{
    add_group_name(context->scratch, row_of(row)->group);
    return value_scratch(context);
}

/* "activation 61%" */
static struct value largest_text(const void *row, const struct field_context *context)
{
    const struct summary_device *device = row_of(row)->device;
    const struct summary_category *largest = largest_category(device);
    char share[UNITS_TEXT_SIZE];
    if (!largest)
        return value_none();
    buffer_printf(context->scratch, "%s %s", largest->name,
                  page_share(share, largest->bytes, device->peak_bytes));
    return value_scratch(context);
}

static struct value oom_text(const void *row, const struct field_context *context)
{
    const struct summary_device *device = row_of(row)->device;
    if (device->ooms == 0)
        return value_none();
    if (device->ooms > 1)
        buffer_printf(context->scratch, "%" PRIu64 " ", device->ooms);
    buffer_puts(context->scratch, *device->oom ? device->oom : "yes");
    return value_scratch(context);
}

#define ROW struct rank_row
const struct row_type rank_type = ROW_TYPE(
    "ranks", ROW, FIELD_CALL(NUMBER, "rank", rank, .flags = FIELD_NULL),
    FIELD_CALL(NUMBER, NULL, name_text, .title = "rank"), FIELD_CALL(LABEL, "path", path),
    FIELD_CALL(NUMBER, "device", device), FIELD(ROW, NUMBER, group),
    FIELD_CALL(LABEL, NULL, group_text, .title = "group"),
    FIELD_CALL(BYTES, "peak_bytes", peak, .title = "peak"),
    FIELD_CALL(DURATION, "peak_us", peak_us, .title = "when", .optional = 4),
    FIELD_CALL(NUMBER, "peak_event", peak_event), FIELD_CALL(LABEL, "phase", phase),
    FIELD_CALL(BYTES, "reserved_peak_bytes", reserved, .title = "reserved", .optional = 1),
    FIELD_CALL(BYTES, "reserved_at_peak_bytes", reserved_at_peak),
    FIELD_CALL(BYTES, "unused_bytes", unused, .title = "unused", .absent = "-", .optional = 3),
    FIELD_CALL(LABEL, NULL, largest_text, .title = "largest category", .optional = 2),
    FIELD_CALL(LABEL, NULL, oom_text, .title = "out of memory"),
    FIELD_CALL(BYTES, "allocated_peak_bytes", allocated), FIELD_CALL(BYTES, "start_bytes", start),
    FIELD_CALL(BYTES, "end_bytes", at_end), FIELD_CALL(BYTES, "growth_bytes_per_step", growth),
    FIELD_CALL(COUNT, "events", events), FIELD_CALL(COUNT, "steps", steps),
    FIELD_CALL(COUNT, "ooms", ooms), FIELD_CALL(LABEL, "oom", oom),
    FIELD_JSON("categories", put_categories),
    FIELD_CALL(BYTES, "parameter_bytes", parameters, .flags = FIELD_NOT_JSON),
    FIELD_CALL(BYTES, "gradient_bytes", gradients, .flags = FIELD_NOT_JSON),
    FIELD_CALL(BYTES, "optimizer_state_bytes", optimizer_state, .flags = FIELD_NOT_JSON),
    FIELD_CALL(BYTES, "activation_bytes", activations, .flags = FIELD_NOT_JSON),
    FIELD_CALL(BYTES, "other_bytes", other, .flags = FIELD_NOT_JSON));
#undef ROW
