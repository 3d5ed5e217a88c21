#include "commands/cli/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/cli/complain.h"
#include "decode/core/sniff.h"

#define MAX_LOOKS   ((size_t)1000)             /* files whose beginning is read */
#define LOOK_MEMORY ((size_t)64 * 1024 * 1024) /* for one of them */

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

static bool looks_like_capture(const char *name)
{
    struct budget budget = {.limit = LOOK_MEMORY};
    struct source source;
    struct error ignored;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || !source_open_fd(&source, fd, &budget, &ignored))
        return false;
    bool is_capture = sniff_kind(&source) == KIND_SNAPSHOT;
    source_close(&source);
    return is_capture;
}

/* The name of the newest capture in the current folder, malloc'ed; NULL: none, or no memory. */
static char *newest_capture(void)
{
    struct candidates all = {0};
    char *found = NULL;
    DIR *folder = opendir(".");
    if (!folder)
        return NULL;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (!add_candidate(&all, entry->d_name))
            break;
    closedir(folder);
    if (all.count)
        qsort(all.items, all.count, sizeof(all.items[0]), newest_first);
    for (size_t i = 0; i < all.count && i < MAX_LOOKS && !found; i++)
        if (looks_like_capture(all.items[i].name))
            found = strdup(all.items[i].name);
    for (size_t i = 0; i < all.count; i++)
        free(all.items[i].name);
    free(all.items);
    return found;
}

static enum status tell_how_to_record(void)
{
    complain("no file named, and no capture in this folder. To record one:");
    fputs("\n"
          "  torch.cuda.memory._record_memory_history()\n"
          "  train()   # or whatever runs out of memory\n"
          "  torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")\n"
          "\n"
          "then: memsnap analyze snapshot.pickle\n",
          stderr);
    return STATUS_USAGE;
}

enum status inputs_choose(struct inputs *inputs, char **argv, int count)
{
    *inputs = (struct inputs){.paths = argv, .count = (size_t)count};
    if (count > 0)
        return STATUS_OK;
    const char *named = getenv("MEMSNAP_INPUT");
    inputs->found = named && *named ? strdup(named) : newest_capture();
    if (!inputs->found)
        return tell_how_to_record();
    if (!named || !*named)
        complain("no file named; reading %s, the newest capture in this folder", inputs->found);
    inputs->paths = &inputs->found;
    inputs->count = 1;
    return STATUS_OK;
}

void inputs_release(struct inputs *inputs)
{
    for (size_t i = 0; inputs->opened && i < inputs->count; i++)
        if (inputs->opened[i].fd >= 0)
            close(inputs->opened[i].fd);
    free(inputs->opened);
    free(inputs->found);
    *inputs = (struct inputs){0};
}

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

int input_open(const char *path, struct error *err)
{
    int fd = is_stdin(path) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                            : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int problem = errno;
    if (fd < 0)
        error_set(err, STATUS_IO, "%s", strerror(problem));
    errno = problem;
    return fd;
}

bool inputs_spare(const struct inputs *inputs, const char *output, struct error *err)
{
    struct stat there, input;
    if (!output || is_stdin(output) || stat(output, &there) != 0 || !S_ISREG(there.st_mode))
        return true;
    for (size_t i = 0; i < inputs->count; i++) {
        const char *path = inputs->paths[i];
        bool known = (is_stdin(path) ? fstat(STDIN_FILENO, &input) : stat(path, &input)) == 0;
        if (known && input.st_dev == there.st_dev && input.st_ino == there.st_ino)
            return error_set(err, STATUS_USAGE, "%.150s is what is to be read; name another output",
                             output);
    }
    return true;
}

/* As many as the system grants: the usual first limit is for programs that use select(). */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool too_many(size_t opened, size_t count, struct error *err)
{
    return error_set(
        err, STATUS_LIMIT,
        "%zu files are too many at once: the system let only %zu be opened (ulimit -n); "
        "name fewer",
        count, opened);
}

bool inputs_open(struct inputs *inputs, struct error *err)
{
    size_t from_stdin = 0;
    for (size_t i = 0; i < inputs->count; i++)
        from_stdin += is_stdin(inputs->paths[i]);
    if (from_stdin > 1)
        return error_set(err, STATUS_USAGE, "standard input (-) can be read once only");
    inputs->opened = calloc(inputs->count, sizeof(*inputs->opened));
    if (!inputs->opened)
        return error_set(err, STATUS_LIMIT, "out of memory");
    for (size_t i = 0; i < inputs->count; i++)
        inputs->opened[i].fd = -1;
    raise_descriptor_limit();
    for (size_t i = 0; i < inputs->count; i++) {
        errno = 0;
        inputs->opened[i].fd = input_open(inputs->paths[i], &inputs->opened[i].err);
        if (inputs->opened[i].fd < 0 && (errno == EMFILE || errno == ENFILE))
            return too_many(i, inputs->count, err);
    }
    return true;
}

bool inputs_take(struct inputs *inputs, size_t index, int *fd, struct error *err)
{
    struct opened_input *input = &inputs->opened[index];
    if (input->fd < 0) {
        *err = input->err;
        return false;
    }
    *fd = input->fd;
    input->fd = -1;
    return true;
}
