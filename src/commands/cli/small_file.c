#include "commands/cli/small_file.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"

bool small_file_read(FILE *file, const char *path, size_t most, const char *what,
                     struct buffer *text, struct error *err)
{
    char bytes[4096], size[UNITS_TEXT_SIZE];
    size_t count;
    while (text->size <= most && (count = fread(bytes, 1, sizeof(bytes), file)) > 0)
        buffer_add(text, bytes, count);
    if (ferror(file))
        return error_set(err, STATUS_IO, "%.120s: %s", path, strerror(errno));
    if (text->failed)
        return error_set(err, STATUS_LIMIT, "out of memory");
    if (text->size > most)
        return error_set(err, STATUS_USAGE, "%.120s: expected %s of at most %s", path, what,
                         units_bytes(size, (int64_t)most, UNIT_AUTO));
    return true;
}

bool small_file_open(const char *path, size_t most, const char *what, struct buffer *text,
                     struct error *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(err, STATUS_IO, "%.120s: %s", path, strerror(errno));
    bool ok = small_file_read(file, path, most, what, text, err);
    fclose(file);
    return ok;
}
