#include "commands/plot/kinds.h"

#include <stdio.h>
#include <strings.h>

#include "base/buffer.h"
#include "render/plot/kind.h"

#define PLOT_KIND_ADDRESS(name) &plot_kind_##name,
static const struct plot_kind *const kinds[] = {PLOT_KINDS(PLOT_KIND_ADDRESS) NULL};

static bool is_drawn(const struct plot_kind *kind, enum file_kind file)
{
    bool is_snapshot = kind_is_snapshot(file), is_layers = file == KIND_LAYER_TRACE;
    bool is_operators = file == KIND_OPERATOR_CURVES;
    if (kind->needs_segments && file != KIND_SNAPSHOT)
        return false;
    return (kind->of_snapshot && is_snapshot) || (kind->of_layers && (is_layers || is_operators)) ||
           (kind->of_model && (kind_has_stacks(file) || is_layers)) ||
           (kind->of_fit && file == KIND_FIT) ||
           (kind->of_run && file == (kind->needs_tables ? KIND_RUN_TABLES : KIND_RUN_STATS)) ||
           (kind->of_several &&
            (is_snapshot || is_layers || is_operators || file == KIND_SUMMARY)) ||
           ((kind->of_ranks || kind->of_steps) && (is_snapshot || file == KIND_SUMMARY)) ||
           (kind->of_shard && file == KIND_SHARD) || (kind->of_trend && file == KIND_TREND);
}

const struct plot_kind *plot_kind_for(enum file_kind file)
{
    const struct plot_kind *const *kind = kinds;
    while (file != KIND_UNKNOWN && *kind && !is_drawn(*kind, file))
        kind++;
    return *kind ? *kind : kinds[0];
}

const struct plot_kind *plot_kind_for_several(void)
{
    const struct plot_kind *const *kind = kinds;
    while (*kind && !(*kind)->of_several)
        kind++;
    return *kind ? *kind : kinds[0];
}

const char *const *plot_kind_templates(const struct plot_kind *kind, enum plot_format format)
{
    return format == PLOT_DUMB ? kind->in_text : kind->templates;
}

/* The loader has the best error message for an unknown kind of file. */
bool plot_kind_check(const struct plot_kind *kind, enum file_kind file, struct error *err)
{
    struct buffer names = BUFFER_INIT;
    if (file == KIND_UNKNOWN || is_drawn(kind, file))
        return true;
    for (const struct plot_kind *const *row = kinds; *row; row++)
        if (is_drawn(*row, file))
            buffer_printf(&names, "%s%s", names.size > 0 ? ", " : "", (*row)->name);
    if (names.size == 0 && !names.failed) {
        buffer_release(&names);
        return error_set(err, STATUS_USAGE, "there is no picture of %s%s", kind_name(file),
                         kind_advice(file));
    }
    error_set(err, STATUS_USAGE, "--kind %s does not support %s (supported by: %s)", kind->name,
              kind_name(file), names.failed ? "" : names.bytes);
    buffer_release(&names);
    return false;
}

bool plot_kind_find(const char *name, const struct plot_kind **kind, struct error *err)
{
    struct buffer names = BUFFER_INIT;
    for (const struct plot_kind *const *row = kinds; *row; row++) {
        if (strcasecmp((*row)->name, name) == 0) {
            *kind = *row;
            buffer_release(&names);
            return true;
        }
        const char *separator = row == kinds ? "" : row[1] ? ", " : " and ";
        buffer_printf(&names, "%s%s", separator, (*row)->name);
    }
    error_set(err, STATUS_USAGE, "invalid kind '%.60s' (expected one of %s)", name,
              names.failed ? "others" : names.bytes);
    buffer_release(&names);
    return false;
}

void plot_kinds_words(void)
{
    for (const struct plot_kind *const *row = kinds; *row; row++)
        printf("%s%s", row == kinds ? "" : " ", (*row)->name);
}

void plot_kinds_help(void)
{
    printf("\nKinds:\n");
    for (const struct plot_kind *const *row = kinds; *row; row++)
        printf("  %-12s%s\n", (*row)->name, (*row)->summary);
}
