#define _GNU_SOURCE /* memfd_create */
#include "commands/plot/svg.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "commands/cli/complain.h"
#include "commands/plot/process.h"
#include "commands/sandbox/sandbox.h"
#include "render/plot/svg_titles.h"

struct adding {
    FILE *picture, *notes, *out;
};

FILE *plot_svg_scratch(struct error *err)
{
    int fd = memfd_create("memsnap-plot", MFD_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
    if (file)
        return file;
    error_set(err, STATUS_IO, "cannot keep the picture in memory: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* In a process of its own, in the sandbox: the names in the picture are the input's. */
static enum status add_titles(void *self)
{
    struct adding *adding = self;
    struct error err;
    sandbox_enter(NULL);
    rewind(adding->picture);
    rewind(adding->notes);
    if (!svg_titles_add(adding->picture, adding->notes, adding->out, &err))
        return complain_failure(&err);
    if (fflush(adding->out) == 0)
        return STATUS_OK;
    complain("cannot write the picture: %s", strerror(errno));
    return STATUS_IO;
}

bool plot_svg(const char *gnuplot, const char *folder, FILE *notes, FILE *out, struct error *err)
{
    FILE *picture = plot_svg_scratch(err);
    if (!picture)
        return false;
    bool told, ok = plot_run_gnuplot(gnuplot, folder, fileno(picture), err);
    if (ok && plot_run_apart(add_titles, &(struct adding){picture, notes, out}, &told) != STATUS_OK)
        ok = error_set(err, STATUS_IO, "the picture could not be finished");
    fclose(picture);
    return ok;
}
