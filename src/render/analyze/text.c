
#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"
#include "model/device.h"
#include "render/analyze/findings.h"
#include "render/analyze/growth.h"
#include "render/analyze/internal.h"
#include "render/analyze/memory.h"
#include "render/core/escape.h"
#include "render/core/input_line.h"
#include "render/core/table.h"

#define CONF "PYTORCH_CUDA_ALLOC_CONF"

/* A full ring buffer is reported as a warning elsewhere. The environment variable is printed whole,
 * before the other settings. */
static bool is_told_elsewhere(struct text key)
{
    return text_equals(key, CONF) || text_equals(key, "trace_alloc_overflowed");
}

static bool is_default(struct text key, struct text value)
{
    static const char *const off[] = {"False", "None", "0", "0.0", "-1", ""};
    if (text_equals(key, "pinned_num_register_threads"))
        return text_equals(value, "1");
    if (text_equals(key, "trace_alloc_max_entries"))
        return text_equals(value, "9223372036854775807");
    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
        if (text_equals(value, off[i]))
            return true;
    return false;
}

static void add_pair(struct buffer *out, struct text key, struct text value)
{
    if (out->size)
        buffer_puts(out, ", ");
    escape_text(out, key.bytes, key.size);
    buffer_putc(out, '=');
    escape_text(out, value.bytes, value.size);
}

/* "roundup_power2_divisions" for "roundup_power2_divisions.256", a setting for each class of sizes.
 */
static struct text stem(struct text key)
{
    size_t size = key.size;
    while (size > 0 && ascii_is_digit(key.bytes[size - 1]))
        size--;
    bool is_class = size > 1 && size < key.size && key.bytes[size - 1] == '.';
    return is_class ? text_first(key, size - 1) : key;
}

enum class_values { CLASSES_DIFFER, CLASSES_FIRST, CLASSES_LATER };

/* Whether all settings of a stem, which are several, have the value of setting `i`, and whether it
 * is the first. */
static enum class_values class_values(const struct snapshot *snapshot, size_t i)
{
    const struct symbols *symbols = snapshot->symbols;
    struct text own = stem(symbols_text(symbols, snapshot->settings[i].key));
    size_t first = i, count = 0;
    for (size_t j = 0; j < snapshot->setting_count; j++) {
        if (!text_same(stem(symbols_text(symbols, snapshot->settings[j].key)), own))
            continue;
        if (snapshot->settings[j].value != snapshot->settings[i].value)
            return CLASSES_DIFFER;
        first = j < first ? j : first;
        count++;
    }
    return count == 1 ? CLASSES_DIFFER : first == i ? CLASSES_FIRST : CLASSES_LATER;
}

/* "defaults", "not recorded", or "PYTORCH_CUDA_ALLOC_CONF=..., key=value": escaped. */
static void settings_summary(const struct snapshot *snapshot, struct buffer *out)
{
    struct text conf;
    if (snapshot_setting(snapshot, CONF, &conf) && conf.size)
        add_pair(out, (struct text){CONF, strlen(CONF)}, conf);
    for (size_t i = 0; i < snapshot->setting_count; i++) {
        struct text key = symbols_text(snapshot->symbols, snapshot->settings[i].key);
        struct text value = symbols_text(snapshot->symbols, snapshot->settings[i].value);
        if (is_told_elsewhere(key) || is_default(key, value))
            continue;
        enum class_values classes = class_values(snapshot, i);
        if (classes != CLASSES_LATER)
            add_pair(out, classes == CLASSES_FIRST ? stem(key) : key, value);
    }
    if (!out->size)
        buffer_puts(out, snapshot->setting_count ? "defaults" : "not recorded");
}

#define PATH_LEAST 16 /* columns for a file in the comparison */

/* A word and the paragraph after it. */
static bool lead_paragraph(const struct page *page, const char *lead, struct buffer *text)
{
    bool ok = !text->failed;
    if (ok) {
        fputs(lead, page->out);
        page_paragraph(page, strlen(lead), 2, text->bytes);
    }
    buffer_release(text);
    return ok;
}

