#include "commands/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int deadly_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
#define DEADLY_COUNT (sizeof(deadly_signals) / sizeof(deadly_signals[0]))

/* The unfinished file, for the signal handler; "" when there is none. Changed with the signals
 * blocked. */
static char unfinished[PATH_MAX];

static void remove_unfinished(int number)
{
    if (*unfinished)
        unlink(unfinished);
    raise(number); /* its action is the default one again: SA_RESETHAND */
}

static void block_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < DEADLY_COUNT; i++)
        sigaddset(&set, deadly_signals[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

/* A signal that the caller of the program chose to ignore stays ignored. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = remove_unfinished, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    for (size_t i = 0; i < DEADLY_COUNT; i++)
        if (sigaction(deadly_signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(deadly_signals[i], &action, NULL);
}

static mode_t current_umask(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return mask;
}

static bool fail(struct error *err, const char *what)
{
    return error_set(err, STATUS_IO, "cannot write %.150s: %s", what, strerror(errno));
}

/* Whether something could not be written, with errno saying why: for what failed long ago, that is
 * what one byte more meets. */
static bool has_failed(FILE *stream)
{
    if (!ferror(stream))
        return false;
    clearerr(stream);
    errno = EIO; /* should that byte find room */
    if (fputc('\n', stream) != EOF)
        fflush(stream);
    return true;
}

/* A temporary file in the folder of `path`, with the permissions that `path` has or would get. */
static int make_temporary(const char *path, char name[PATH_MAX])
{
    struct stat existing;
    bool exists = stat(path, &existing) == 0;
    if (exists && access(path, W_OK) != 0)
        return -1;
    int size = snprintf(name, PATH_MAX, "%s.XXXXXX", path);
    if (size < 0 || size >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    sigset_t before;
    block_signals(&before);
    int fd = mkstemp(name);
    if (fd >= 0)
        memcpy(unfinished, name, (size_t)size + 1);
    catch_signals();
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (fd >= 0)
        fchmod(fd, exists ? existing.st_mode & 07777 : 0666 & ~current_umask());
    return fd;
}

static void forget_unfinished(void)
{
    sigset_t before;
    block_signals(&before);
    unfinished[0] = '\0';
    sigprocmask(SIG_SETMASK, &before, NULL);
}

bool output_open(struct output *output, const char *path, struct error *err)
{
    if (!path || strcmp(path, "-") == 0) {
        *output = (struct output){.stream = stdout};
        return true;
    }
    struct stat existing;
    bool in_place = stat(path, &existing) == 0 && !S_ISREG(existing.st_mode);
    char name[PATH_MAX] = "";
    /* through a symbolic link, so that the link stays one */
    char *real = in_place ? NULL : realpath(path, NULL);
    struct output opened = {.path = real ? real : strdup(path)};
    int fd = -1;
    if (opened.path)
        fd = in_place ? open(path, O_WRONLY | O_CLOEXEC) : make_temporary(opened.path, name);
    if (fd >= 0)
        opened.stream = fdopen(fd, "w");
    if (opened.stream && !in_place)
        opened.temporary = strdup(name);
    if (opened.stream && (in_place || opened.temporary)) {
        *output = opened;
        return true;
    }
    fail(err, path);
    if (fd >= 0 && !opened.stream)
        close(fd);
    if (*name && fd >= 0)
        unlink(name);
    forget_unfinished();
    free(opened.path);
    return false;
}

static void release(struct output *output)
{
    forget_unfinished();
    free(output->path);
    free(output->temporary);
    *output = (struct output){0};
}

bool output_commit(struct output *output, struct error *err)
{
    if (!output->path) {
        release(output);
        return true;
    }
    bool ok = !has_failed(output->stream) || fail(err, output->path);
    if (fclose(output->stream) != 0 && ok)
        ok = fail(err, output->path);
    if (ok && output->temporary && rename(output->temporary, output->path) != 0)
        ok = fail(err, output->path);
    if (!ok && output->temporary)
        unlink(output->temporary);
    release(output);
    return ok;
}

void output_discard(struct output *output)
{
    if (output->path) {
        fclose(output->stream);
        if (output->temporary)
            unlink(output->temporary);
    }
    release(output);
}

void standard_streams_reserve(void)
{
    /* the wrong way round on purpose: reading from 0 and writing to 1 fail */
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDWR};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) < 0)
            _exit(STATUS_IO);
}

bool standard_output_finish(struct error *err)
{
    bool ok = !has_failed(stdout) || fail(err, "standard output");
    if (fclose(stdout) != 0 && ok)
        ok = fail(err, "standard output");
    return ok;
}
