#include <string.h>

#include "render/run/internal.h"

#define CALL_LEAST 16 /* columns for a function and its iteration */

struct field_context run_context(const struct run_report *report)
{
    return (struct field_context){.symbols = report->run->symbols, .user = report};
}

void run_title(const struct page *page, const char *text)
{
    fprintf(page->out, "\n%s%s%s\n", page_style(page, STYLE_TITLE), text, page_plain(page));
}

const char *run_check_name(unsigned check)
{
    static const char *const names[RUN_CHECKS] = {
        [RUN_CHECK_FILES] = "files",        [RUN_CHECK_CURRENT] = "current-below-peak",
        [RUN_CHECK_DIFF] = "difference",    [RUN_CHECK_STATE] = "snapshot-state",
        [RUN_CHECK_OOMS] = "snapshot-ooms", [RUN_CHECK_PEAK] = "snapshot-peak",
        [RUN_CHECK_TRACE] = "trace-peak",   [RUN_CHECK_SUM] = "table-sum",
        [RUN_CHECK_TRACKED] = "table-peak",
    };
    return names[check];
}

const char *run_check_words(enum run_check check)
{
    static const char *const words[RUN_CHECKS] = {
        [RUN_CHECK_FILES] = "two files of statistics differ",
        [RUN_CHECK_CURRENT] = "the current value is above its peak",
        [RUN_CHECK_DIFF] = "the difference is not that of its two values",
        [RUN_CHECK_STATE] = "the snapshot's dump differs from the statistics",
        [RUN_CHECK_OOMS] = "the snapshot has more out-of-memory events than the statistics count",
        [RUN_CHECK_PEAK] = "the snapshot's peak is above that of the statistics",
        [RUN_CHECK_TRACE] = ("the profiler trace's peak is above every statistic of its rank; it "
                             "may be from another time"),
        [RUN_CHECK_SUM] = "the kinds in the table do not sum to its total",
        [RUN_CHECK_TRACKED] = "the tracker's peak is above that of the statistics",
    };
    return words[check];
}

static const char *side_name(unsigned side)
{
    return side == RUN_END ? "end" : "start";
}

static struct value string_value(const struct field_context *context, string_id id)
{
    return (struct value){VALUE_TEXT, .text = symbols_text(context->symbols, id)};
}

static struct value file_path(const struct field_context *context, uint32_t file)
{
    const struct run_report *report = context->user;
    return string_value(context, report->run->files[file].path);
}

/* Two numbers as "from -> to", which differ or are sizes. The first goes without a unit that the
 * second has, too. */
static struct value change(const struct field_context *context, const char *from, const char *to)
{
    const char *from_unit = strchr(from, ' '), *to_unit = strchr(to, ' ');
    bool same_unit = from_unit && to_unit && strcmp(from_unit, to_unit) == 0;
    buffer_add(context->scratch, from, same_unit ? (size_t)(from_unit - from) : strlen(from));
    if (*from && *to)
        buffer_puts(context->scratch, " -> ");
    else if (same_unit)
        buffer_puts(context->scratch, from_unit);
    buffer_puts(context->scratch, to);
    return value_scratch(context);
}

/* "23.48 -> 42.71 MiB", or the only one of the two. */
static struct value size_of(const struct run_row *row, enum run_figure figure,
                            const struct field_context *context)
{
    int64_t start = row->numbers[RUN_START][figure], end = row->numbers[RUN_END][figure];
    char from[UNITS_TEXT_SIZE] = "", to[UNITS_TEXT_SIZE] = "";
    if (start != RUN_ABSENT)
        page_bytes(context->page, from, start);
    if (end != RUN_ABSENT)
        page_bytes(context->page, to, end);
    return change(context, from, to);
}

/* "0 -> 2"; nothing if both are 0. */
static struct value count_of(const struct run_row *row, enum run_figure figure,
                             const struct field_context *context)
{
    int64_t start = row->numbers[RUN_START][figure], end = row->numbers[RUN_END][figure];
    char from[UNITS_TEXT_SIZE] = "", to[UNITS_TEXT_SIZE] = "";
    if (start <= 0 && end <= 0)
        return value_none();
    if (start >= 0)
        units_count(from, (uint64_t)start);
    if (end >= 0 && end != start)
        units_count(to, (uint64_t)end);
    return change(context, from, to);
}

static struct value call_of(const void *data, const struct field_context *context)
{
    const struct run_row *row = data;
    struct text name = symbols_text(context->symbols, row->function);
    buffer_add(context->scratch, name.bytes, name.size);
    buffer_printf(context->scratch, " %u", row->iteration);
    return value_scratch(context);
}

#define COLUMN(name_, format_, figure_)                                                            \
    static struct value name_(const void *row, const struct field_context *context)                \
    {                                                                                              \
        return format_(row, figure_, context);                                                     \
    }
COLUMN(allocated_of, size_of, RUN_ALLOCATED)
COLUMN(reserved_of, size_of, RUN_RESERVED)
COLUMN(retries_of, count_of, RUN_RETRIES)
COLUMN(ooms_of, count_of, RUN_OOMS)
COLUMN(rss_of, size_of, RUN_RSS)
COLUMN(vms_of, size_of, RUN_VMS)
#undef COLUMN

