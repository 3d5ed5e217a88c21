#include "commands/cli/newest.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/sandbox/sandbox.h"
#include "decode/core/sniff.h"

#define LOOKS_MOST  ((size_t)1000)             /* files that are examined */
#define LOOK_MEMORY ((size_t)64 * 1024 * 1024) /* bytes, for each file */
#define BATCH       16                         /* files per child process */
#define NONE        BATCH

struct candidate {
    char *name;
    struct timespec changed;
};

struct candidates {
    struct candidate *items;
    size_t count, capacity;
};

static bool add_candidate(struct candidates *all, const char *name)
{
    struct stat info;
    if (name[0] == '.' || stat(name, &info) != 0 || !S_ISREG(info.st_mode))
        return true;
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? 2 * all->capacity : 64;
        struct candidate *grown = reallocarray(all->items, capacity, sizeof(*grown));
        if (!grown)
            return false;
        all->items = grown;
        all->capacity = capacity;
    }
    char *copy = strdup(name);
    if (copy)
        all->items[all->count++] = (struct candidate){copy, info.st_mtim};
    return copy;
}

static int newest_first(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->changed.tv_sec != b->changed.tv_sec)
        return a->changed.tv_sec < b->changed.tv_sec ? 1 : -1;
    if (a->changed.tv_nsec != b->changed.tv_nsec)
        return a->changed.tv_nsec < b->changed.tv_nsec ? 1 : -1;
    return strcmp(a->name, b->name);
}

static bool looks_like_capture(int fd)
{
    struct budget budget = {.limit = LOOK_MEMORY};
    struct source source;
    struct error ignored;
    if (fd < 0 || !source_open_fd(&source, fd, &budget, &ignored))
        return false;
    bool is_capture = sniff_kind(&source) == KIND_SNAPSHOT;
    source_close(&source);
    return is_capture;
}

/* Returns the first capture among BATCH descriptors, or NONE. Runs in a sandboxed process. */
static int find_capture(void *self)
{
    const int *fds = self;
    int found = 0;
    while (found < BATCH && !looks_like_capture(fds[found]))
        found++;
    return found;
}

/* Opens a batch of files and lets a sandboxed process examine them, since the user did not ask to
 * read them. */
static size_t look_at(const struct candidate *items, size_t count)
{
    int fds[BATCH];
    for (size_t i = 0; i < BATCH; i++)
        fds[i] = i < count ? open(items[i].name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    int found = sandbox_ask(find_capture, fds);
    for (size_t i = 0; i < BATCH; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return found >= 0 && (size_t)found < count ? (size_t)found : count;
}

/* Prefixes the name "-" with "./", since it would mean standard input. */
static char *path_of(const char *name)
{
    return strdup(strcmp(name, "-") == 0 ? "./-" : name);
}

char *newest_capture_find(void)
{
    struct candidates all = {0};
    char *path = NULL;
    DIR *folder = opendir(".");
    if (!folder)
        return NULL;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (!add_candidate(&all, entry->d_name))
            break;
    closedir(folder);
    if (all.count)
        qsort(all.items, all.count, sizeof(all.items[0]), newest_first);
    size_t most = all.count < LOOKS_MOST ? all.count : LOOKS_MOST;
    for (size_t first = 0; first < most && !path; first += BATCH) {
        size_t count = most - first < BATCH ? most - first : BATCH;
        size_t found = look_at(all.items + first, count);
        if (found < count)
            path = path_of(all.items[first + found].name);
    }
    for (size_t i = 0; i < all.count; i++)
        free(all.items[i].name);
    free(all.items);
    return path;
}
