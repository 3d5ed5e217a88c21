#include "commands/plot/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/cli/output.h"

static bool fail(struct error *err, const char *path)
{
    return error_set(err, STATUS_IO, "cannot write %.150s: %s", path, strerror(errno));
}

static bool path_in(char out[PATH_MAX], const char *folder, const char *name)
{
    int size = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    errno = ENAMETOOLONG;
    return size > 0 && size < PATH_MAX;
}

/* The kept files must not replace an input. */
static bool check_kept(const struct plot_folder *folder, struct error *err)
{
    char path[PATH_MAX];
    for (int i = 0; folder->keep && folder->names[i]; i++)
        if (path_in(path, folder->keep, folder->names[i]) && !output_check(path, err))
            return false;
    return true;
}

static FILE *open_new(const struct plot_folder *folder, const char *name, struct error *err)
{
    char path[PATH_MAX];
    FILE *file = path_in(path, folder->path, name) ? fopen(path, "wxe") : NULL;
    if (!file)
        fail(err, path);
    return file;
}

static bool open_files(struct plot_folder *folder, struct error *err)
{
    for (int i = 1; folder->names[i]; i++)
        if (!(folder->files[i] = open_new(folder, folder->names[i], err)))
            return false;
    return true;
}

FILE *plot_folder_open_script(const struct plot_folder *folder, struct error *err)
{
    return open_new(folder, folder->names[0], err);
}

bool plot_folder_make(struct plot_folder *folder, const char *const *names, const char *keep,
                      struct error *err)
{
    const char *temporary = getenv("TMPDIR"), *above = keep;
    *folder = (struct plot_folder){.keep = keep, .names = names};
    if (!check_kept(folder, err))
        return false;
    if (!above)
        above = temporary && *temporary ? temporary : "/tmp";
    if (keep && mkdir(keep, 0777) == 0)
        folder->made_keep = true;
    else if (keep && errno != EEXIST)
        return fail(err, keep);
    if (!path_in(folder->path, above, "memsnap-plot.XXXXXX") || !mkdtemp(folder->path)) {
        fail(err, above);
        folder->path[0] = '\0';
    } else if (open_files(folder, err)) {
        return true;
    }
    plot_folder_remove(folder);
    return false;
}

bool plot_folder_close(struct plot_folder *folder, struct error *err)
{
    bool ok = true;
    for (int i = 0; folder->names[i]; i++) {
        if (!folder->files[i])
            continue;
        bool wrote = !ferror(folder->files[i]);
        errno = EIO;
        if (fclose(folder->files[i]) != 0 || !wrote)
            ok = ok && fail(err, folder->names[i]);
        folder->files[i] = NULL;
    }
    return ok;
}

bool plot_folder_keep(struct plot_folder *folder, struct error *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    for (int i = 0; folder->names[i]; i++)
        if (!path_in(from, folder->path, folder->names[i]) ||
            !path_in(to, folder->keep, folder->names[i]) || rename(from, to) != 0)
            return fail(err, folder->keep);
    folder->made_keep = false;
    return true;
}

void plot_folder_remove(struct plot_folder *folder)
{
    struct error ignored;
    char path[PATH_MAX];
    plot_folder_close(folder, &ignored);
    for (int i = 0; *folder->path && folder->names[i]; i++)
        if (path_in(path, folder->path, folder->names[i]))
            unlink(path);
    if (*folder->path)
        rmdir(folder->path);
    if (folder->made_keep)
        rmdir(folder->keep);
    *folder = (struct plot_folder){0};
}