static bool settings_line(const struct page *page, const struct snapshot *snapshot)
{
    struct buffer text = BUFFER_INIT;
    settings_summary(snapshot, &text);
    return lead_paragraph(page, "Allocator settings:", &text);
}

/* "rank 3 of 8, with Python stacks" */
static bool profile_line(const struct page *page, const struct profile_facts *profile)
{
    struct buffer text = BUFFER_INIT;
    if (profile->rank >= 0)
        buffer_printf(&text, "rank %" PRId64, profile->rank);
    if (profile->rank >= 0 && profile->world_size > 0)
        buffer_printf(&text, " of %" PRId64, profile->world_size);
    buffer_printf(&text, "%s%s Python stacks", text.size > 0 ? ", " : "",
                  profile->has_python ? "with" : "without");
    return lead_paragraph(page, "Profile of torch.profiler:", &text);
}

/* "of one device, with 98.27 MiB from before the profile in 322 allocations" */
static bool timeline_line(const struct page *page, const struct profile_facts *profile)
{
    struct buffer text = BUFFER_INIT;
    char size[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    buffer_puts(&text, "of one device");
    if (profile->older_bytes > 0)
        buffer_printf(&text, ", with %s from before the profile",
                      page_bytes(page, size, profile->older_bytes));
    if (profile->older_count > 0)
        buffer_printf(&text, " in %s allocation%s", units_count(count, profile->older_count),
                      profile->older_count == 1 ? "" : "s");
    return lead_paragraph(page, "Memory timeline of torch.profiler:", &text);
}

static bool heap_line(const struct page *page)
{
    struct buffer text = BUFFER_INIT;
    buffer_puts(&text, "what was live when it was written");
    return lead_paragraph(page, "Memory profile in pprof's format:", &text);
}

static bool unknown_keys(const struct page *page, const struct snapshot *snapshot)
{
    struct buffer text = BUFFER_INIT;
    if (snapshot->unknown_key_count == 0)
        buffer_puts(&text, "none");
    for (size_t i = 0; i < snapshot->unknown_key_count; i++) {
        struct text key = symbols_text(snapshot->symbols, snapshot->unknown_keys[i].key);
        buffer_printf(&text, "%s%s.", i ? ", " : "", snapshot->unknown_keys[i].where);
        escape_text(&text, key.bytes, key.size);
    }
    return lead_paragraph(page, "Unknown keys:", &text);
}

static bool left_out(const struct page *page, const struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->left_out_count; i++) {
        const char *why = analysis->left_out[i].text;
        struct buffer text = BUFFER_INIT;
        escape_text(&text, why, strlen(why));
        fputc('\n', page->out);
        if (!lead_paragraph(page, "Not shown:", &text))
            return false;
    }
    return true;
}

/* Hints about further options, unless they were given already or would show nothing. */
static void hints(const struct page *page, const struct analysis *analysis)
{
    bool history = false;
    for (size_t i = 0; i < analysis->device_count; i++)
        history = history || device_has_history(analysis->devices[i]);
    if (!history || analysis->at_given || analysis->stacks != STACKS_NONE)
        return;
    fprintf(page->out, "\n%s", page_style(page, STYLE_FAINT));
    page_paragraph(page, 0, 0,
                   "More: --stacks for call stacks, --at end for what was never freed, "
                   "--top 0 for every call site.");
    fputs(page_plain(page), page->out);
}

