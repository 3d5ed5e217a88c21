#include "commands/analyze/kind.h"

#include "commands/analyze/curves.h"
#include "commands/analyze/layers.h"
#include "commands/analyze/snapshot.h"

/* Each takes over the input. */
static const struct analyzer {
    enum file_kind kind;
    bool (*analyze)(const struct analyze_job *job, struct input *input,
                    struct file_figures *figures, struct error *err);
} analyzers[] = {
    {KIND_LAYER_TRACE, analyze_layers},
    {KIND_OPERATOR_CURVES, analyze_curves},
};

/* An option that means nothing for this kind of file. */
static bool check_options(const struct analyze_options *options, enum file_kind kind,
                          struct error *err)
{
    const char *option = kind == KIND_SNAPSHOT ? options->layers_option : options->snapshot_option;
    if (!option)
        return true;
    return error_set(err, STATUS_USAGE, "--%s is not for %s, only for %s", option, kind_name(kind),
                     kind == KIND_SNAPSHOT ? "layer traces" : "allocator snapshots");
}

bool analyze_file(const struct analyze_job *job, int fd, struct file_figures *figures,
                  struct error *err)
{
    struct input input;
    if (!input_from_fd(&input, fd, job->options->capture.max_memory, err))
        return false;
    enum file_kind kind = sniff_kind(&input.source);
    bool (*analyze)(const struct analyze_job *, struct input *, struct file_figures *,
                    struct error *) = analyze_snapshot; /* says best what else it may be */
    for (size_t i = 0; i < sizeof(analyzers) / sizeof(analyzers[0]); i++)
        if (analyzers[i].kind == kind)
            analyze = analyzers[i].analyze;
    if (kind != KIND_UNKNOWN && !check_options(job->options, kind, err)) {
        input_discard(&input);
        return false;
    }
    return analyze(job, &input, figures, err);
}
