#include "commands/cli/small_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "commands/cli/complain.h"
#include "commands/cli/inputs.h"

#define RULES_SIZE ((size_t)1 << 20)

static bool read_all(int fd, const char *path, size_t most, const char *what, struct buffer *text,
                     struct error *err)
{
    char bytes[4096], size[UNITS_TEXT_SIZE];
    ssize_t count;
    while (text->size <= most && (count = read(fd, bytes, sizeof(bytes))) != 0)
        if (count > 0)
            buffer_add(text, bytes, (size_t)count);
        else if (errno != EINTR)
            return error_set(err, STATUS_IO, "%.120s: %s", path_name(path), strerror(errno));
    if (text->failed)
        return error_out_of_memory(err);
    if (text->size > most)
        return error_set(err, STATUS_USAGE, "%.120s: expected %s of at most %s", path_name(path),
                         what, units_bytes(size, (int64_t)most, UNIT_AUTO));
    return true;
}

bool small_file_read(const char *path, size_t most, const char *what, struct buffer *text,
                     struct error *err)
{
    int fd = input_open(path, err);
    if (fd < 0) {
        struct error plain = *err;
        return plain.status == STATUS_IO
                   ? error_set(err, STATUS_IO, "%.120s: %s", path_name(path), plain.text)
                   : false;
    }
    bool ok = read_all(fd, path, most, what, text, err);
    close(fd);
    return ok;
}

static bool read_rules(const char *path, struct own_rules **rules, struct error *err)
{
    struct buffer text = BUFFER_INIT;
    struct own_rules *made = NULL;
    if (small_file_read(path, RULES_SIZE, "rules", &text, err))
        made = own_rules_parse(path_name(path), text.bytes ? text.bytes : "", text.size, err);
    buffer_release(&text);
    if (!made)
        return false;
    *rules = made;
    return true;
}

static void default_path(struct buffer *path)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && *config)
        buffer_printf(path, "%s/memsnap/rules", config);
    else if (home && *home)
        buffer_printf(path, "%s/.config/memsnap/rules", home);
}

bool rules_file_read(const char *path, struct own_rules **rules, struct error *err)
{
    struct buffer usual = BUFFER_INIT;
    bool ok = true;
    *rules = NULL;
    if (path)
        return strcmp(path, "none") == 0 || read_rules(path, rules, err);
    default_path(&usual);
    if (usual.size > 0 && !usual.failed && access(usual.bytes, R_OK) == 0)
        ok = read_rules(usual.bytes, rules, err);
    buffer_release(&usual);
    return ok;
}
