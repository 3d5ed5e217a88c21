#define _GNU_SOURCE /* nftw, O_CLOEXEC */
#include "commands/dryrun/folder.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libmemsnap-dryrun.so"

/* The path of the program; "" if unknown. */
static void find_program(char path[PATH_MAX])
{
    ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = '\0';
}

/* The program's parent folder may be writable by anyone, like /tmp. The library must belong to root
 * or to the program's owner. */
static bool is_trusted(const char *program, const char *library)
{
    struct stat program_stat, library_stat;
    return stat(library, &library_stat) == 0 && S_ISREG(library_stat.st_mode) &&
           (library_stat.st_uid == 0 ||
            (stat(program, &program_stat) == 0 && library_stat.st_uid == program_stat.st_uid));
}

bool dryrun_find_library(char path[PATH_MAX], struct error *err)
{
    static const char *const installed = DRYRUN_FOLDER "/" LIBRARY;
    static const char *const beside[] = {"/" LIBRARY, "/../lib/memsnap/" LIBRARY};
    char program[PATH_MAX];
    find_program(program);
    const char *slash = strrchr(program, '/');
    int folder_size = slash ? (int)(slash - program) : 0;
    for (size_t i = 0; i < 3; i++) {
        int size = i == 1 ? snprintf(path, PATH_MAX, "%s", installed)
                          : snprintf(path, PATH_MAX, "%.*s%s", folder_size, program, beside[i / 2]);
        if (size > 0 && size < PATH_MAX && is_trusted(program, path))
            return true;
    }
    return error_set(err, STATUS_IO,
                     "cannot find %.150s: run 'make' in the folder where memsnap was built",
                     installed);
}

const char *dryrun_folder_file(const struct dryrun_folder *folder, const char *name,
                               char path[PATH_MAX])
{
    int size = snprintf(path, PATH_MAX, "%s/%s", folder->path, name);
    if (size < 0 || size >= PATH_MAX)
        path[0] = '\0';
    return path;
}

bool dryrun_folder_has(const struct dryrun_folder *folder, const char *name)
{
    char path[PATH_MAX];
    return access(dryrun_folder_file(folder, name, path), F_OK) == 0;
}

static bool fail(struct error *err, const char *path)
{
    return error_set(err, STATUS_IO, "cannot write %.150s: %s", path, strerror(errno));
}

static void put_config(FILE *file, const struct dryrun_options *options, const char *library)
{
    const struct dryrun_gpu *gpu = options->gpus;
    fprintf(file, "library %s\ncard %s\n", library, gpu->card->name);
    if (gpu->memory > 0)
        fprintf(file, "memory %" PRIu64 "\n", gpu->memory);
    fprintf(file, "other %" PRIu64 "\ndevices %" PRIu64 "\nlenient %d\n", options->other,
            options->devices, options->is_lenient);
    fprintf(file, "steps %" PRIu64 "\nlate %" PRIu64 "\nstacks %s\n", options->steps, options->late,
            options->all_stacks ? "all" : "python");
    fprintf(file, "rank %" PRIu64 "\n", options->rank);
    if (options->world > 0)
        fprintf(file, "world %" PRIu64 "\n", options->world);
}

static bool close_written(FILE *file, const char *path, struct error *err)
{
    bool wrote = !ferror(file);
    errno = EIO;
    return (fclose(file) == 0 && wrote) || fail(err, path);
}

/* The modules of Python, by their names in the folder. */
static const struct {
    const char *name;
    const unsigned char *bytes;
    const size_t *size;
} modules[] = {
    {"sitecustomize.py", dryrun_recorder, &dryrun_recorder_size},
    {"memsnap_conditions.py", dryrun_conditions, &dryrun_conditions_size},
    {"memsnap_extensions.py", dryrun_extensions, &dryrun_extensions_size},
    {"memsnap_ranks.py", dryrun_ranks, &dryrun_ranks_size},
    {"memsnap_values.py", dryrun_values, &dryrun_values_size},
    {"memsnap_world.py", dryrun_world, &dryrun_world_size},
};

static bool write_files(const struct dryrun_folder *folder, const struct dryrun_options *options,
                        const char *library, struct error *err)
{
    char path[PATH_MAX];
    FILE *file;
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        if (!(file = fopen(dryrun_folder_file(folder, modules[i].name, path), "wxe")))
            return fail(err, path);
        fwrite(modules[i].bytes, 1, *modules[i].size, file);
        if (!close_written(file, path, err))
            return false;
    }
    file = fopen(dryrun_folder_file(folder, "config", path), "wxe");
    if (!file)
        return fail(err, path);
    put_config(file, options, library);
    return close_written(file, path, err);
}

bool dryrun_folder_make(struct dryrun_folder *folder, const struct dryrun_options *options,
                        const char *library, struct error *err)
{
    const char *temporary = getenv("TMPDIR");
    char above[PATH_MAX];
    /* an absolute path, since the program may change its folder; PYTHONPATH cannot hold a colon */
    if (!temporary || strchr(temporary, ':') || !realpath(temporary, above))
        strcpy(above, "/tmp");
    int size = snprintf(folder->path, PATH_MAX, "%s/memsnap-dryrun.XXXXXX", above);
    errno = ENAMETOOLONG;
    if (size < 0 || size >= PATH_MAX || !mkdtemp(folder->path)) {
        folder->path[0] = '\0';
        return fail(err, above);
    }
    if (write_files(folder, options, library, err))
        return true;
    dryrun_folder_remove(folder);
    return false;
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat, (void)type, (void)walk;
    remove(path);
    return 0;
}

void dryrun_folder_remove(struct dryrun_folder *folder)
{
    if (*folder->path)
        nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    folder->path[0] = '\0';
}
