#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "commands/plot/folder.h"

#define TEMPLATE_MOST ((size_t)1 << 20) /* bytes */

/* The folder of the program itself, followed by `below`. */
static void beside_program(struct buffer *path, const char *below)
{
    char program[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[size > 0 ? size : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash)
        buffer_printf(path, "%.*s%s", (int)(slash - program), program, below);
}

/* The folders to look in, by number; false behind the last. What is not there is "". */
static bool folder_at(size_t number, struct buffer *path)
{
    const char *own = getenv("MEMSNAP_PLOTS"), *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    switch (number) {
    case 0:
        buffer_puts(path, own ? own : "");
        return true;
    case 1:
        if (config && *config)
            buffer_printf(path, "%s/memsnap/plots", config);
        else if (home && *home)
            buffer_printf(path, "%s/.config/memsnap/plots", home);
        return true;
    case 2:
        buffer_puts(path, PLOTS_FOLDER);
        return true;
    case 3: /* built in a folder of the source tree */
        beside_program(path, "/../share/plots");
        return true;
    case 4: /* built in the source tree itself */
        beside_program(path, "/share/plots");
        return true;
    default:
        return false;
    }
}

static bool read_file(FILE *file, const char *name, struct buffer *text, struct error *err)
{
    char bytes[4096];
    size_t count;
    while ((count = fread(bytes, 1, sizeof(bytes), file)) > 0 && text->size <= TEMPLATE_MOST)
        buffer_add(text, bytes, count);
    if (ferror(file))
        return error_set(err, STATUS_IO, "%s: %s", name, strerror(errno));
    return (!text->failed && text->size <= TEMPLATE_MOST) ||
           error_set(err, STATUS_LIMIT, "%s: too large for a template", name);
}

static bool add_template(const char *name, struct buffer *text, struct error *err)
{
    FILE *file = NULL;
    struct buffer path = BUFFER_INIT;
    for (size_t i = 0; !file && folder_at(i, &path); i++) {
        if (path.size > 0) {
            buffer_printf(&path, "/%s", name);
            file = path.failed ? NULL : fopen(path.bytes, "re");
        }
        buffer_clear(&path);
    }
    buffer_release(&path);
    if (!file)
        return error_set(err, STATUS_IO,
                         "the template %s is not in %s; set MEMSNAP_PLOTS to the "
                         "folder share/plots of memsnap",
                         name, PLOTS_FOLDER);
    bool ok = read_file(file, name, text, err);
    fclose(file);
    return ok;
}

bool plot_templates_read(char *texts[PLOT_TEMPLATES_MOST], const char *const *names,
                         struct error *err)
{
    char *read[PLOT_TEMPLATES_MOST] = {NULL};
    for (size_t i = 0; i < PLOT_TEMPLATES_MOST && names[i]; i++) {
        struct buffer text = BUFFER_INIT;
        if (!add_template(names[i], &text, err)) {
            buffer_release(&text);
            plot_templates_release(read);
            return false;
        }
        read[i] = text.bytes ? text.bytes : calloc(1, 1);
    }
    memcpy(texts, read, sizeof(read));
    return true;
}

void plot_templates_release(char *texts[PLOT_TEMPLATES_MOST])
{
    for (size_t i = 0; i < PLOT_TEMPLATES_MOST; i++)
        free(texts[i]);
}
