#define _GNU_SOURCE /* O_CLOEXEC, MAP_ANONYMOUS */
#include "commands/dryrun/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/cli/capture.h"
#include "commands/sandbox/sandbox.h"

static bool copy_file(const char *path, int to, struct error *err)
{
    char bytes[1 << 16];
    ssize_t count = -1;
    int from = open(path, O_RDONLY | O_CLOEXEC);
    while (from >= 0 && (count = read(from, bytes, sizeof(bytes))) > 0)
        for (ssize_t done = 0, wrote; done < count; done += wrote)
            if ((wrote = write(to, bytes + done, (size_t)(count - done))) < 0) {
                int reason = errno;
                close(from);
                return error_set(err, STATUS_IO, "cannot write the snapshot: %s", strerror(reason));
            }
    if (from >= 0)
        close(from);
    return count == 0 || error_set(err, STATUS_IO, "cannot read the snapshot");
}

bool dryrun_snapshot_keep(const struct dryrun_folder *folder, const char *name,
                          struct new_file *file, const char *output, struct error *err)
{
    char path[PATH_MAX];
    if (!copy_file(dryrun_folder_file(folder, name, path), file->fd, err))
        return false;
    return new_file_place(file) ||
           error_set(err, STATUS_IO, "cannot write %.150s: %s", output, strerror(errno));
}

/* The result of the process in the sandbox, in memory that it shares with this process. */
struct finding {
    bool ok, is_done;
    struct dryrun_peaks peaks;
    struct error err;
};

static void find_peaks(int fd, size_t max_memory, struct finding *found)
{
    const struct capture_options options = {
        .max_memory = max_memory, .device = ALL_DEVICES, .gpus_only = true};
    struct capture capture;
    found->ok = capture_open(&capture, fd, &options, NULL, &found->err);
    for (size_t i = 0; found->ok && i < capture.device_count; i++) {
        const struct timeline *timeline = capture.timelines[i];
        uint64_t active = (uint64_t)timeline->active.peak_bytes;
        if (active < found->peaks.active_bytes)
            continue;
        found->peaks = (struct dryrun_peaks){active, (uint64_t)timeline->reserved.peak_bytes};
    }
    found->is_done = true;
}

/* Runs find_peaks() in a process of its own. */
static bool ask(int fd, size_t max_memory, struct finding *found, struct error *err)
{
    int status;
    pid_t process = fork();
    if (process == 0) {
        sandbox_enter(NULL);
        find_peaks(fd, max_memory, found);
        _exit(0);
    }
    if (process < 0)
        return error_set(err, STATUS_IO, "cannot read the snapshot: %s", strerror(errno));
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!found->is_done)
        return error_set(err, STATUS_IO, "the process that reads the snapshot crashed");
    if (!found->ok)
        *err = found->err;
    return found->ok;
}

bool dryrun_snapshot_peaks(const struct dryrun_folder *folder, const char *name,
                           struct dryrun_peaks *peaks, struct error *err)
{
    char path[PATH_MAX];
    size_t max_memory = budget_default_limit();
    int fd = open(dryrun_folder_file(folder, name, path), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, STATUS_IO, "cannot read the snapshot: %s", strerror(errno));
    struct finding *found =
        mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool ok = found != MAP_FAILED ? ask(fd, max_memory, found, err) : error_out_of_memory(err);
    close(fd);
    if (found == MAP_FAILED)
        return false;
    if (ok)
        *peaks = found->peaks;
    munmap(found, sizeof(*found));
    return ok;
}
