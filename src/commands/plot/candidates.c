#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "commands/plot/candidates.h"

#include <sys/mman.h>

#include "commands/plot/kinds.h"

static void add(struct plot_candidates *candidates, const struct plot_kind *kind)
{
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].kind == kind)
            return;
    candidates->items[candidates->count++].kind = kind;
}

static bool fill(struct plot_candidate *candidate, const struct plot_options *options,
                 struct error *err)
{
    const char *const *templates =
        plot_kind_templates(candidate->kind, options->request.look.format);
    if (!templates[0])
        return error_set(err, STATUS_USAGE,
                         "--kind %s does not support --term dumb; use --out report.svg or --term "
                         "sixel",
                         candidate->kind->name);
    if (options->request.share && !candidate->kind->of_several)
        return error_set(err, STATUS_USAGE, "--x share needs --kind compare");
    return plot_templates_read(candidate->templates, templates, err) &&
           plot_folder_make(&candidate->folder, candidate->kind->files, options->script, err);
}

bool plot_candidates_make(struct plot_candidates *candidates, const struct plot_options *options,
                          size_t inputs, struct error *err)
{
    *candidates = (struct plot_candidates){0};
    if (options->kind)
        add(candidates, options->kind);
    else if (inputs > 1)
        add(candidates, plot_kind_for_several());
    else
        for (enum file_kind file = KIND_SNAPSHOT; file < FILE_KINDS; file++)
            add(candidates, plot_kind_for(file));
    void *shared = mmap(NULL, sizeof(*candidates->chosen), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool ok = shared != MAP_FAILED || error_out_of_memory(err);
    candidates->chosen = ok ? shared : NULL;
    for (size_t i = 0; ok && i < candidates->count; i++)
        ok = fill(&candidates->items[i], options, err);
    if (!ok)
        plot_candidates_release(candidates);
    return ok;
}

void plot_candidates_release(struct plot_candidates *candidates)
{
    for (size_t i = candidates->count;
         i-- > 0;) { /* in reverse order, because the first one may have created DIR */
        if (candidates->items[i].folder.names)
            plot_folder_remove(&candidates->items[i].folder);
        plot_templates_release(candidates->items[i].templates);
    }
    if (candidates->chosen)
        munmap(candidates->chosen, sizeof(*candidates->chosen));
    *candidates = (struct plot_candidates){0};
}

bool plot_candidates_choose(struct plot_candidates *candidates, struct plot_load *load,
                            struct error *err)
{
    size_t chosen = 0;
    if (candidates->count > 1) {
        enum file_kind file;
        if (!plot_load_look(load, &file, err))
            return false;
        while (candidates->items[chosen].kind != plot_kind_for(file))
            chosen++;
    }
    candidates->chosen->kind = chosen;
    return true;
}

struct plot_candidate *plot_chosen(struct plot_candidates *candidates)
{
    size_t chosen = candidates->chosen->kind;
    return chosen < candidates->count ? &candidates->items[chosen] : NULL;
}
