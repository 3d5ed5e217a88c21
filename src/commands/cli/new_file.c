#define _GNU_SOURCE /* O_TMPFILE */
#include "commands/cli/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINK_TRIES 100 /* attempts to find an unused name */

static const int deadly_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
#define DEADLY_COUNT (sizeof(deadly_signals) / sizeof(deadly_signals[0]))

/* The temporary name, for the signal handler; "" if there is none. Changed only while the signals
 * are blocked. */
static char unfinished[PATH_MAX];

static void remove_unfinished(int number)
{
    if (*unfinished)
        unlink(unfinished);
    raise(number); /* SA_RESETHAND has restored the default action */
}

static void block_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < DEADLY_COUNT; i++)
        sigaddset(&set, deadly_signals[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

/* Signals that the parent process ignores stay ignored. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = remove_unfinished, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    for (size_t i = 0; i < DEADLY_COUNT; i++)
        if (sigaction(deadly_signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(deadly_signals[i], &action, NULL);
}

/* Runs `make`, which creates the file `name` or returns -1, with the signals blocked, so that the
 * handler sees either both the file and its name or neither. */
static int make_named(int (*make)(const struct new_file *file, char *name),
                      const struct new_file *file, char name[PATH_MAX])
{
    sigset_t before;
    block_signals(&before);
    int result = make(file, name);
    int reason = errno;
    if (result >= 0)
        memcpy(unfinished, name, strlen(name) + 1);
    catch_signals();
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return result;
}

static void forget_unfinished(void)
{
    sigset_t before;
    block_signals(&before);
    unfinished[0] = '\0';
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void release(struct new_file *file)
{
    int reason = errno;
    forget_unfinished();
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    free(file->temporary);
    *file = (struct new_file){.fd = -1};
    errno = reason;
}

static void proc_name(const struct new_file *file, char name[32])
{
    snprintf(name, 32, "/proc/self/fd/%d", file->fd);
}

/* Naming the file later needs /proc. */
static bool can_be_linked(const struct new_file *file)
{
    char name[32];
    struct stat here, there;
    proc_name(file, name);
    return fstat(file->fd, &here) == 0 && stat(name, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

static bool open_nameless(struct new_file *file)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(file->path, '/');
    size_t size = slash ? (size_t)(slash - file->path) + 1 : 0;
    if (size >= sizeof(folder))
        return false;
    memcpy(folder, file->path, size);
    folder[size] = '\0';
    file->fd = open(size ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file->fd >= 0 && can_be_linked(file))
        return true;
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    return false;
}

static int make_temporary(const struct new_file *file, char name[PATH_MAX])
{
    int size = snprintf(name, PATH_MAX, "%s.XXXXXX", file->path);
    if (size > 0 && size < PATH_MAX)
        return mkstemp(name);
    errno = ENAMETOOLONG;
    return -1;
}

static bool open_named(struct new_file *file)
{
    char name[PATH_MAX];
    file->fd = make_named(make_temporary, file, name);
    if (file->fd >= 0)
        file->temporary = strdup(name);
    if (file->fd >= 0 && !file->temporary)
        unlink(name);
    return file->temporary;
}

static mode_t current_umask(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return mask;
}

bool new_file_create(struct new_file *file, const char *path)
{
    struct stat existing;
    bool exists = stat(path, &existing) == 0;
    struct new_file created = {.path = strdup(path), .fd = -1};
    if (!created.path || (exists && access(path, W_OK) != 0) ||
        (!open_nameless(&created) && !open_named(&created))) {
        release(&created);
        return false;
    }
    fchmod(created.fd, exists ? existing.st_mode & 07777 : 0666 & ~current_umask());
    *file = created;
    return true;
}

static int link_as(const struct new_file *file, const char *name)
{
    char from[32];
    proc_name(file, from);
    return linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int link_as_temporary(const struct new_file *file, char name[PATH_MAX])
{
    for (int i = 0; i < LINK_TRIES; i++) {
        uint32_t chance = (uint32_t)i;
        (void)!getrandom(&chance, sizeof(chance), GRND_NONBLOCK);
        int size = snprintf(name, PATH_MAX, "%s.%06x", file->path, chance & 0xffffff);
        if (size < 0 || size >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        if (link_as(file, name) == 0)
            return 0;
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

bool new_file_place(struct new_file *file)
{
    char linked[PATH_MAX];
    const char *temporary = file->temporary;
    bool placed = !temporary && link_as(file, file->path) == 0;
    if (!placed && !temporary && errno == EEXIST &&
        make_named(link_as_temporary, file, linked) == 0)
        temporary = linked;
    if (!placed && temporary) {
        placed = rename(temporary, file->path) == 0;
        int reason = errno;
        if (!placed)
            unlink(temporary);
        errno = reason;
    }
    release(file);
    return placed;
}

void new_file_remove(struct new_file *file)
{
    if (file->temporary)
        unlink(file->temporary);
    release(file);
}
