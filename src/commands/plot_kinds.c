#include "commands/plot_kinds.h"

#include <strings.h>

#include "base/buffer.h"
#include "render/plot_categories.h"
#include "render/plot_timeline.h"

const struct plot_kind plot_kinds[] = {
    {
        .name = "timeline",
        .summary = "memory over time: a band an allocation",
        .files = {PLOT_TIMELINE_FILES},
        .templates = {"frame.gp", "timeline.gp"},
        .draw = plot_draw_timeline,
    },
    {
        .name = "categories",
        .summary = "memory over time: an area a category",
        .files = {PLOT_CATEGORIES_FILES},
        .templates = {"frame.gp", "categories.gp"},
        .draw = plot_draw_categories,
    },
    {.name = NULL},
};

bool plot_kind_find(const char *name, const struct plot_kind **kind, struct error *err)
{
    struct buffer names = BUFFER_INIT;
    for (const struct plot_kind *row = plot_kinds; row->name; row++) {
        if (strcasecmp(row->name, name) == 0) {
            *kind = row;
            buffer_release(&names);
            return true;
        }
        const char *separator = row == plot_kinds ? "" : row[1].name ? ", " : " and ";
        buffer_printf(&names, "%s%s", separator, row->name);
    }
    error_set(err, STATUS_USAGE, "unknown kind '%.60s'; there are %s", name,
              names.failed ? "others" : names.bytes);
    buffer_release(&names);
    return false;
}

void plot_kinds_help(void)
{
    printf("\nKinds:\n");
    for (const struct plot_kind *row = plot_kinds; row->name; row++)
        printf("  %-12s%s\n", row->name, row->summary);
}

void plot_job_templates(const struct plot_job *job)
{
    for (size_t i = 0; job->options->kind->templates[i]; i++)
        fputs(job->templates[i], job->files[0]);
}
