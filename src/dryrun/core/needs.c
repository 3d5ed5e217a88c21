#define _GNU_SOURCE /* memmem */
#include "dryrun/core/needs.h"

#include <stdlib.h>
#include <string.h>

#define LIBRARIES_MOST 256
#define STUBS_MOST     100000
#define NAME_MOST      512 /* longer names are not NVIDIA's: C++ symbols */

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool begins_with_one(const char *text, const char *const *prefixes)
{
    while (*prefixes && !begins(text, *prefixes))
        prefixes++;
    return *prefixes != NULL;
}

bool needs_is_library(const char *soname)
{
    static const char *const prefixes[] = {"libcu", "libnv", "libnccl", "libnpp", NULL};
    /* NVPL computes on the CPU. */
    static const char *const others[] = {"libcurl", "libcuckoo", "libnvpl", NULL};
    return begins_with_one(soname, prefixes) && !begins_with_one(soname, others) &&
           strlen(soname) < NAME_MOST && !strchr(soname, '/');
}

bool needs_is_function(const char *name)
{
    static const char *const prefixes[] = {
        "cuda", "cublas", "cudnn", "cufft",   "cusparse", "cusolver",  "curand", "cupti", "cuFile",
        "nvml", "nvrtc",  "nvtx",  "nvshmem", "nccl",     "nvJitLink", "__cuda", NULL};
    if (strlen(name) >= NAME_MOST)
        return false;
    bool is_driver = name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
    return is_driver || begins_with_one(name, prefixes);
}

/* Room for one more in an array that doubles. */
static bool reserve(void *array, size_t count, size_t entry, struct error *err)
{
    void *larger, *old;
    if (count &
        (count - 1)) /* capacities are powers of two, so there is room unless the count is one */
        return true;
    memcpy(&old, array, sizeof(old));
    larger = realloc(old, (count ? 2 * count : 1) * entry);
    if (!larger)
        return error_out_of_memory(err);
    memcpy(array, &larger, sizeof(larger));
    return true;
}

static bool add_text(char ***texts, size_t *count, const char *text, struct error *err)
{
    char *copy = strdup(text);
    if (!copy || !reserve(texts, *count, sizeof(char *), err)) {
        free(copy);
        return error_out_of_memory(err);
    }
    (*texts)[(*count)++] = copy;
    return true;
}

static struct needed_library *find_library(const struct needs *needs, const char *soname)
{
    for (size_t i = 0; i < needs->count; i++)
        if (strcmp(needs->libraries[i].soname, soname) == 0)
            return &needs->libraries[i];
    return NULL;
}

bool needs_add_library(struct needs *needs, const char *soname, struct error *err)
{
    if (find_library(needs, soname))
        return true;
    if (needs->count == LIBRARIES_MOST)
        return error_set(err, STATUS_LIMIT, "more than %d libraries of NVIDIA's", LIBRARIES_MOST);
    char *copy = strdup(soname);
    if (!copy || !reserve(&needs->libraries, needs->count, sizeof(*needs->libraries), err)) {
        free(copy);
        return error_out_of_memory(err);
    }
    needs->libraries[needs->count++] = (struct needed_library){.soname = copy};
    return true;
}

static bool add_version(struct needed_library *library, const char *version, struct error *err)
{
    for (size_t i = 0; i < library->version_count; i++)
        if (strcmp(library->versions[i], version) == 0)
            return true;
    return add_text(&library->versions, &library->version_count, version, err);
}

static bool add_stub(struct needed_library *library, const struct elf_symbol *symbol,
                     struct error *err)
{
    struct stub stub = {symbol->name, symbol->version.name};
    if (library->stub_count == STUBS_MOST)
        return error_set(err, STATUS_LIMIT, "more than %d functions of NVIDIA's", STUBS_MOST);
    stub.name = strdup(stub.name);
    stub.version = stub.version ? strdup(stub.version) : NULL;
    if (!stub.name || (symbol->version.name && !stub.version) ||
        !reserve(&library->stubs, library->stub_count, sizeof(stub), err)) {
        free((char *)stub.name);
        free((char *)stub.version);
        return error_out_of_memory(err);
    }
    library->stubs[library->stub_count++] = stub;
    return true;
}

/* The versions that the object wants of libraries, also those that no function has. */
static bool add_versions(struct needs *needs, const struct elf *elf, struct error *err)
{
    for (size_t i = 0; i < elf->version_count; i++) {
        const struct elf_version *version = &elf->versions[i];
        if (!version->name || !version->file || !needs_is_library(version->file))
            continue;
        if (!needs_add_library(needs, version->file, err) ||
            !add_version(find_library(needs, version->file), version->name, err))
            return false;
    }
    return true;
}

