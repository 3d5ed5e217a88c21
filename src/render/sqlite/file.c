#include "render/sqlite/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECTOR_BYTES 4096
#define UNIX_EPOCH   2440587.5 /* as a Julian day */

struct opened {
    sqlite3_file base;
    struct sqlite_file *file;
};

static struct sqlite_file *file_of(sqlite3_file *opened)
{
    return ((struct opened *)opened)->file;
}

static int close_file(sqlite3_file *opened)
{
    (void)opened;
    return SQLITE_OK;
}

/* SQLite expects zeros after the end of the file. */
static int read_file(sqlite3_file *opened, void *bytes, int size, sqlite3_int64 offset)
{
    size_t wanted = (size_t)size, got = 0;
    while (got < wanted) {
        ssize_t n = pread(file_of(opened)->fd, (char *)bytes + got, wanted - got,
                          (off_t)offset + (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return SQLITE_IOERR_READ;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    memset((char *)bytes + got, 0, wanted - got);
    return got == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int write_file(sqlite3_file *opened, const void *bytes, int size, sqlite3_int64 offset)
{
    struct sqlite_file *file = file_of(opened);
    size_t wanted = (size_t)size, put = 0;
    while (put < wanted) {
        ssize_t n =
            pwrite(file->fd, (const char *)bytes + put, wanted - put, (off_t)offset + (off_t)put);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (!file->write_errno)
                file->write_errno = n < 0 ? errno : EIO;
            return file->write_errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
        }
        put += (size_t)n;
    }
    return SQLITE_OK;
}

static int file_size(sqlite3_file *opened, sqlite3_int64 *size)
{
    struct stat there;
    if (fstat(file_of(opened)->fd, &there) != 0)
        return SQLITE_IOERR_FSTAT;
    *size = there.st_size;
    return SQLITE_OK;
}

/* A database that is only filled never shrinks, and the sandbox forbids ftruncate(). */
static int truncate_file(sqlite3_file *opened, sqlite3_int64 size)
{
    sqlite3_int64 before = 0;
    int status = file_size(opened, &before);
    return status == SQLITE_OK && before > size ? SQLITE_IOERR_TRUNCATE : status;
}

static int with_flags(sqlite3_file *opened, int flags)
{
    (void)opened, (void)flags;
    return SQLITE_OK;
}

static int is_reserved(sqlite3_file *opened, int *reserved)
{
    (void)opened;
    *reserved = 0;
    return SQLITE_OK;
}

static int control(sqlite3_file *opened, int operation, void *argument)
{
    (void)opened, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *opened)
{
    (void)opened;
    return SECTOR_BYTES;
}

static int characteristics(sqlite3_file *opened)
{
    (void)opened;
    return SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = with_flags,
    .xFileSize = file_size,
    .xLock = with_flags,
    .xUnlock = with_flags,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *opened, int flags,
                     int *out_flags)
{
    (void)name;
    opened->pMethods = NULL;
    if (!(flags & SQLITE_OPEN_MAIN_DB))
        return SQLITE_CANTOPEN;
    *(struct opened *)opened = (struct opened){{&methods}, vfs->pAppData};
    if (out_flags)
        *out_flags = flags;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    (void)vfs, (void)name, (void)sync_folder;
    return SQLITE_OK;
}

/* There is no journal. */
static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    (void)vfs, (void)name, (void)flags;
    *result = 0;
    return SQLITE_OK;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int size, char *full)
{
    (void)vfs;
    return snprintf(full, (size_t)size, "%s", name) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int randomness(sqlite3_vfs *vfs, int size, char *bytes)
{
    (void)vfs;
    memset(bytes, 0, (size_t)size);
    (void)!getrandom(bytes, (size_t)size, GRND_NONBLOCK);
    return size;
}

static int sleep_for(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

static int current_time(sqlite3_vfs *vfs, double *days)
{
    (void)vfs;
    *days = (double)time(NULL) / 86400.0 + UNIX_EPOCH;
    return SQLITE_OK;
}

static int last_error(sqlite3_vfs *vfs, int size, char *text)
{
    (void)size, (void)text;
    return ((const struct sqlite_file *)vfs->pAppData)->write_errno;
}

bool sqlite_file_init(struct sqlite_file *file, int fd)
{
    *file = (struct sqlite_file){.fd = fd};
    snprintf(file->name, sizeof(file->name), "memsnap-%p", (void *)file);
    file->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(struct opened),
        .mxPathname = 64,
        .zName = file->name,
        .pAppData = file,
        .xOpen = open_file,
        .xDelete = delete_file,
        .xAccess = access_file,
        .xFullPathname = full_name,
        .xRandomness = randomness,
        .xSleep = sleep_for,
        .xCurrentTime = current_time,
        .xGetLastError = last_error,
    };
    return sqlite3_vfs_register(&file->vfs, 0) == SQLITE_OK;
}

void sqlite_file_release(struct sqlite_file *file)
{
    sqlite3_vfs_unregister(&file->vfs);
}
