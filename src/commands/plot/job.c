#include "commands/plot/kinds.h"
#include "render/plot/script.h"

static bool open_input(struct plot_job *job, struct input *input, enum file_kind *file,
                       struct error *err)
{
    int fd;
    if (!inputs_take(job->inputs, job->input, &fd, err) ||
        !input_from_fd(input, fd, job->options->capture.max_memory, err))
        return false;
    *file = sniff_kind(&input->source);
    return true;
}

bool plot_job_look(struct plot_job *job, enum file_kind *file, struct error *err)
{
    job->is_open = open_input(job, &job->opened, &job->opened_kind, err);
    if (job->is_open)
        *file = job->opened_kind;
    return job->is_open;
}

static bool check_options(const struct plot_options *options, enum file_kind file,
                          struct error *err)
{
    if (!options->snapshot_option || file == KIND_SNAPSHOT || file == KIND_UNKNOWN)
        return true;
    return error_set(err, STATUS_USAGE, "--%s is not for %s, only for allocator snapshots",
                     options->snapshot_option, kind_name(file));
}

bool plot_job_open(struct plot_job *job, struct input *input, enum file_kind *file,
                   struct error *err)
{
    struct input opened;
    enum file_kind kind;
    if (job->is_open) {
        opened = job->opened;
        kind = job->opened_kind;
        job->is_open = false;
    } else if (!open_input(job, &opened, &kind, err)) {
        return false;
    }
    if (!plot_kind_check(job->options->kind, kind, err) ||
        !check_options(job->options, kind, err)) {
        input_discard(&opened);
        return false;
    }
    *input = opened;
    *file = kind;
    return true;
}

void plot_job_templates(const struct plot_job *job)
{
    for (size_t i = 0; i < PLOT_TEMPLATES_MOST && job->templates[i]; i++)
        plot_put_template(job->files[0], i);
}
