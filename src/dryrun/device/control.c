/* The functions that the recorder in Python calls. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dryrun/core/needs.h"
#include "dryrun/device/state.h"

#define HANDLER "memsnap_dryrun_unknown"
#define SONAME  "libmemsnap-dryrun.so"
#define DRIVER  "libcuda.so.1"
/* Bytes of a file: larger ones compute, and do not look for the driver. */
#define NAMED_MOST ((size_t)64 << 20)

/* Sets a property before the first use of the stand-in; nonzero if there is no such property. */
API int memsnap_dryrun_set(const char *name, uint64_t value)
{
    int number = value > 1000000000 ? 1000000000 : (int)value;
    if (strcmp(name, "memory") == 0)
        machine.card.bytes = value;
    else if (strcmp(name, "other") == 0)
        machine.other = value;
    else if (strcmp(name, "devices") == 0 && number >= 1 && number <= DEVICES_MOST)
        machine.device_count = number;
    else if (strcmp(name, "runtime") == 0)
        machine.runtime_version = number;
    else if (strcmp(name, "cudnn") == 0)
        machine.dnn_version = number;
    else if (strcmp(name, "nccl") == 0)
        machine.nccl_version = number;
    else if (strcmp(name, "lenient") == 0)
        machine.is_lenient = number != 0;
    else
        return -1;
    return 0;
}

/* Chooses the card; nonzero if there is no such card. Set its memory afterwards. */
API int memsnap_dryrun_card(const char *name)
{
    const struct card *card = card_find(name);
    if (!card)
        return -1;
    machine.card = *card;
    return 0;
}

/* How often the program copied something from a GPU to the host. */
API uint64_t memsnap_dryrun_values_read(void)
{
    return machine.values_read;
}

/* The most memory in use on a device, in bytes. */
API uint64_t memsnap_dryrun_most_used(int device)
{
    return device >= 0 && device < DEVICES_MOST ? machine.devices[device].most : 0;
}

static bool is_implemented(const char *function)
{
    void *found = dlsym(RTLD_DEFAULT, function);
    Dl_info its, own;
    return found && dladdr(found, &its) && dladdr((void *)&machine, &own) &&
           its.dli_fbase == own.dli_fbase;
}

static bool is_known(const char *function)
{
    return dlsym(RTLD_DEFAULT, function) != NULL;
}

static bool is_loaded(const char *soname)
{
    void *library = dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    return library != NULL;
}

/* Adds what the file needs of NVIDIA's libraries. */
static bool add_file(struct needs *needs, const char *path, struct error *err)
{
    struct stat stat;
    struct elf elf;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat) != 0) {
        error_set(err, STATUS_IO, "%.150s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    size_t size = (size_t)stat.st_size;
    void *bytes = size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED)
        return error_set(err, STATUS_IO, "%.150s: cannot be mapped", path);
    struct error reason;
    bool ok = elf_open(&elf, bytes, size, &reason);
    if (ok) {
        ok = needs_add(needs, &elf, &reason) &&
             (size > NAMED_MOST || needs_add_named(needs, DRIVER, bytes, size, &reason));
        elf_close(&elf);
    }
    munmap(bytes, size);
    return ok || error_set(err, reason.status, "%.120s: %.100s", path, reason.text);
}

