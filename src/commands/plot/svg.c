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
    error_set(err, STATUS_IO, "cannot create a file in memory: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* Runs in a sandboxed process, since the names in the picture come from the input. */
static enum status add_titles(void *self)
{
    struct adding *adding = self;
    struct error err;
    sandbox_enter(NULL);
    rewind(adding->picture);
    rewind(adding->notes);
    if (!svg_titles_add(adding->picture, adding->notes, adding->out, &err))
        return complain_failure(&err);
    return fflush(adding->out) == 0 ? STATUS_OK : STATUS_LIMIT;
}

/* The owner of `out` reports write errors. */
static bool copy(FILE *picture, FILE *out, struct error *err)
{
    char bytes[65536];
    size_t size;
    rewind(picture);
    while ((size = fread(bytes, 1, sizeof(bytes), picture)) > 0 && !ferror(out))
        fwrite(bytes, 1, size, out);
    return !ferror(picture) || error_set(err, STATUS_IO, "cannot read the picture");
}

static bool copy_with_titles(FILE *picture, FILE *notes, FILE *out, struct error *err)
{
    FILE *finished = plot_svg_scratch(err);
    enum status status;
    if (!finished)
        return false;
    bool ok =
        plot_run_apart(add_titles, &(struct adding){picture, notes, finished}, &status, err) &&
        (status == STATUS_OK || error_set(err, STATUS_IO, "cannot add tooltips to the picture")) &&
        copy(finished, out, err);
    fclose(finished);
    return ok;
}

bool plot_draw(const char *gnuplot, const char *folder, FILE *notes, FILE *out, struct error *err)
{
    FILE *picture = plot_svg_scratch(err);
    if (!picture)
        return false;
    bool ok = plot_run_gnuplot(gnuplot, folder, fileno(picture), err) &&
              (notes ? copy_with_titles(picture, notes, out, err) : copy(picture, out, err));
    fclose(picture);
    return ok;
}
