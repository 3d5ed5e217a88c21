#define _GNU_SOURCE /* basename() that changes nothing */
#include "commands/ranks/into.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands/cli/complain.h"
#include "render/summary/summary.h"
#include "store/store.h"

/* The file begins with this, and a file of summaries follows. */
struct preface {
    uint64_t is_complete, failed;
};

bool into_write(FILE *summaries, const struct gathering *gathering, struct error *err)
{
    const struct preface preface = {1, gathering->failure_count};
    struct buffer bin = BUFFER_INIT;
    bool ok = true;
    fwrite(&(const struct preface){0}, sizeof(preface), 1, summaries);
    summaries_begin(summaries);
    for (size_t i = 0; ok && i < gathering->all.count; i++) {
        buffer_clear(&bin);
        ok = summary_pack(&bin, gathering->all.items[i].summary, err);
        if (ok)
            summaries_add(summaries, (struct text){bin.bytes, bin.size});
    }
    buffer_release(&bin);
    rewind(summaries);
    fwrite(&preface, sizeof(preface), 1, summaries);
    return ok && ((fflush(summaries) == 0 && !ferror(summaries)) ||
                  error_set(err, STATUS_IO, "cannot write a temporary file: %s", strerror(errno)));
}

/* The name of the folder that the user named, or of the folder of a file. */
static bool name_of_run(const char *path, char name[PATH_MAX], struct error *err)
{
    char real[PATH_MAX];
    struct stat there;
    if (!realpath(path, real) || stat(real, &there) != 0)
        return error_set(err, STATUS_USAGE, "name the run with --run NAME");
    char *slash = strrchr(real, '/');
    if (!S_ISDIR(there.st_mode) && slash && slash != real)
        *slash = '\0';
    snprintf(name, PATH_MAX, "%s", basename(real));
    return true;
}

static bool take_summary(void *self, struct summary *summary, struct text bin, struct error *err)
{
    (void)bin;
    bool ok = store_add(self, summary, err);
    summary_destroy(summary);
    return ok;
}

/* The descriptor is at the summaries, after the preface. */
static bool store_summaries(struct store *store, int fd, const struct store_run *run,
                            struct error *err)
{
    struct input input;
    if (!store_begin_run(store, run, err) || !input_from_fd(&input, dup(fd), 0, err))
        return false;
    return summaries_load_input(&input, take_summary, store, err) && store_commit_run(store, err);
}

static bool store_file(const struct into_options *options, FILE *summaries, struct error *err)
{
    char name[PATH_MAX];
    struct preface preface;
    int fd = fileno(summaries);
    if (pread(fd, &preface, sizeof(preface), 0) != sizeof(preface) || !preface.is_complete)
        return true; /* nothing could be read, and the reason has been reported */
    if (!options->name && !name_of_run(options->first, name, err))
        return false;
    const struct store_run run = {.name = options->name ? options->name : name,
                                  .commit = options->commit,
                                  .time_s = time(NULL),
                                  .failed = preface.failed};
    struct store *store = store_open_to_write(options->history, err);
    bool ok = store && lseek(fd, sizeof(preface), SEEK_SET) == sizeof(preface) &&
              store_summaries(store, fd, &run, err);
    store_close(store);
    return ok;
}

static enum status wait_and_store(const struct into_options *options, pid_t reader, FILE *summaries)
{
    struct error err;
    int end = 0;
    while (waitpid(reader, &end, 0) < 0)
        if (errno != EINTR)
            return complain_usage("cannot wait for a process: %s", strerror(errno));
    if (WIFSIGNALED(end)) {
        complain("the process that reads captures was ended by signal %d", WTERMSIG(end));
        return STATUS_IO;
    }
    if (!store_file(options, summaries, &err))
        return complain_error(options->history, &err);
    return (enum status)WEXITSTATUS(end);
}

/* A file that is no history is reported before hours of reading. */
static bool check_history(const struct into_options *options, struct error *err)
{
    struct store *store = store_open_to_write(options->history, err);
    store_close(store);
    return store;
}

enum status into_run(const struct into_options *options, into_reader *read, void *self)
{
    struct error err;
    if (!check_history(options, &err))
        return complain_error(options->history, &err);
    FILE *summaries = tmpfile();
    pid_t parent = getpid(), reader = summaries ? fork() : -1;
    if (reader < 0) {
        error_set(&err, STATUS_IO, "cannot start a process: %s", strerror(errno));
        return complain_failure(&err);
    }
    if (reader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
        return getppid() == parent ? read(self, summaries) : STATUS_IO;
    }
    enum status status = wait_and_store(options, reader, summaries);
    fclose(summaries);
    return status;
}
