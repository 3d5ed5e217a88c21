#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "commands/plot/embedded.h"
#include "commands/plot/folder.h"

#define TEMPLATE_MOST ((size_t)1 << 20) /* bytes */

/* Folders that are searched for template files, in this order. */
enum place { BY_VARIABLE, OF_USER, INSTALLED, BESIDE_PROGRAM, PLACES };

/* The path of the program itself; "" if unknown, as without /proc. */
static void find_program(char path[PATH_MAX])
{
    ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = '\0';
}

/* Adds the folder to `path`; nothing if there is no such folder. */
static void add_place(enum place place, struct buffer *path)
{
    const char *own = getenv("MEMSNAP_PLOTS"), *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    char program[PATH_MAX];
    switch (place) {
    case BY_VARIABLE:
        buffer_puts(path, own ? own : "");
        break;
    case OF_USER:
        if (config && *config)
            buffer_printf(path, "%s/memsnap/plots", config);
        else if (home && *home)
            buffer_printf(path, "%s/.config/memsnap/plots", home);
        break;
    case INSTALLED:
        buffer_puts(path, PLOTS_FOLDER);
        break;
    case BESIDE_PROGRAM: /* for an installation that was moved */
        find_program(program);
        char *slash = strrchr(program, '/');
        if (slash)
            buffer_printf(path, "%.*s/../share/memsnap/plots", (int)(slash - program), program);
        break;
    case PLACES:
        break;
    }
}

/* gnuplot runs the template as a program, and the parent of the program's folder may be writable by
 * anyone, like /tmp. A template there must therefore belong to root or to the program's owner. */
static bool is_trusted(FILE *file)
{
    char program[PATH_MAX];
    struct stat program_stat, file_stat;
    find_program(program);
    return stat(program, &program_stat) == 0 && fstat(fileno(file), &file_stat) == 0 &&
           (file_stat.st_uid == 0 || file_stat.st_uid == program_stat.st_uid);
}

static FILE *open_template(const char *name)
{
    FILE *file = NULL;
    struct buffer path = BUFFER_INIT;
    for (enum place place = 0; !file && place < PLACES; place++) {
        buffer_clear(&path);
        add_place(place, &path);
        if (path.size > 0) {
            buffer_printf(&path, "/%s", name);
            file = path.failed ? NULL : fopen(path.bytes, "re");
        }
        if (file && place == BESIDE_PROGRAM && !is_trusted(file)) {
            fclose(file);
            file = NULL;
        }
    }
    buffer_release(&path);
    return file;
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
           error_set(err, STATUS_LIMIT, "%s: the template is too large", name);
}

/* The copy embedded in the program. */
static bool add_embedded(const char *name, struct buffer *text, struct error *err)
{
    const struct plot_embedded *row = plot_embedded;
    while (row->name && strcmp(row->name, name) != 0)
        row++;
    if (!row->name)
        return error_set(err, STATUS_IO, "missing template %s", name);
    buffer_add(text, (const char *)row->bytes, row->size);
    return !text->failed || error_out_of_memory(err);
}

static bool add_template(const char *name, struct buffer *text, struct error *err)
{
    FILE *file = open_template(name);
    if (!file)
        return add_embedded(name, text, err);
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