static bool has_packed(const void *data, const struct field_context *context)
{
    const struct run_row *row = data;
    (void)context;
    return row->numbers[RUN_END][RUN_NPP_DIFF] != RUN_ABSENT;
}

#define ROW struct run_row
#define CALL                                                                                       \
    FIELD_AS(ROW, NUMBER, NULL, rank, .title = "rank"),                                            \
        FIELD_CALL(TEXT, NULL, call_of, .title = "call", .least = CALL_LEAST, .cut = CUT_MIDDLE)
const struct row_type run_call_type =
    ROW_TYPE("calls", ROW, CALL, FIELD_CALL(WORD, NULL, allocated_of, .title = "allocated"),
             FIELD_AS(ROW, BYTES, NULL, numbers[RUN_END][RUN_ALLOCATED_PEAK],
                      .title = "peak so far", .flags = FIELD_SKIP_NEGATIVE),
             FIELD_CALL(WORD, NULL, reserved_of, .title = "reserved", .optional = 1),
             FIELD_CALL(TEXT, NULL, retries_of, .title = "retries"),
             FIELD_CALL(TEXT, NULL, ooms_of, .title = "OOMs"));
const struct row_type run_host_type =
    ROW_TYPE("host", ROW, CALL, FIELD_CALL(WORD, NULL, rss_of, .title = "host RSS"),
             FIELD_CALL(WORD, NULL, vms_of, .title = "host VMS", .optional = 1),
             FIELD_AS(ROW, BYTES, NULL, numbers[RUN_END][RUN_NPP_DIFF], .title = "packed",
                      .present = has_packed));
#undef CALL
#undef ROW

#define ROW struct run_rank
#define HIGHEST(kind_, key_, figure_, ...)                                                         \
    FIELD_AS(ROW, kind_, key_, highest[figure_], .flags = FIELD_SKIP_NEGATIVE, __VA_ARGS__)
const struct row_type run_rank_type = ROW_TYPE(
    "highest", ROW, FIELD_AS(ROW, NUMBER, NULL, rank, .title = "rank"),
    HIGHEST(BYTES, "allocated_peak_bytes", RUN_ALLOCATED_PEAK, .title = "allocated peak"),
    HIGHEST(BYTES, "active_peak_bytes", RUN_ACTIVE_PEAK, .title = "active peak", .optional = 3),
    HIGHEST(BYTES, "requested_peak_bytes", RUN_REQUESTED_PEAK),
    HIGHEST(BYTES, "reserved_peak_bytes", RUN_RESERVED_PEAK, .title = "reserved peak"),
    HIGHEST(COUNT, "num_alloc_retries", RUN_RETRIES, .title = "retries"),
    HIGHEST(COUNT, "num_ooms", RUN_OOMS, .title = "OOMs"),
    HIGHEST(BYTES, "npp_diff_bytes", RUN_NPP_DIFF, .title = "packed", .optional = 1),
    HIGHEST(BYTES, "rss_bytes", RUN_RSS, .title = "host RSS", .optional = 2),
    HIGHEST(BYTES, "vms_bytes", RUN_VMS));
#undef ROW

static const char *file_encoding(unsigned encoding)
{
    return encoding_name((enum encoding)encoding);
}

static struct value file_compression(const void *data, const struct field_context *context)
{
    (void)context;
    return value_word(((const struct run_file *)data)->compression == COMPRESSION_GZIP ? "gzip"
                                                                                       : "none");
}

#define ROW struct run_file
const struct row_type run_file_type =
    ROW_TYPE("files", ROW, FIELD(ROW, STRING, path), FIELD(ROW, COUNT, bytes),
             FIELD(ROW, NAME, encoding, .name = file_encoding),
             FIELD_CALL(WORD, "compression", file_compression));
#undef ROW

static struct value snapshot_path(const void *data, const struct field_context *context)
{
    return file_path(context, ((const struct run_snapshot *)data)->file);
}

static struct value snapshot_device(const void *data, const struct field_context *context)
{
    const struct run_snapshot *snapshot = data;
    (void)context;
    return snapshot->device == DEVICE_HOST ? value_integer(-1) : value_count(snapshot->device);
}

/* "training_step 2, end" */
static struct value snapshot_call(const void *data, const struct field_context *context)
{
    const struct run_key *key = &((const struct run_snapshot *)data)->key;
    struct text function = symbols_text(context->symbols, key->function);
    buffer_add(context->scratch, function.bytes, function.size);
    buffer_printf(context->scratch, " %u, %s", key->iteration, side_name(key->side));
    return value_scratch(context);
}