bool analyze_text(const struct page *page, const struct analysis *analysis)
{
    const struct snapshot *snapshot = analysis->snapshot;
    const struct input_line input = {analysis->path,     snapshot->input_bytes, snapshot->encoding,
                                     snapshot->protocol, snapshot->compression, NULL};
    if (!input_line(page, &input) ||
        !(snapshot->profile.is_heap       ? heap_line(page)
          : snapshot->profile.is_timeline ? timeline_line(page, &snapshot->profile)
          : snapshot->profile.is_profile  ? profile_line(page, &snapshot->profile)
                                          : settings_line(page, snapshot)))
        return false;
    if (analysis->verbose && !unknown_keys(page, snapshot))
        return false;
    if (analysis->device_count == 0)
        fputs("\nThe snapshot holds no segments and no events: nothing was allocated.\n",
              page->out);
    for (size_t i = 0; i < analysis->device_count; i++) {
        const struct device_report *report = analysis->devices[i];
        fputc('\n', page->out);
        if (timeline_is_unused(report->timeline)) {
            device_unused(page, report);
            continue;
        }
        if (device_is_little_host(analysis, report)) {
            device_little_host(page, report);
            continue;
        }
        if (!device_summary(page, analysis, report) || !device_phases(page, report) ||
            !device_baseline(page, report) || !device_live(page, analysis, report) ||
            !device_joint(page, analysis, report) || !device_growth(page, analysis, report) ||
            !device_pending(page, analysis, report) ||
            !device_fragmentation(page, analysis, report) || !device_findings(page, report))
            return false;
    }
    hints(page, analysis);
    return left_out(page, analysis);
}

/* Length of the path of the deepest folder that contains all files, including its separator. */
static size_t common_folder(const struct comparison_row *rows, size_t count)
{
    const char *first = NULL;
    size_t same = 0;
    for (size_t i = 0; i < count; i++) {
        const char *path = rows[i].path;
        if (strcmp(path, "-") == 0)
            continue;
        if (!first) {
            const char *slash = strrchr(path, '/');
            first = path;
            same = slash ? (size_t)(slash - path) + 1 : 0;
        }
        while (same > 0 && (strncmp(first, path, same) != 0 || first[same - 1] != '/'))
            same--;
    }
    return same;
}

static void add_comparison(struct table *table, const struct page *page,
                           const struct comparison_row *row, size_t folder)
{
    char text[UNITS_TEXT_SIZE];
    if (strcmp(row->path, "-") == 0)
        table_add(table, "standard input");
    else
        table_add_text(table, row->path + folder);
    if (row->failed) {
        for (int column = 1; column < 5; column++)
            table_add(table, column == 2 ? "not read" : "-");
        return;
    }
    table_add(table, row->no_device ? "-" : DEVICE_NAME(row->device));
    table_add(table, page_bytes(page, text, row->peak_bytes));
    table_add(table, row->no_device ? "-" : page_bytes(page, text, row->baseline_bytes));
    table_add(table, page_bytes(page, text, row->reserved_bytes));
}

static bool comparison_title(const struct page *page, const char *folder, size_t folder_size)
{
    struct buffer text = BUFFER_INIT;
    buffer_puts(&text, "Comparison");
    if (folder_size > 0) {
        buffer_puts(&text, " of files in ");
        escape_text(&text, folder, folder_size);
    }
    bool ok = !text.failed;
    if (ok)
        fprintf(page->out, "%s%s%s\n", page_style(page, STYLE_TITLE), text.bytes, page_plain(page));
    buffer_release(&text);
    return ok;
}

bool comparison_text(const struct page *page, const struct comparison_row *rows, size_t count)
{
    static const struct table_column columns[] = {
        {"file", COLUMN_TEXT, CUT_MIDDLE, PATH_LEAST, 0},
        {.title = "device"},
        {.title = "peak"},
        {.title = "baseline", .optional = 1},
        {.title = "reserved", .optional = 2},
    };
    size_t folder = common_folder(rows, count), named = 0;
    while (named + 1 < count && strcmp(rows[named].path, "-") == 0)
        named++;
    if (!comparison_title(page, rows[named].path, folder))
        return false;
    struct table table;
    table_init(&table, columns, 5);
    for (size_t i = 0; i < count; i++)
        add_comparison(&table, page, &rows[i], folder);
    table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}
