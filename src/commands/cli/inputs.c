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

/* The path of the newest capture in the current folder, malloc'ed; NULL if there is none, or
 * without memory. */
static char *newest_capture(void)
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

/* Regular files opened by input_open(), which no output may replace. */
static struct file_id {
    dev_t device;
    ino_t number;
} * opened_files;
static size_t opened_count, opened_capacity;
static bool standard_input_taken;

static enum status tell_how_to_record(void)
{
    complain("no file named, and no snapshot in the current folder; to record one:");
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
        complain("no file named; reading %s, the newest snapshot in the current folder",
                 inputs->found);
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
    free(inputs->elsewhere);
    free(inputs->found);
    *inputs = (struct inputs){0};
}

bool input_is_open(const struct stat *file)
{
    for (size_t i = 0; i < opened_count; i++)
        if (opened_files[i].device == file->st_dev && opened_files[i].number == file->st_ino)
            return S_ISREG(file->st_mode);
    return false;
}

static bool note_file(const struct stat *file)
{
    if (!S_ISREG(file->st_mode) || input_is_open(file))
        return true;
    if (opened_count == opened_capacity) {
        size_t capacity = opened_capacity ? 2 * opened_capacity : 16;
        struct file_id *grown = reallocarray(opened_files, capacity, sizeof(*grown));
        if (!grown)
            return false;
        opened_files = grown;
        opened_capacity = capacity;
    }
    opened_files[opened_count++] = (struct file_id){file->st_dev, file->st_ino};
    return true;
}

static bool note_opened(int fd)
{
    struct stat file;
    return fstat(fd, &file) != 0 || note_file(&file);
}

static int open_standard_input(struct error *err)
{
    if (standard_input_taken) {
        error_set(err, STATUS_USAGE, "standard input (-) can be read only once");
        return -1;
    }
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd < 0)
        error_set(err, STATUS_IO, "%s", strerror(errno));
    standard_input_taken = true;
    return fd;
}

static int open_file(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int problem = errno;
    if (fd < 0)
        error_set(err, STATUS_IO, "%s", strerror(problem));
    errno = problem;
    return fd;
}

int input_open(const char *path, struct error *err)
{
    int fd = strcmp(path, "-") == 0 ? open_standard_input(err) : open_file(path, err);
    if (fd < 0 || note_opened(fd))
        return fd;
    close(fd);
    error_out_of_memory(err);
    errno = ENOMEM;
    return -1;
}

/* Raises the limit to the hard limit; the soft limit is low for programs that use select(). */
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
    return error_set(err, STATUS_LIMIT,
                     "cannot open %zu files at once: the system allows only %zu (ulimit -n); "
                     "name fewer files",
                     count, opened);
}

bool inputs_open(struct inputs *inputs, struct error *err)
{
    inputs->opened = calloc(inputs->count, sizeof(*inputs->opened));
    if (!inputs->opened)
        return error_out_of_memory(err);
    for (size_t i = 0; i < inputs->count; i++)
        inputs->opened[i].fd = -1;
    raise_descriptor_limit();
    for (size_t i = 0; i < inputs->count; i++) {
        struct opened_input *input = &inputs->opened[i];
        struct stat file;
        if (inputs->elsewhere && inputs->elsewhere[i]) {
            if (stat(inputs->paths[i], &file) == 0 && !note_file(&file))
                return error_out_of_memory(err);
            continue;
        }
        errno = 0;
        input->fd = input_open(inputs->paths[i], &input->err);
        if (input->fd < 0 && (errno == EMFILE || errno == ENFILE))
            return too_many(i, inputs->count, err);
        if (input->fd < 0 && input->err.status != STATUS_IO) {
            *err = input->err;
            return false;
        }
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
