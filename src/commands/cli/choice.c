#define _GNU_SOURCE /* GLOB_BRACE, strverscmp */
#include "commands/cli/choice.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/ranks/rank_name.h"
#include "base/buffer.h"
#include "commands/cli/complain.h"

#define LISTED_BYTES 100 /* bytes of the list of names or ranks in an error */

/* A file that may be chosen. */
struct found {
    char *path; /* NULL: taken */
    int64_t rank;
    bool wanted;
    char about[LOOK_ABOUT]; /* see struct look */
};

/* Unknown ranks come last. */
static int in_order(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->rank != y->rank)
        return (uint64_t)x->rank < (uint64_t)y->rank ? -1 : 1;
    return strverscmp(x->path, y->path);
}

static bool is_named_as_capture(const char *path)
{
    static const char *const endings[] = {".pickle", ".pkl", ".json", ".summary", ".gz"};
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i]);
        if (size > ending && strcmp(path + size - ending, endings[i]) == 0)
            return true;
    }
    return false;
}

static struct found *look_at_all(const struct paths *files, const struct file_choice *choice,
                                 struct error *err)
{
    struct found *found = calloc(files->count + 1, sizeof(*found));
    struct look *looks = calloc(files->count + 1, sizeof(*looks));
    if (!found || !looks) {
        free(found);
        free(looks);
        error_out_of_memory(err);
        return NULL;
    }
    look_at_files(files->items, files->count, &choice->what, looks);
    for (size_t i = 0; i < files->count; i++) {
        int64_t named = rank_of_path(files->items[i], choice->rank_pattern, NULL);
        bool told = looks[i].rank >= 0 && !(choice->rank_pattern && named >= 0);
        bool failed =
            looks[i].is_empty && choice->most == 0 && is_named_as_capture(files->items[i]);
        found[i] = (struct found){.path = files->items[i],
                                  .rank = told ? looks[i].rank : named,
                                  .wanted = looks[i].wanted || failed};
        memcpy(found[i].about, looks[i].about, LOOK_ABOUT);
    }
    free(looks);
    return found;
}

bool paths_ranks(char **paths, size_t count, const struct file_choice *choice, int64_t *ranks,
                 struct error *err)
{
    const struct paths files = {.items = paths, .count = count};
    struct found *found = look_at_all(&files, choice, err);
    for (size_t i = 0; found && i < count; i++)
        ranks[i] = found[i].rank;
    bool ok = found;
    free(found);
    return ok;
}

static void sort(struct found *found, size_t count)
{
    if (count > 0)
        qsort(found, count, sizeof(*found), in_order);
}

/* Lists "0-3, 8": the ranks of the first `count`, which ascend. */
static void list_ranks(struct buffer *list, const struct found *found, size_t count)
{
    for (size_t i = 0; i < count && found[i].rank >= 0;) {
        int64_t first = found[i].rank, last = first;
        while (i < count && (found[i].rank == last || found[i].rank == last + 1))
            last = found[i++].rank;
        buffer_printf(list, first == last ? "%s%lld" : "%s%lld-%lld", list->size ? ", " : "",
                      (long long)first, (long long)last);
    }
}

/* Keeps a list short. */
static const char *shorten(struct buffer *list)
{
    if (list->failed || !list->bytes)
        return "";
    if (list->size > LISTED_BYTES)
        strcpy(list->bytes + LISTED_BYTES - 4, " ...");
    return list->bytes;
}

static bool no_such_rank(const char *named, const struct found *found, size_t count,
                         const struct file_choice *choice, struct error *err)
{
    struct buffer list = BUFFER_INIT;
    list_ranks(&list, found, count);
    if (list.size > 0)
        error_set(err, STATUS_USAGE, "%.80s: no file of rank %lld (there are ranks %s)", named,
                  (long long)choice->rank, shorten(&list));
    else
        error_set(err, STATUS_USAGE,
                  "%.80s: no file of rank %lld: no name tells a rank (see --rank-pattern)", named,
                  (long long)choice->rank);
    buffer_release(&list);
    return false;
}

/* The part of a path after its folder. */
static const char *path_within(const char *path, const char *folder)
{
    size_t size = strlen(folder);
    while (size > 0 && folder[size - 1] == '/')
        size--;
    return strncmp(path, folder, size) == 0 && path[size] == '/' ? path + size + 1 : path;
}

/* Says what there is to choose from. Ranks help if there is a file of each. */
static bool too_many(const char *named, const struct found *found, size_t count, struct error *err)
{
    struct buffer list = BUFFER_INIT;
    bool by_rank = true;
    for (size_t i = 0; i < count; i++)
        by_rank = by_rank && found[i].rank >= 0 && (i == 0 || found[i].rank != found[i - 1].rank);
    if (by_rank)
        list_ranks(&list, found, count);
    for (size_t i = 0; !by_rank && i < count && list.size < LISTED_BYTES; i++)
        buffer_printf(&list, "%s%s", i > 0 ? ", " : "", path_within(found[i].path, named));
    error_set(err, STATUS_USAGE,
              by_rank ? "%.60s: %zu files, of ranks %s; choose one with --rank"
                      : "%.60s: %zu files (%s); name one, or use --rank",
              named, count, shorten(&list));
    buffer_release(&list);
    return false;
}

