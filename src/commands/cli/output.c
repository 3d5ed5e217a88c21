#include "commands/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/cli/inputs.h"

#define LINKS_MOST 40 /* the limit of the kernel */

static bool fail(struct error *err, const char *what)
{
    return error_set(err, STATUS_IO, "cannot write %.150s: %s", what, strerror(errno));
}

/* Returns true if writing failed, with the cause in errno. The errno of an earlier failure is lost,
 * so it writes one more byte to get it again. */
static bool has_failed(FILE *stream)
{
    if (!ferror(stream))
        return false;
    clearerr(stream);
    errno = EIO; /* if writing that byte succeeds */
    if (fputc('\n', stream) != EOF)
        fflush(stream);
    return true;
}

/* The descriptor that a path such as /dev/stdout or /dev/fd/3 names; -1 for other paths. */
static int named_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!path || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    if (strcmp(path, "/dev/stdin") == 0)
        return STDIN_FILENO;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        size_t size = strlen(folders[i]);
        if (strncmp(path, folders[i], size) != 0)
            continue;
        size_t digits = strspn(path + size, "0123456789");
        if (digits > 0 && digits < 7 && path[size + digits] == '\0')
            return atoi(path + size);
    }
    return -1;
}

bool output_check(const char *path, struct error *err)
{
    struct stat there;
    int fd = named_descriptor(path);
    if ((fd >= 0 ? fstat(fd, &there) : stat(path, &there)) != 0 || !input_is_open(&there))
        return true;
    return error_set(err, STATUS_USAGE,
                     "cannot write %.120s: it is also an input; choose another output",
                     !path || strcmp(path, "-") == 0 ? "standard output" : path);
}

/* Replaces a symbolic link by its target; relative targets start from the link's folder. */
static bool follow_link(char path[PATH_MAX], const char *link, size_t size)
{
    char *slash = strrchr(path, '/');
    size_t folder = slash && *link != '/' ? (size_t)(slash - path) + 1 : 0;
    if (folder + size >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + folder, link, size);
    path[folder + size] = '\0';
    return true;
}

/* The file that writing to `path` changes or creates. The last link of a chain may be dangling. */
static bool follow_links(const char *path, char real[PATH_MAX])
{
    char link[PATH_MAX];
    size_t size = strlen(path);
    errno = size < PATH_MAX ? ELOOP : ENAMETOOLONG;
    if (size >= PATH_MAX)
        return false;
    memcpy(real, path, size + 1);
    for (int i = 0; i <= LINKS_MOST; i++) {
        ssize_t length = readlink(real, link, sizeof(link));
        if (length < 0)
            return true;
        if (!follow_link(real, link, (size_t)length))
            return false;
    }
    errno = ELOOP;
    return false;
}

bool output_new_file(struct new_file *file, const char *path, struct error *err)
{
    char real[PATH_MAX];
    struct stat existing;
    if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode))
        return error_set(err, STATUS_IO, "cannot write %.150s: not a regular file", path);
    return (follow_links(path, real) && new_file_create(file, real)) || fail(err, path);
}

/* Returns a descriptor to write to. Sets `file` unless the output is written directly. */
static int open_path(const char *path, struct new_file *file)
{
    char real[PATH_MAX];
    struct stat existing;
    int fd = named_descriptor(path);
    if (fd >= 0)
        return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode))
        return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (!follow_links(path, real) || !new_file_create(file, real))
        return -1;
    return fcntl(file->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

bool output_open(struct output *output, const char *path, struct error *err)
{
    struct output opened = {.stream = stdout, .file.fd = -1};
    if (!output_check(path, err))
        return false;
    if (!path || strcmp(path, "-") == 0) {
        *output = opened;
        return true;
    }
    int fd = open_path(path, &opened.file);
    opened.stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    opened.path = opened.stream ? strdup(path) : NULL;
    if (opened.path) {
        *output = opened;
        return true;
    }
    fail(err, path);
    if (opened.stream)
        fclose(opened.stream);
    else if (fd >= 0)
        close(fd);
    new_file_remove(&opened.file);
    return false;
}

bool output_commit(struct output *output, struct error *err)
{
    if (!output->path)
        return true;
    bool ok = !has_failed(output->stream) || fail(err, output->path);
    if (fclose(output->stream) != 0 && ok)
        ok = fail(err, output->path);
    if (!ok)
        new_file_remove(&output->file);
    else if (output->file.path && !new_file_place(&output->file))
        ok = fail(err, output->path);
    free(output->path);
    *output = (struct output){.file.fd = -1};
    return ok;
}

void output_discard(struct output *output)
{
    if (!output->path)
        return;
    fclose(output->stream);
    new_file_remove(&output->file);
    free(output->path);
    *output = (struct output){.file.fd = -1};
}

void standard_streams_reserve(void)
{
    /* the opposite mode on purpose, so that reading from 0 and writing to 1 fail */
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
