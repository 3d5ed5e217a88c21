#include "commands/cli/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "commands/cli/complain.h"
#include "commands/sandbox/sandbox.h"
#include "decode/core/sniff.h"

#define FILES_MOST  ((size_t)100000)           /* in a folder, of any kind */
#define DEPTH_MOST  16                         /* folders within folders */
#define LOOK_MEMORY ((size_t)64 * 1024 * 1024) /* bytes, for each file */
#define BATCH       7 /* files per child process, a bit of its answer each */

void paths_release(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    free(paths->items);
    *paths = (struct paths){0};
}

/* Takes over the path. */
static bool add_path(struct paths *paths, char *path, struct error *err)
{
    if (path && paths->count == paths->capacity) {
        size_t capacity = paths->capacity ? 2 * paths->capacity : 16;
        char **grown = reallocarray(paths->items, capacity, sizeof(*grown));
        if (grown) {
            paths->items = grown;
            paths->capacity = capacity;
        }
    }
    if (path && paths->count < paths->capacity) {
        paths->items[paths->count++] = path;
        return true;
    }
    free(path);
    return error_out_of_memory(err);
}

static char *join(const char *folder, const char *name)
{
    struct buffer path = BUFFER_INIT;
    size_t size = strlen(folder);
    buffer_puts(&path, folder);
    if (size > 0 && folder[size - 1] != '/')
        buffer_putc(&path, '/');
    buffer_puts(&path, name);
    if (!path.failed)
        return path.bytes;
    buffer_release(&path);
    return NULL;
}

/* A folder that is still to be listed. */
struct pending {
    struct paths folders; /* as a stack */
    int *depths;          /* of each */
    size_t depth_capacity;
};

static bool push_folder(struct pending *pending, char *path, int depth, struct error *err)
{
    if (pending->folders.count == pending->depth_capacity) {
        size_t capacity = pending->depth_capacity ? 2 * pending->depth_capacity : 16;
        int *grown = reallocarray(pending->depths, capacity, sizeof(*grown));
        if (!grown) {
            free(path);
            return error_out_of_memory(err);
        }
        pending->depths = grown;
        pending->depth_capacity = capacity;
    }
    pending->depths[pending->folders.count] = depth;
    return add_path(&pending->folders, path, err);
}

static bool take_entry(struct pending *pending, struct paths *files, const char *folder, int depth,
                       const char *name, struct error *err)
{
    struct stat info;
    if (name[0] == '.')
        return true;
    char *path = join(folder, name);
    if (!path)
        return error_out_of_memory(err);
    if (lstat(path, &info) == 0 && S_ISREG(info.st_mode)) {
        if (files->count < FILES_MOST)
            return add_path(files, path, err);
        free(path);
        return error_set(err, STATUS_LIMIT, "more than %zu files in the folder", FILES_MOST);
    }
    if (S_ISDIR(info.st_mode) && depth < DEPTH_MOST)
        return push_folder(pending, path, depth + 1, err);
    free(path);
    return true;
}

static bool list_folder(struct pending *pending, struct paths *files, const char *folder, int depth,
                        struct error *err)
{
    DIR *stream = opendir(folder);
    bool ok = true;
    if (!stream)
        return error_set(err, STATUS_IO, "%s: %s", folder, strerror(errno));
    for (struct dirent *entry; ok && (entry = readdir(stream));)
        ok = take_entry(pending, files, folder, depth, entry->d_name, err);
    closedir(stream);
    return ok;
}

static bool list_files(struct paths *files, const char *folder, struct error *err)
{
    struct pending pending = {.depths = NULL};
    char *first = strdup(folder);
    bool ok = first ? push_folder(&pending, first, 0, err) : error_out_of_memory(err);
    while (ok && pending.folders.count > 0) {
        size_t last = --pending.folders.count;
        char *path = pending.folders.items[last];
        ok = list_folder(&pending, files, path, pending.depths[last], err);
        free(path);
    }
    paths_release(&pending.folders);
    free(pending.depths);
    return ok;
}

/* Files whose kind a process in the sandbox finds out. */
struct question {
    int fds[BATCH];
    wants_kind *wants;
};

static bool is_wanted(int fd, wants_kind *wants)
{
    struct budget budget = {.limit = LOOK_MEMORY};
    struct source source;
    struct error ignored;
    if (fd < 0 || !source_open_fd(&source, fd, &budget, &ignored))
        return false;
    bool wanted = wants(sniff_kind(&source));
    source_close(&source);
    return wanted;
}

/* Returns a bit for each of BATCH descriptors. Runs in a sandboxed process. */
static int look(void *self)
{
    const struct question *question = self;
    int wanted = 0;
    for (int i = 0; i < BATCH; i++)
        wanted |= is_wanted(question->fds[i], question->wants) << i;
    return wanted;
}

static unsigned look_at(char *const *paths, size_t count, wants_kind *wants)
{
    struct question question = {.wants = wants};
    int *fds = question.fds;
    for (size_t i = 0; i < BATCH; i++)
        fds[i] = i < count ? open(paths[i], O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    int wanted = sandbox_ask(look, &question);
    for (size_t i = 0; i < BATCH; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return wanted >= 0 && wanted < 1 << BATCH ? (unsigned)wanted : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Moves the wanted files of a folder to `paths`. */
static bool take_wanted(struct paths *paths, struct paths *files, const char *folder,
                        wants_kind *wants, bool verbose, struct error *err)
{
    size_t left_out = 0, before = paths->count;
    if (files->count > 0)
        qsort(files->items, files->count, sizeof(files->items[0]), by_name);
    for (size_t first = 0; first < files->count; first += BATCH) {
        size_t count = files->count - first < BATCH ? files->count - first : BATCH;
        unsigned wanted = look_at(files->items + first, count, wants);
        for (size_t i = 0; i < count; i++) {
            char *path = files->items[first + i];
            if (!(wanted >> i & 1)) {
                left_out++;
                if (verbose)
                    complain("%s: left out: not a kind of file that this command reads", path);
                continue;
            }
            files->items[first + i] = NULL;
            if (!add_path(paths, path, err))
                return false;
        }
    }
    if (paths->count == before)
        return error_set(err, STATUS_BAD_INPUT,
                         "%.150s: no file in this folder is of a kind that this command reads",
                         folder);
    if (left_out > 0 && !verbose)
        complain("%s: %zu file%s of other kinds left out; --verbose names them", folder, left_out,
                 left_out == 1 ? "" : "s");
    return true;
}

static bool expand_folder(struct paths *paths, const char *folder, wants_kind *wants, bool verbose,
                          struct error *err)
{
    struct paths files = {0};
    bool ok =
        list_files(&files, folder, err) && take_wanted(paths, &files, folder, wants, verbose, err);
    paths_release(&files);
    return ok;
}

bool paths_expand(struct paths *paths, char *const *named, size_t count, wants_kind *wants,
                  bool verbose, struct error *err)
{
    struct paths expanded = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        struct stat info;
        if (strcmp(named[i], "-") != 0 && stat(named[i], &info) == 0 && S_ISDIR(info.st_mode))
            ok = expand_folder(&expanded, named[i], wants, verbose, err);
        else
            ok = add_path(&expanded, strdup(named[i]), err);
    }
    if (ok)
        *paths = expanded;
    else
        paths_release(&expanded);
    return ok;
}
