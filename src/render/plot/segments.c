#include <string.h>

#include "model/device.h"
#include "render/analyze/memory.h"
#include "render/core/moments.h"
#include "render/core/page.h"
#include "render/plot/segments_internal.h"

#define LABEL_WIDTH 660 /* pixels that what the axis says takes in full */

static const struct plot_margins segments_margins = {32, 32, 92, 86, PLOT_TITLES};

static const char *size_text(char out[UNITS_TEXT_SIZE], uint64_t bytes)
{
    return units_bytes(out, bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX, UNIT_AUTO);
}

/* The last failed request, if there is one. */
static const struct oom_row *last_oom(const struct plot_segments *plot)
{
    const struct ooms *ooms = &plot->snapshot->report->ooms;
    return ooms->count > 0 ? &ooms->items[ooms->count - 1] : NULL;
}

static void oom_reason(const struct oom_row *oom, uint64_t hole, const struct pool_key *key,
                       const struct trace *trace, struct buffer *out)
{
    char size[UNITS_TEXT_SIZE], number[UNITS_TEXT_SIZE], pool[POOL_TEXT_SIZE];
    buffer_printf(out, "; memory ran out at event %s (%s requested): ",
                  event_number(number, trace, oom->item), size_text(size, oom->requested_bytes));
    if (!pool_key_equal(key, &oom->key))
        buffer_printf(out, "that hole is not in pool %s", pool_text(pool, &oom->key));
    else if (hole < oom->requested_bytes)
        buffer_puts(out, "that hole is too small");
    else
        buffer_puts(out, "that hole was not free then, or was divided");
}

/* Says how large the largest hole is, and why it cannot serve a request. */
static void plot_segment_hole_words(const struct plot_segments *plot, struct buffer *out)
{
    const struct segment_map *map = plot->map;
    char size[UNITS_TEXT_SIZE], pool[POOL_TEXT_SIZE], all[UNITS_TEXT_SIZE];
    if (map->largest_span == NO_HOLE)
        return;
    uint64_t hole = map->spans[map->largest_span].size;
    uint64_t holes = map->pools.total.inactive_split_bytes + map->pools.total.releasable_bytes;
    const struct pool_row *row = &map->pools.items[map->segments[map->largest_segment].pool];
    const struct oom_row *oom = last_oom(plot);
    buffer_printf(out, "largest hole (outlined): %s in pool %s", size_text(size, hole),
                  pool_text(pool, &row->key));
    if (oom)
        oom_reason(oom, hole, &row->key, plot->snapshot->report->timeline->trace, out);
    else if (row->key.is_small)
        buffer_puts(out, "; it serves requests up to 1 MiB only");
    else
        buffer_printf(out, "; a larger request needs a new segment, though %s lie free",
                      size_text(all, holes));
    if (pool_key_is_private(&row->key))
        buffer_puts(out, "; only its CUDA graph can use it");
    else if (row->key.stream != 0)
        buffer_puts(out, "; only its stream can use it");
}

/* "; 1.50 GiB of that between blocks, 20.00 MiB could go back to the device, 1,008.00 MiB only once
 * their CUDA graphs are gone" */
static void put_free_words(const struct pool_row *total, struct buffer *out)
{
    char split[UNITS_TEXT_SIZE], whole[UNITS_TEXT_SIZE], graphs[UNITS_TEXT_SIZE];
    buffer_printf(out, "; %s of that between blocks, %s could go back to the device",
                  size_text(split, total->inactive_split_bytes),
                  size_text(whole, total->releasable_bytes - total->after_graphs_bytes));
    if (total->after_graphs_bytes > 0)
        buffer_printf(out, ", %s only once their CUDA graphs are gone",
                      size_text(graphs, total->after_graphs_bytes));
}

