#include "commands/cli/rules_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/cli/small_file.h"

#define SIZE_MOST ((size_t)1 << 20)

static bool read_rules(FILE *file, const char *path, struct own_rules **rules, struct error *err)
{
    struct buffer text = BUFFER_INIT;
    struct own_rules *made = NULL;
    bool ok = small_file_read(file, path, SIZE_MOST, "rules", &text, err);
    if (ok)
        made = own_rules_parse(path, text.bytes ? text.bytes : "", text.size, err);
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
    struct buffer found = BUFFER_INIT;
    bool is_default = !path, ok = true;
    if (is_default) {
        default_path(&found);
        path = found.size > 0 && !found.failed ? found.bytes : "none";
    }
    *rules = NULL;
    FILE *file = strcmp(path, "none") == 0 ? NULL : fopen(path, "re");
    if (file) {
        ok = read_rules(file, path, rules, err);
        fclose(file);
    } else if (!is_default && strcmp(path, "none") != 0) {
        ok = error_set(err, STATUS_IO, "%.120s: %s", path, strerror(errno));
    }
    buffer_release(&found);
    return ok;
}