#define ROW         struct run_snapshot
#define STATE(key_) FIELD_AS(ROW, BYTES, "state_" #key_, state.key_)
const struct row_type run_snapshot_type =
    ROW_TYPE("snapshots", ROW, FIELD_CALL(STRING, "path", snapshot_path),
             FIELD_AS(ROW, STRING, "function", key.function),
             FIELD_AS(ROW, NUMBER, "iteration", key.iteration),
             FIELD_AS(ROW, NAME, "at", key.side, .name = side_name),
             FIELD_CALL(NUMBER, "device", snapshot_device), FIELD(ROW, COUNT, events),
             FIELD(ROW, BYTES, active_peak_bytes, IF(ROW, knows_peak)),
             FIELD(ROW, BYTES, allocated_peak_bytes, IF(ROW, knows_peak)),
             FIELD(ROW, BYTES, reserved_peak_bytes), STATE(reserved_bytes), STATE(allocated_bytes),
             STATE(active_bytes), STATE(requested_bytes), STATE(inactive_bytes),
             FIELD(ROW, COUNT, ooms), FIELD(ROW, BYTES, refused_bytes, IF(ROW, ooms)),
             FIELD(ROW, TIME, refused_time_us, IF(ROW, ooms)));

const struct row_type run_oom_type = ROW_TYPE(
    "ooms", ROW, FIELD_AS(ROW, NUMBER, NULL, key.rank, .title = "rank"),
    FIELD_CALL(LABEL, NULL, snapshot_call, .title = "call", .least = CALL_LEAST, .cut = CUT_START),
    FIELD_CALL(NUMBER, NULL, snapshot_device, .title = "device"),
    FIELD_AS(ROW, COUNT, NULL, ooms, .title = "events"),
    FIELD_AS(ROW, BYTES, NULL, refused_bytes, .title = "largest request"),
    FIELD_CALL(STRING, NULL, snapshot_path, .title = "file", .cut = CUT_START, .least = 16));
#undef ROW

static struct value trace_path(const void *data, const struct field_context *context)
{
    return file_path(context, ((const struct run_trace *)data)->file);
}

static struct value trace_device(const void *data, const struct field_context *context)
{
    const struct run_trace *trace = data;
    (void)context;
    return trace->device == DEVICE_HOST ? value_integer(-1) : value_count(trace->device);
}

/* "CPU" for people. */
static struct value trace_device_name(const void *data, const struct field_context *context)
{
    const struct run_trace *trace = data;
    if (trace->device == DEVICE_HOST)
        return value_word("CPU");
    buffer_printf(context->scratch, "%u", trace->device);
    return value_scratch(context);
}

#define ROW struct run_trace
const struct row_type run_trace_type = ROW_TYPE(
    "traces", ROW, FIELD_AS(ROW, NUMBER, NULL, rank, .title = "rank"),
    FIELD_CALL(NUMBER, "device", trace_device),
    FIELD_CALL(LABEL, NULL, trace_device_name, .title = "device"),
    FIELD(ROW, BYTES, active_peak_bytes, .title = "peak"),
    FIELD(ROW, BYTES, reserved_peak_bytes, .title = "reserved peak", .flags = FIELD_SKIP_NEGATIVE),
    FIELD(ROW, COUNT, events, .title = "events", .optional = 1),
    FIELD_CALL(STRING, "path", trace_path, .title = "file", .cut = CUT_START, .least = 16));
#undef ROW

static struct value outlier_name(const void *data, const struct field_context *context)
{
    (void)context;
    return value_word(run_figure_names[((const struct run_outlier *)data)->figure]);
}

#define ROW struct run_outlier
const struct row_type run_outlier_type =
    ROW_TYPE("outliers", ROW, FIELD(ROW, NUMBER, rank, .title = "rank"),
             FIELD_CALL(WORD, "statistic", outlier_name, .title = "statistic"),
             FIELD_AS(ROW, NUMBER, "value", number, .title = "value"),
             FIELD(ROW, NUMBER, median, .title = "median of all ranks"));
#undef ROW

static struct value expected_path(const void *data, const struct field_context *context)
{
    return file_path(context, ((const struct run_inconsistency *)data)->expected_file);
}

static struct value found_path(const void *data, const struct field_context *context)
{
    return file_path(context, ((const struct run_inconsistency *)data)->found_file);
}

static bool has_expected(const void *data, const struct field_context *context)
{
    (void)context;
    return ((const struct run_inconsistency *)data)->expected != RUN_ABSENT;
}

static bool has_found(const void *data, const struct field_context *context)
{
    (void)context;
    return ((const struct run_inconsistency *)data)->found != RUN_ABSENT;
}

#define ROW struct run_inconsistency
const struct row_type run_inconsistency_type = ROW_TYPE(
    "inconsistencies", ROW, FIELD(ROW, NAME, check, .name = run_check_name),
    FIELD_AS(ROW, NUMBER, "rank", key.rank), FIELD_AS(ROW, STRING, "function", key.function),
    FIELD_AS(ROW, NUMBER, "iteration", key.iteration),
    FIELD_AS(ROW, NAME, "at", key.side, .name = side_name),
    FIELD_AS(ROW, STRING, "statistic", name), FIELD(ROW, NUMBER, expected, .present = has_expected),
    FIELD(ROW, NUMBER, found, .present = has_found),
    FIELD_CALL(STRING, "expected_path", expected_path),
    FIELD_CALL(STRING, "found_path", found_path));
#undef ROW
