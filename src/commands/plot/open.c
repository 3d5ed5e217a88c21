#include <string.h>

#include "commands/plot/kinds.h"
#include "commands/plot/load.h"

static bool open_input(struct plot_load *load, struct input *input, enum file_kind *file,
                       struct error *err)
{
    int fd;
    if (!inputs_take(load->inputs, load->input, &fd, err) ||
        !input_from_fd(input, fd, load->options->capture.max_memory, err))
        return false;
    *file = sniff_kind(&input->source);
    return true;
}

bool plot_load_look(struct plot_load *load, enum file_kind *file, struct error *err)
{
    if (load->history) {
        *file = KIND_TREND;
        return true;
    }
    load->is_open = open_input(load, &load->opened, &load->opened_kind, err);
    if (load->is_open)
        *file = load->opened_kind;
    return load->is_open;
}

static bool check_options(const struct plot_options *options, enum file_kind file,
                          struct error *err)
{
    const char *given = options->snapshot_option;
    if (!given || kind_is_snapshot(file) || file == KIND_UNKNOWN)
        return true;
    if (file == KIND_SUMMARY && (strcmp(given, "x") == 0 || strcmp(given, "device") == 0))
        return true;
    return error_set(err, STATUS_USAGE, "--%s does not apply to %s, only to allocator snapshots",
                     given, kind_name(file));
}

bool plot_load_open(struct plot_load *load, const struct plot_kind *kind, struct input *input,
                    enum file_kind *file, struct error *err)
{
    if (!load->is_open && !plot_load_look(load, file, err))
        return false;
    load->is_open = false;
    *input = load->opened;
    *file = load->opened_kind;
    if (plot_kind_check(kind, *file, err) && check_options(load->options, *file, err))
        return true;
    input_discard(input);
    return false;
}
