#include "analysis/code/labels.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/code/paths.h"

struct label_file {
    struct text path;
    string_id id;
    size_t shown; /* bytes at the end of path */
};

void label_add_bytes(struct buffer *text, struct text shown)
{
    while (shown.size > 0) {
        const char *nul = memchr(shown.bytes, '\0', shown.size);
        size_t size = nul ? (size_t)(nul - shown.bytes) : shown.size;
        buffer_add(text, shown.bytes, size);
        if (nul)
            buffer_puts(text, "\\x00");
        size += nul != NULL;
        shown = (struct text){shown.bytes + size, shown.size - size};
    }
}

void label_add_name(struct buffer *text, struct text name)
{
    struct text shown = text_first(name, LABEL_NAME_MOST);
    label_add_bytes(text, shown);
    if (shown.size < name.size)
        buffer_puts(text, "...");
}

void label_add_file(struct buffer *text, struct text file, size_t size)
{
    struct text wanted = {file.bytes + file.size - size, size};
    struct text shown = text_last(wanted, LABEL_NAME_MOST);
    if (shown.size < size)
        buffer_puts(text, "...");
    label_add_bytes(text, shown);
}

bool label_keep(struct symbols *symbols, struct buffer *text, const char **kept, struct error *err)
{
    string_id id;
    bool ok = !text->failed || error_out_of_memory(err);
    ok = ok && symbols_string(symbols, text->size > 0 ? text->bytes : "", text->size, &id, err);
    buffer_clear(text);
    if (ok)
        *kept = symbols_text(symbols, id).bytes;
    return ok;
}

void label_files_init(struct label_files *files, const struct symbols *symbols,
                      struct budget *budget)
{
    *files = (struct label_files){.symbols = symbols, .budget = budget};
}

void label_files_release(struct label_files *files)
{
    vec_free(files->files, files->capacity, sizeof(*files->files), files->budget);
    *files = (struct label_files){0};
}

bool label_files_add(struct label_files *files, string_id file, struct error *err)
{
    if (files->count > 0 && files->files[files->count - 1].id == file)
        return true;
    if (!vec_reserve(files->files, files->capacity, files->count + 1, files->budget, err))
        return false;
    files->files[files->count++] =
        (struct label_file){.path = symbols_text(files->symbols, file), .id = file};
    return true;
}

static int compare_ids(const void *a, const void *b)
{
    string_id x = ((const struct label_file *)a)->id, y = ((const struct label_file *)b)->id;
    return (x > y) - (x < y);
}

static size_t common_ending(struct text a, struct text b)
{
    size_t shorter = a.size < b.size ? a.size : b.size, same = 0;
    while (same < shorter && a.bytes[a.size - 1 - same] == b.bytes[b.size - 1 - same])
        same++;
    return same;
}

/* Compares the texts backwards, so that files with the same ending become neighbours. */
static int compare_endings(const void *a, const void *b)
{
    struct text x = ((const struct label_file *)a)->path;
    struct text y = ((const struct label_file *)b)->path;
    size_t same = common_ending(x, y);
    if (same == x.size || same == y.size)
        return (x.size > y.size) - (x.size < y.size);
    unsigned char cx = (unsigned char)x.bytes[x.size - 1 - same];
    unsigned char cy = (unsigned char)y.bytes[y.size - 1 - same];
    return (cx > cy) - (cx < cy);
}

/* The size of the shortest ending of whole path components that is longer than `same` bytes. */
static size_t ending_longer_than(struct text path, size_t same)
{
    size_t size = same < path.size ? same + 1 : path.size;
    while (size < path.size) {
        char before = path.bytes[path.size - size - 1];
        if (before == '/' || before == '\\')
            break;
        size++;
    }
    return size;
}

void label_files_settle(struct label_files *files)
{
    if (files->count == 0)
        return;
    qsort(files->files, files->count, sizeof(*files->files), compare_ids);
    size_t kept = 1;
    for (size_t i = 1; i < files->count; i++)
        if (files->files[i].id != files->files[kept - 1].id)
            files->files[kept++] = files->files[i];
    files->count = kept;

    qsort(files->files, files->count, sizeof(*files->files), compare_endings);
    size_t same_before = 0;
    for (size_t i = 0; i < files->count; i++) {
        struct label_file *file = &files->files[i];
        size_t same_after = i + 1 < files->count ? common_ending(file->path, file[1].path) : 0;
        size_t base = path_base(file->path).size, same = same_before;
        if (same_after > same)
            same = same_after;
        file->shown = same < base ? base : ending_longer_than(file->path, same);
        same_before = same_after;
    }
    qsort(files->files, files->count, sizeof(*files->files), compare_ids);
}

size_t label_files_size(const struct label_files *files, string_id file)
{
    struct label_file key = {.id = file};
    const struct label_file *found = files->count > 0 ? bsearch(&key, files->files, files->count,
                                                                sizeof(*files->files), compare_ids)
                                                      : NULL;
    return found ? found->shown : 0;
}
