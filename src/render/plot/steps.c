#include <inttypes.h>

#include "base/units.h"
#include "model/summary.h"
#include "render/plot/kind.h"
#include "render/plot/legend.h"
#include "render/plot/svg_titles.h"
#include "render/plot/text_rows.h"

#define HEADROOM    1.16 /* above the highest bar: its figure */
#define WIDE        0.86 /* part of its place that a bar fills */
#define WIDEST      120  /* pixels */
#define TICK_PIXELS 30   /* between numbers of steps */
#define DOTS_PIXELS 24   /* between the dots for what is left out and the next number */
#define NAME_PIXELS 76   /* width of a bar's place, for the figure above it */
#define FIGURES     24   /* letters */

enum { STEPS_SCRIPT, STEPS_BARS, STEPS_TICKS, STEPS_TEXT };
enum { LAYER_END, LAYER_PEAK, LAYERS };

static const struct plot_margins margins = {80, 230, 110, 60, PLOT_TITLES};

static const struct {
    unsigned colour, pale; /* pale: of steps of which the trace has only a part */
    char letter;
    const char *name;
} layers[LAYERS] = {
    [LAYER_END] = {0x1F4E79, 0x8A8A8A, '=', "active at its end"},
    [LAYER_PEAK] = {0x7FB2DD, 0xC8C8C8, '+', "active at its peak"},
};

/* Steps that a summary leaves out take the place of one step. */
struct picture {
    const struct plot_job *job;
    const struct summary_device *device;
    size_t gap; /* steps are left out after so many; 0: none are */
    size_t places;
    int64_t most;   /* bytes */
    size_t highest; /* the step with the highest peak */
    size_t complete;
};

static const struct summary_step *step_of(const struct picture *picture, size_t i)
{
    return &picture->device->step_list[i];
}

static int64_t bytes_of(const struct summary_step *step, size_t layer)
{
    int64_t bytes = layer == LAYER_END ? step->end_bytes : step->peak_bytes;
    return bytes > 0 ? bytes : 0;
}

static unsigned colour_of(const struct summary_step *step, size_t layer)
{
    return step->complete ? layers[layer].colour : layers[layer].pale;
}

static void measure(struct picture *picture)
{
    const struct summary_device *device = picture->device;
    picture->most = 1;
    for (size_t i = 0; i < device->step_list_count; i++) {
        const struct summary_step *step = step_of(picture, i);
        picture->complete += step->complete;
        if (step->peak_bytes > picture->most) {
            picture->most = step->peak_bytes;
            picture->highest = i;
        }
    }
    if (device->steps > device->step_list_count)
        picture->gap = device->step_list_count / 2;
    picture->places = device->step_list_count + (picture->gap > 0);
}

/* The place of the bar of step i, from 0. Steps after the gap are one place further. */
static size_t place_of(const struct picture *picture, size_t i)
{
    return i + (picture->gap > 0 && i >= picture->gap);
}

static double place_pixels(const struct picture *picture)
{
    return plot_graph_width(&picture->job->request->look, margins) / (double)picture->places;
}

static double bar_share(const struct picture *picture)
{
    double pixels = place_pixels(picture);
    return WIDE * pixels > WIDEST ? WIDEST / pixels : WIDE;
}

static void write_bars(const struct picture *picture, double unit)
{
    FILE *out = picture->job->files[STEPS_BARS];
    bool all_named = place_pixels(picture) >= NAME_PIXELS;
    fputs("# place\tat its end\tat its peak\tcolour of the end\tcolour of the peak\tpeak\n", out);
    for (size_t i = 0; i < picture->device->step_list_count; i++) {
        const struct summary_step *step = step_of(picture, i);
        char peak[UNITS_TEXT_SIZE] = " ";
        if (all_named || i == picture->highest)
            units_bytes(peak, step->peak_bytes, UNIT_AUTO);
        fprintf(out, "%zu\t%.7g\t%.7g\t%u\t%u\t%s\n", place_of(picture, i) + 1,
                (double)bytes_of(step, LAYER_END) / unit, (double)bytes_of(step, LAYER_PEAK) / unit,
                colour_of(step, LAYER_END), colour_of(step, LAYER_PEAK), peak);
    }
}

/* True if the number of step i would touch the dots where steps are left out. */
static bool is_at_dots(const struct picture *picture, size_t i)
{
    size_t place = place_of(picture, i), gap = picture->gap;
    size_t away = place > gap ? place - gap : gap - place;
    return gap > 0 && (double)away * place_pixels(picture) < DOTS_PIXELS;
}

