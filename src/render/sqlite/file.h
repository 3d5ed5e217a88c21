/* An open file as SQLite sees it. A virtual file system with that one file, so that a database can
 * be written within the sandbox, where nothing can be opened: no journal, no locks. */
#ifndef MEMSNAP_RENDER_SQLITE_FILE_H
#define MEMSNAP_RENDER_SQLITE_FILE_H

#include <sqlite3.h>
#include <stdbool.h>

struct sqlite_file {
    sqlite3_vfs vfs;
    int fd;          /* not owned; to read and write */
    int write_errno; /* of the first failure; 0: none */
    char name[40];   /* of the file system, unique in the process */
};

/* Registers the file system. The struct must not be moved until sqlite_file_release(). */
bool sqlite_file_init(struct sqlite_file *file, int fd);
void sqlite_file_release(struct sqlite_file *file);

#endif
