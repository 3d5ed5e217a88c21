#define _GNU_SOURCE /* memfd_create */
#include "commands/plot/show.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/plot/process.h"
#include "render/plot/terminal.h"

#define PICTURE_MOST (64 << 20) /* bytes; a sixel image has about 100 KB */

static bool print(int fd, enum plot_format format, struct error *err)
{
    struct stat drawn;
    if (fstat(fd, &drawn) != 0)
        return error_set(err, STATUS_IO, "cannot read the picture: %s", strerror(errno));
    size_t size = (size_t)drawn.st_size;
    if (size == 0 || size > PICTURE_MOST)
        return error_set(err, STATUS_IO, "gnuplot wrote an invalid picture of %zu bytes", size);
    char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return error_set(err, STATUS_LIMIT, "cannot read the picture: %s", strerror(errno));
    bool ok;
    if (format == PLOT_SIXEL) {
        const char *image = bytes;
        size_t image_size = size;
        ok = plot_sixel_find(&image, &image_size, err);
        if (ok) {
            fwrite(image, 1, image_size, stdout);
            fputc('\n', stdout);
        }
    } else {
        ok = plot_lines_write(stdout, bytes, size, err);
    }
    munmap(bytes, size);
    return ok;
}

bool plot_show(const char *gnuplot, const char *folder, enum plot_format format, struct error *err)
{
    int fd = memfd_create("picture", MFD_CLOEXEC);
    if (fd < 0)
        return error_set(err, STATUS_IO, "cannot create a file in memory: %s", strerror(errno));
    bool ok = plot_run_gnuplot(gnuplot, folder, fd, err) && print(fd, format, err);
    close(fd);
    return ok;
}