static bool write_all(int fd, const struct buffer *bytes)
{
    size_t done = 0;
    while (done < bytes->size) {
        ssize_t wrote = write(fd, bytes->bytes + done, bytes->size - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        done += (size_t)wrote;
    }
    return true;
}

/* Removes the file's name, so that nothing can be left behind. The driver stays: Triton links what
 * it compiles with that file. */
static void finish_file(const char *folder, const char *soname, const char *path)
{
    char kept[4096];
    int length = snprintf(kept, sizeof(kept), "%s/%s", folder, soname);
    if (strcmp(soname, DRIVER) != 0 || length < 0 || (size_t)length >= sizeof(kept) ||
        rename(path, kept) != 0)
        unlink(path);
}

/* Writes the file and loads it. */
static bool load_file(const char *folder, const char *soname, const struct buffer *bytes,
                      struct error *err)
{
    char path[4096];
    int length = snprintf(path, sizeof(path), "%s/stub-XXXXXX", folder);
    int fd = length > 0 && (size_t)length < sizeof(path) ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd < 0)
        return error_set(err, STATUS_IO, "%.150s: %s", folder, strerror(errno));
    bool ok = write_all(fd, bytes);
    int reason = errno;
    close(fd);
    if (!ok)
        error_set(err, STATUS_IO, "%.150s: %s", path, strerror(reason));
    else if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL))
        ok = error_set(err, STATUS_IO, "%.200s (is TMPDIR on a file system without programs?)",
                       dlerror());
    finish_file(folder, soname, path);
    return ok;
}

static bool load_library(const struct needs *needs, const struct needed_library *library,
                         const char *folder, struct error *err)
{
    struct buffer bytes = BUFFER_INIT;
    struct stub_library made = {needs->machine,
                                library->soname,
                                SONAME,
                                HANDLER,
                                library->stubs,
                                library->stub_count,
                                (const char *const *)library->versions,
                                library->version_count};
    bool ok = stub_library_write(&made, &bytes) ||
              error_set(err, STATUS_BAD_INPUT, "the libraries of PyTorch are for another machine");
    if (ok)
        ok = !bytes.failed ? load_file(folder, library->soname, &bytes, err)
                           : error_out_of_memory(err);
    buffer_release(&bytes);
    return ok;
}

static bool load_all(struct needs *needs, const char *folder, struct error *err)
{
    /* looked for by name while a program runs */
    static const char *const always[] = {DRIVER, "libnvidia-ml.so.1", NULL};
    for (const char *const *soname = always; *soname; soname++)
        if (!needs_add_library(needs, *soname, err))
            return false;
    needs_finish(needs, is_implemented);
    for (size_t i = 0; i < needs->count; i++)
        if (!load_library(needs, &needs->libraries[i], folder, err))
            return false;
    return true;
}

/* Loads stand-ins for the libraries of NVIDIA's that the files need. On failure it writes a message
 * and returns nonzero. */
API int memsnap_dryrun_load(const char *const *files, size_t count, const char *folder,
                            char *message, size_t size)
{
    struct needs needs = {0};
    struct error err;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_file(&needs, files[i], &err);
    ok = ok && load_all(&needs, folder, &err);
    needs_release(&needs);
    if (!ok)
        snprintf(message, size, "%s", err.text);
    return ok ? 0 : -1;
}

/* Adds the functions that are still missing. A library that is loaded already cannot get more, so
 * they come in one of their own. It has no versions: then it is right for each. */
static bool load_missing(struct needs *needs, const char *folder, struct error *err)
{
    needs_finish(needs, is_known);
    for (size_t i = 0; i < needs->count; i++) {
        struct needed_library library = needs->libraries[i];
        bool again = is_loaded(library.soname);
        if (again && library.stub_count == 0)
            continue;
        if (again) {
            library.soname = (char[]){NEEDS_REST};
            library.version_count = 0;
            for (size_t k = 0; k < library.stub_count; k++) {
                free((char *)library.stubs[k].version);
                library.stubs[k].version = NULL;
            }
        }
        if (!load_library(needs, &library, folder, err))
            return false;
    }
    return true;
}

/* Loads stand-ins for the functions of NVIDIA's that the file needs and that no loaded library has.
 * Ignores errors, also that the file is no shared object: whoever loads it next gets the dynamic
 * linker's message. */
API void memsnap_dryrun_add(const char *file, const char *folder)
{
    struct needs needs = {0};
    struct error err;
    if (add_file(&needs, file, &err) && needs.count > 0)
        load_missing(&needs, folder, &err);
    needs_release(&needs);
}