/* Numbers below as many bars as have room, and dots where steps are left out. */
static void write_ticks(const struct picture *picture)
{
    FILE *out = picture->job->files[STEPS_TICKS];
    size_t every = 1,
           room = (size_t)(plot_graph_width(&picture->job->request->look, margins) / TICK_PIXELS);
    while (picture->places / every > room)
        every++;
    fputs("# place\tnumber\n", out);
    for (size_t i = 0; i < picture->device->step_list_count; i++) {
        if (picture->gap > 0 && i == picture->gap)
            fprintf(out, "%zu\t...\n", i + 1);
        if (i % every == 0 && !is_at_dots(picture, i))
            fprintf(out, "%zu\t%" PRId64 "\n", place_of(picture, i) + 1,
                    step_of(picture, i)->number);
    }
}

static bool describe(const struct picture *picture, size_t i, struct buffer *out, struct error *err)
{
    const struct summary_step *step = step_of(picture, i);
    char peak[UNITS_TEXT_SIZE], end[UNITS_TEXT_SIZE];
    buffer_clear(out);
    buffer_printf(out, "step %" PRId64, step->number);
    svg_title_begin(out);
    buffer_printf(out, "\nactive at its peak %s, at its end %s\nbegins with event %" PRId64,
                  units_bytes(peak, step->peak_bytes, UNIT_AUTO),
                  units_bytes(end, step->end_bytes, UNIT_AUTO), step->event);
    if (step->us >= 0)
        buffer_printf(out, ", %.6f s after the first", (double)step->us / 1e6);
    if (!step->complete)
        buffer_puts(out, "\nthe trace has only a part of it");
    return !out->failed || error_out_of_memory(err);
}

/* Notes the titles of the bars where steps.gp draws them: all peaks first. */
static bool note_titles(const struct picture *picture, struct error *err)
{
    double place = place_pixels(picture), half = bar_share(picture) * place / 2;
    double foot = picture->job->request->look.height - margins.bottom, high = foot - margins.top;
    struct buffer title = BUFFER_INIT;
    bool ok = true;
    for (size_t layer = LAYERS; ok && layer-- > 0;)
        for (size_t i = 0; ok && i < picture->device->step_list_count; i++) {
            const struct summary_step *step = step_of(picture, i);
            double middle = margins.left + ((double)place_of(picture, i) + 0.5) * place;
            double part = (double)bytes_of(step, layer) / ((double)picture->most * HEADROOM);
            struct svg_box box = {colour_of(step, layer), middle - half, middle + half,
                                  foot - part * high, foot};
            ok = describe(picture, i, &title, err) &&
                 svg_titles_note_box(picture->job->notes, &box, &title, err);
        }
    buffer_release(&title);
    return ok;
}

