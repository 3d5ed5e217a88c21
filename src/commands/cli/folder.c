#include "commands/cli/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"

#define FILES_MOST ((size_t)100000) /* files in a folder, of any kind */
#define DEPTH_MOST 16               /* folders within folders */

void paths_release(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    free(paths->items);
    *paths = (struct paths){0};
}

bool paths_add(struct paths *paths, char *path, struct error *err)
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
    struct paths folders; /* folders to list, as a stack */
    int *depths;          /* depth of each folder */
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
    return paths_add(&pending->folders, path, err);
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
            return paths_add(files, path, err);
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

bool folder_list(struct paths *files, const char *folder, struct error *err)
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