static bool add_symbol(struct needs *needs, const struct elf_symbol *symbol, struct error *err)
{
    const char *file = symbol->version.file;
    if (!needs_is_function(symbol->name))
        return true;
    if (symbol->is_defined)
        return add_text(&needs->defined, &needs->defined_count, symbol->name, err);
    if (symbol->is_weak && !file) /* absent is one of its possibilities */
        return true;
    if (!file || !find_library(needs, file))
        file = NEEDS_REST;
    return needs_add_library(needs, file, err) && add_stub(find_library(needs, file), symbol, err);
}

bool needs_add(struct needs *needs, const struct elf *elf, struct error *err)
{
    struct elf_symbol symbol;
    size_t at = 0;
    for (const char *name; (name = elf_next_needed(elf, &at));)
        if (needs_is_library(name) && !needs_add_library(needs, name, err))
            return false;
    if (!add_versions(needs, elf, err))
        return false;
    for (size_t i = 0; i < elf->symbols.count; i++)
        if (elf_symbol(elf, i, &symbol) && !add_symbol(needs, &symbol, err))
            return false;
    needs->machine = elf->machine;
    return true;
}

/* The length of a text that may be the name of a function of the driver's; 0 if it is none. `size`
 * bytes follow, of which the text's end is one. */
static size_t driver_name_length(const char *text, size_t size)
{
    size_t length = 2;
    if (size < 4 || text[2] < 'A' || text[2] > 'Z')
        return 0;
    while (length < size && length < NAME_MOST &&
           ((text[length] >= 'A' && text[length] <= 'Z') ||
            (text[length] >= 'a' && text[length] <= 'z') ||
            (text[length] >= '0' && text[length] <= '9') || text[length] == '_'))
        length++;
    return length < size && text[length] == '\0' ? length : 0;
}

bool needs_add_named(struct needs *needs, const char *soname, const char *bytes, size_t size,
                     struct error *err)
{
    static const char before[] = {'\0', 'c', 'u'};
    const char *end = bytes + size, *at = bytes;
    if (!memmem(bytes, size, soname, strlen(soname)))
        return true;
    if (!needs_add_library(needs, soname, err))
        return false;
    while ((at = memmem(at, (size_t)(end - at), before, sizeof(before)))) {
        at++;
        struct elf_symbol symbol = {.name = at};
        if (driver_name_length(at, (size_t)(end - at)) > 0 &&
            !add_stub(find_library(needs, soname), &symbol, err))
            return false;
    }
    return true;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_stubs(const void *a, const void *b)
{
    const struct stub *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order
                 : strcmp(left->version ? left->version : "", right->version ? right->version : "");
}

static void finish_library(struct needed_library *library, const struct needs *needs,
                           bool (*is_implemented)(const char *function))
{
    size_t kept = 0;
    if (library->stub_count > 0)
        qsort(library->stubs, library->stub_count, sizeof(*library->stubs), compare_stubs);
    for (size_t i = 0; i < library->stub_count; i++) {
        struct stub stub = library->stubs[i];
        bool is_again = kept > 0 && compare_stubs(&stub, &library->stubs[kept - 1]) == 0;
        bool is_defined =
            needs->defined_count > 0 && bsearch(&stub.name, needs->defined, needs->defined_count,
                                                sizeof(*needs->defined), compare_texts);
        if (is_again || is_defined || is_implemented(stub.name)) {
            free((char *)stub.name);
            free((char *)stub.version);
        } else {
            library->stubs[kept++] = stub;
        }
    }
    library->stub_count = kept;
}

void needs_finish(struct needs *needs, bool (*is_implemented)(const char *function))
{
    if (needs->defined_count > 0)
        qsort(needs->defined, needs->defined_count, sizeof(*needs->defined), compare_texts);
    for (size_t i = 0; i < needs->count; i++)
        finish_library(&needs->libraries[i], needs, is_implemented);
}

static void release_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

void needs_release(struct needs *needs)
{
    for (size_t i = 0; i < needs->count; i++) {
        struct needed_library *library = &needs->libraries[i];
        for (size_t j = 0; j < library->stub_count; j++) {
            free((char *)library->stubs[j].name);
            free((char *)library->stubs[j].version);
        }
        free(library->stubs);
        release_texts(library->versions, library->version_count);
        free(library->soname);
    }
    free(needs->libraries);
    release_texts(needs->defined, needs->defined_count);
    *needs = (struct needs){0};
}