static void put_titles(FILE *script, const struct plot_segments *plot)
{
    const struct pool_row *total = &plot->map->pools.total;
    char moment[PLOT_MOMENT_SIZE], reserved[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE],
        active[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    uint64_t holes = total->inactive_split_bytes + total->releasable_bytes;
    struct buffer text = BUFFER_INIT, words = BUFFER_INIT;
    buffer_printf(&text, "%s %s: %s reserved in %s segment%s, %s in use, %s free",
                  DEVICE_WORDS(plot->snapshot->report->timeline->device),
                  plot->is_dump ? "in the snapshot" : plot_moment(moment, plot->snapshot),
                  size_text(reserved, total->reserved_bytes), units_count(count, total->segments),
                  total->segments == 1 ? "" : "s", size_text(active, total->active_bytes),
                  page_share(share, (int64_t)holes, (int64_t)total->reserved_bytes));
    put_free_words(total, &text);
    plot_segment_hole_words(plot, &words);
    const char *hole = words.size && !words.failed ? words.bytes : "";
    const char *all = text.failed ? "" : text.bytes;
    if (plot->margins.is_panel)
        plot_put_words(script, plot->look, plot->margins, hole, "");
    else
        plot_put_words(script, plot->look, plot->margins, all, hole);
    buffer_release(&text);
    buffer_release(&words);
}

/* "large, stream 0x7: 11.70 GiB in 380 segments, 6.37 GiB in use, largest hole 64.00 MiB", without
 * trailing parts that do not fit in `width` pixels. */
static void put_pool(FILE *out, const struct segment_group *group, double width)
{
    const struct pool_row *sum = &group->sum;
    char name[POOL_TEXT_SIZE], bytes[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    char parts[3][POOL_TEXT_SIZE + 3 * UNITS_TEXT_SIZE];
    if (group->pools > 1)
        snprintf(name, sizeof(name), "%zu other pools", group->pools);
    else
        pool_text(name, &sum->key);
    snprintf(parts[0], sizeof(parts[0]), "%s%s: %s in %s segment%s",
             group->pools > 1 ? "" : "pool ", name, size_text(bytes, sum->reserved_bytes),
             units_count(count, sum->segments), sum->segments == 1 ? "" : "s");
    snprintf(parts[1], sizeof(parts[1]), ", %s in use", size_text(bytes, sum->active_bytes));
    snprintf(parts[2], sizeof(parts[2]), ", largest hole %s",
             size_text(bytes, sum->largest_hole_bytes));
    double pixels = 0;
    for (size_t i = 0; i < 3; i++) {
        pixels += (double)strlen(parts[i]) * PLOT_CHARACTER;
        if (i > 0 && pixels > width)
            break;
        fputs(parts[i], out);
    }
}

static void put_pools(FILE *out, const struct segment_lines *lines)
{
    fputs("# top\tname\n", out);
    for (size_t i = 0; i < lines->count; i++) {
        fprintf(out, "%.5g\t", lines->groups[i].top - 11);
        put_pool(out, &lines->groups[i], lines->width);
        fputc('\n', out);
    }
}

bool plot_segments_write(const struct plot_segments *plot, FILE *const files[], struct error *err)
{
    FILE *script = files[SEGMENTS_SCRIPT];
    struct segment_lines lines;
    const char *unit_name;
    char length[UNITS_TEXT_SIZE];
    segment_lines_make(&lines, plot);
    struct plot_margins margins = plot->margins;
    /* a few lines do not take up all the room */
    margins.bottom = plot->look->height - margins.top - (unsigned)lines.height;
    double unit = plot_unit((double)lines.row_bytes, &unit_name);
    put_titles(script, plot);
    plot_put_margins(script, plot->look, margins);
    fprintf(script, "untold = %d\nrow_size = %.8g\ngraph_height = %.6g\nkey_below = %.6f\n",
            plot->map->untold_bytes > 0, (double)lines.row_bytes / unit, lines.height,
            54.0 / plot->look->height);
    fprintf(script, "x_label = '%s; a line is %s%s'\n", unit_name,
            size_text(length, lines.row_bytes),
            lines.width < LABEL_WIDTH ? ", a black line ends a segment"
                                      : ", its segments end to end, the largest first; a black "
                                        "line ends a segment");
    put_pools(files[SEGMENTS_POOLS], &lines);
    plot_segment_boxes(plot, &lines, files);
    return plot_segment_labels(plot, &lines, files[SEGMENTS_LABELS], err) &&
           (!plot->notes || plot_segment_titles(plot, &lines, err));
}

/* The dump, unless another moment was requested. */
static struct report_options choose_moment(const struct plot_request *request)
{
    struct report_options chosen = request->report;
    if (chosen.at.kind == WHEN_PEAK && !request->at_peak)
        chosen.at.kind = WHEN_END;
    return chosen;
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    const struct report_options options = choose_moment(job->request);
    bool is_dump = options.at.kind == WHEN_END;
    struct segment_map map = {0};
    if (!plot_snapshot_report(snapshot, &options, 1, err) ||
        !segment_map_make(&map, snapshot->timeline, is_dump ? MAP_DUMP : snapshot->report->at_item,
                          err))
        return false;
    const struct plot_segments plot = {.look = &job->request->look,
                                       .margins = segments_margins,
                                       .snapshot = snapshot,
                                       .sites = snapshot->sites,
                                       .map = &map,
                                       .is_dump = is_dump,
                                       .notes = job->notes};
    bool ok = plot_segments_write(&plot, job->files, err);
    segment_map_release(&map);
    return ok;
}

const struct plot_kind plot_kind_segments = {
    .name = "segments",
    .needs_segments = true,
    .summary = "the layout of reserved memory, in the snapshot or --at",
    .files = {PLOT_SEGMENTS_FILES},
    .templates = {"page.gp", "segments.gp"},
    .of_snapshot = draw,
};