static void tell_left_out(const char *named, const struct found *found, size_t count,
                          const struct file_choice *choice)
{
    size_t left_out = 0;
    for (size_t i = 0; i < count; i++) {
        left_out += !found[i].wanted;
        if (!found[i].wanted && choice->verbose)
            complain("%s: left out: this command does not read %s", found[i].path,
                     found[i].about[0] ? found[i].about : "this file");
    }
    if (left_out > 0 && !choice->verbose)
        complain("%s: %zu file%s of other kinds left out%s", named, left_out,
                 left_out == 1 ? "" : "s", choice->has_verbose ? "; --verbose names them" : "");
}

/* Moves the files that are wanted, and of the right rank, to the front. */
static size_t choose(struct found *found, size_t count, const struct file_choice *choice)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!found[i].wanted || (choice->has_rank && found[i].rank != (int64_t)choice->rank))
            continue;
        struct found chosen = found[i];
        found[i] = found[kept];
        found[kept++] = chosen;
    }
    return kept;
}

static size_t keep_wanted(struct found *found, size_t count)
{
    return choose(found, count, &(struct file_choice){.has_rank = false});
}

/* Adds those of the files, which take the place of one argument. */
static bool take(struct paths *paths, struct paths *files, const char *named,
                 const struct file_choice *choice, struct error *err)
{
    struct found *found = look_at_all(files, choice, err);
    if (!found)
        return false;
    sort(found, files->count);
    if (choice->most == 0)
        tell_left_out(named, found, files->count, choice);
    size_t wanted = keep_wanted(found, files->count), chosen = choose(found, wanted, choice);
    bool ok = true;
    if (wanted == 0)
        ok =
            error_set(err, STATUS_BAD_INPUT,
                      "%.150s: no file in this folder is of a kind that this command reads", named);
    else if (chosen == 0)
        ok = no_such_rank(named, found, wanted, choice, err);
    else if (choice->most > 0 && chosen > 1)
        ok = too_many(named, found, chosen, err);
    for (size_t i = 0; ok && i < chosen; i++)
        ok = paths_add(paths, strdup(found[i].path), err);
    free(found);
    return ok;
}

/* Adds what a pattern stands for to `files`: files, and those in folders. */
static bool list_matches(struct paths *files, const char *pattern, struct error *err)
{
    glob_t matches;
    bool ok = true;
    if (glob(pattern, GLOB_BRACE, NULL, &matches) != 0)
        return true;
    for (size_t i = 0; ok && i < matches.gl_pathc; i++) {
        struct stat info;
        const char *path = matches.gl_pathv[i];
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            ok = folder_list(files, path, err);
        else
            ok = paths_add(files, strdup(path), err);
    }
    globfree(&matches);
    return ok;
}

static bool expand(struct paths *paths, const char *named, const struct file_choice *choice,
                   struct error *err)
{
    struct paths files = {0};
    struct stat info;
    bool exists = stat(named, &info) == 0, ok = true;
    if (exists && S_ISDIR(info.st_mode))
        ok = folder_list(&files, named, err) && take(paths, &files, named, choice, err);
    else if (!exists && strpbrk(named, "*?[{") && list_matches(&files, named, err) &&
             files.count > 0)
        ok = take(paths, &files, named, choice, err);
    else
        ok = paths_add(paths, strdup(named), err);
    paths_release(&files);
    return ok;
}

/* Keeps the files of the rank. The user named the files one by one, as a shell does for a pattern;
 * they stay in that order. */
static bool keep_rank(struct paths *paths, const struct file_choice *choice, struct error *err)
{
    struct found *found = look_at_all(paths, choice, err);
    if (!found)
        return false;
    struct paths kept = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < paths->count; i++)
        if (found[i].rank == (int64_t)choice->rank)
            ok = paths_add(&kept, strdup(found[i].path), err);
    if (ok && kept.count == 0) {
        sort(found, paths->count);
        ok = no_such_rank(paths->items[0], found, paths->count, choice, err);
    }
    free(found);
    if (ok) {
        paths_release(paths);
        *paths = kept;
    } else {
        paths_release(&kept);
    }
    return ok;
}

bool paths_expand(struct paths *paths, char *const *named, size_t count,
                  const struct file_choice *choice, struct error *err)
{
    struct paths expanded = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = strcmp(named[i], "-") == 0 ? paths_add(&expanded, strdup("-"), err)
                                        : expand(&expanded, named[i], choice, err);
    if (ok && choice->has_rank && count > 0)
        ok = keep_rank(&expanded, choice, err);
    if (ok && choice->most > 0 && expanded.count > choice->most)
        ok = error_set(err, STATUS_USAGE, "%zu files of rank %llu; name one", expanded.count,
                       (unsigned long long)choice->rank);
    if (ok)
        *paths = expanded;
    else
        paths_release(&expanded);
    return ok;
}