static const char *steps_end(const struct summary_device *device)
{
    static const struct {
        const char *from, *words;
    } rows[] = {
        {"profiler_step", "steps of torch.profiler"},
        {"optimizer_annotation", "each ends with an annotated optimizer step"},
        {"optimizer_phase", "each ends with an optimizer step"},
        {"backward_phase", "each ends with a backward pass"},
        {"forward_phase", "each ends with a forward pass"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(device->steps_from, rows[i].from) == 0)
            return rows[i].words;
    return "";
}

/* Rows of text: the last steps, if not all have room. */
static size_t text_rows(const struct picture *picture)
{
    size_t room = plot_text_rows_room(&picture->job->request->look);
    return room < picture->device->step_list_count ? room : picture->device->step_list_count;
}

static bool put_words(const struct picture *picture, struct error *err)
{
    const struct summary_device *device = picture->device;
    struct buffer words = BUFFER_INIT, note = BUFFER_INIT;
    char number[UNITS_TEXT_SIZE], peak[UNITS_TEXT_SIZE], growth[UNITS_TEXT_SIZE];
    const struct summary_step *highest = step_of(picture, picture->highest);
    const char *ends = steps_end(device);
    buffer_printf(&words, "%s step%s; highest peak %s, in step %" PRId64,
                  units_count(number, device->steps), device->steps == 1 ? "" : "s",
                  units_bytes(peak, highest->peak_bytes, UNIT_AUTO), highest->number);
    if (device->growth_bytes > 0)
        buffer_printf(&words, "; %s more is kept after each step",
                      units_bytes(growth, device->growth_bytes, UNIT_AUTO));
    buffer_putc(&words, '\0');
    if (picture->job->request->look.format == PLOT_DUMB) {
        buffer_puts(&note, "= active at its end, + at its peak");
        if (text_rows(picture) < device->step_list_count)
            buffer_printf(&note, "; the last %zu steps", text_rows(picture));
    }
    if (*ends)
        buffer_printf(&note, "%s%s", note.size > 0 ? "; " : "", ends);
    if (picture->gap > 0)
        buffer_printf(&note, "; %s steps in the middle are left out",
                      units_count(number, device->steps - device->step_list_count));
    buffer_putc(&note, '\0');
    bool ok = (!words.failed && !note.failed) || error_out_of_memory(err);
    if (ok)
        plot_put_words(picture->job->files[STEPS_SCRIPT], &picture->job->request->look, margins,
                       words.bytes, note.bytes);
    buffer_release(&words);
    buffer_release(&note);
    return ok;
}

static bool draw_graph(const struct picture *picture, struct error *err)
{
    FILE *script = picture->job->files[STEPS_SCRIPT];
    const struct plot_look *look = &picture->job->request->look;
    struct plot_legend legend = {0};
    const char *unit_name;
    double unit = plot_unit((double)picture->most, &unit_name);
    for (size_t i = LAYERS; i-- > 0;)
        plot_legend_add(&legend, layers[i].colour, layers[i].name, "");
    if (picture->complete < picture->device->step_list_count)
        plot_legend_add(&legend, layers[LAYER_PEAK].pale, "incomplete step", "");
    plot_put_margins(script, look, margins);
    plot_legend_put(script, &legend, look->height - margins.top - margins.bottom);
    fprintf(script, "x_last = %zu\ny_top = %.7g\ny_label = 'active memory, %s'\nbar_width = %.4f\n",
            picture->places, (double)picture->most / unit * HEADROOM, unit_name,
            bar_share(picture));
    write_bars(picture, unit);
    write_ticks(picture);
    return !picture->job->notes || note_titles(picture, err);
}

static void draw_text(const struct picture *picture)
{
    struct plot_text_rows rows;
    const struct plot_look *look = &picture->job->request->look;
    size_t count = picture->device->step_list_count;
    plot_text_rows_begin(&rows, picture->job->files[STEPS_SCRIPT], picture->job->files[STEPS_TEXT],
                         look, (double)picture->most, FIGURES);
    for (size_t i = count - text_rows(picture); i < count; i++) {
        const struct summary_step *step = step_of(picture, i);
        double end = (double)bytes_of(step, LAYER_END);
        double parts[LAYERS] = {end, (double)bytes_of(step, LAYER_PEAK) - end};
        const char letters[LAYERS] = {layers[LAYER_END].letter, layers[LAYER_PEAK].letter};
        char name[40], text[LAYERS][UNITS_TEXT_SIZE], figures[2 * UNITS_TEXT_SIZE + 8];
        snprintf(name, sizeof(name), "step %" PRId64, step->number);
        snprintf(figures, sizeof(figures), "%s = %s +",
                 units_bytes(text[LAYER_END], step->end_bytes, UNIT_AUTO),
                 units_bytes(text[LAYER_PEAK], step->peak_bytes, UNIT_AUTO));
        plot_text_rows_add(&rows, 0, name, parts, letters, LAYERS, figures);
    }
}

static bool draw(const struct plot_job *job, const struct summary_device *device, struct error *err)
{
    struct picture picture = {.job = job, .device = device};
    if (device->step_list_count == 0)
        return error_set(err, STATUS_BAD_INPUT, "nothing to plot: %s",
                         *device->steps_from ? "the trace shows no steps"
                                             : "the summary was made before summaries had steps");
    measure(&picture);
    if (!put_words(&picture, err))
        return false;
    if (job->request->look.format != PLOT_DUMB)
        return draw_graph(&picture, err);
    draw_text(&picture);
    return true;
}

const struct plot_kind plot_kind_steps = {
    .name = "steps",
    .summary = "each step: active memory at its peak and at its end",
    .files = {"plot.gp", "bars.tsv", "ticks.tsv", "text.tsv"},
    .templates = {"page.gp", "steps.gp"},
    .in_text = {"text-rows.gp"},
    .of_steps = draw,
};
