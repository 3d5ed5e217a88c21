#include "base/budget.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/pages.h"
#include "base/units.h"

/* Used when sysinfo() fails, which happens on Linux only if a filter blocks it. */
#define UNKNOWN_MACHINE_BYTES (UINT64_C(4) << 30)

/* The number in a one-line file. No limit if the file is missing or says "max". */
static uint64_t limit_in(const char *root, const char *mount, const char *group, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s%s/%s", root, mount, group, name);
    if (length < 0 || (size_t)length >= sizeof(path))
        return UINT64_MAX;

    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    uint64_t limit;
    if (fscanf(file, "%" SCNu64, &limit) != 1)
        limit = UINT64_MAX;
    fclose(file);
    return limit;
}

/* The lowest limit of `group` and its ancestors. In a container the path may be the host's and not
 * exist here; only the groups that are mounted then count. */
static uint64_t lowest_limit(const char *root, const char *mount, char *group, const char *name)
{
    uint64_t lowest = UINT64_MAX;
    for (;;) {
        uint64_t limit = limit_in(root, mount, group, name);
        if (limit < lowest)
            lowest = limit;
        char *slash = strrchr(group, '/');
        if (!slash)
            return lowest;
        *slash = '\0';
    }
}

static bool names_memory(const char *controllers, size_t size)
{
    static const char wanted[] = "memory";
    const char *end = controllers + size;
    while (controllers < end) {
        const char *comma = memchr(controllers, ',', (size_t)(end - controllers));
        const char *stop = comma ? comma : end;
        if ((size_t)(stop - controllers) == sizeof(wanted) - 1 &&
            memcmp(controllers, wanted, sizeof(wanted) - 1) == 0)
            return true;
        controllers = stop + 1;
    }
    return false;
}

/* One line of /proc/self/cgroup: "ID:CONTROLLERS:PATH", no controllers in version 2. */
static uint64_t limit_of_line(const char *root, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return UINT64_MAX;
    controllers++;
    size_t size = (size_t)(group - controllers);
    group++;
    if (size == 0)
        return lowest_limit(root, "", group, "memory.max");
    if (names_memory(controllers, size))
        return lowest_limit(root, "/memory", group, "memory.limit_in_bytes");
    return UINT64_MAX;
}

static uint64_t cgroup_limit(const char *root)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    if (length < 0 || (size_t)length >= sizeof(path))
        return UINT64_MAX;

    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    uint64_t lowest = UINT64_MAX;
    char line[PATH_MAX];
    while (fgets(line, sizeof(line), file)) {
        uint64_t limit = limit_of_line(root, line);
        if (limit < lowest)
            lowest = limit;
    }
    fclose(file);
    return lowest;
}

uint64_t machine_memory(const char *root)
{
    uint64_t memory = UNKNOWN_MACHINE_BYTES;
    struct sysinfo info;
    if (sysinfo(&info) == 0)
        memory = (uint64_t)info.totalram * info.mem_unit;
    uint64_t limit = cgroup_limit(root);
    return limit < memory ? limit : memory;
}

#define SMALLEST_VEC_BYTES 64

size_t budget_default_limit(void)
{
    uint64_t limit = machine_memory("") / 4 * 3;
    return limit < SIZE_MAX ? (size_t)limit : SIZE_MAX;
}

bool budget_take(struct budget *budget, size_t bytes, struct error *err)
{
    size_t used = __atomic_load_n(&budget->used, __ATOMIC_RELAXED);
    bool fits;
    do
        fits = bytes <= budget->limit - used;
    while (fits && !__atomic_compare_exchange_n(&budget->used, &used, used + bytes, true,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    if (!fits) {
        char limit[UNITS_TEXT_SIZE];
        uint64_t shown = budget->limit < INT64_MAX ? budget->limit : INT64_MAX;
        return error_set(err, STATUS_LIMIT, "more than the memory limit of %s is needed",
                         units_bytes(limit, (int64_t)shown, UNIT_AUTO));
    }
    return true;
}

void budget_give(struct budget *budget, size_t bytes)
{
    __atomic_fetch_sub(&budget->used, bytes, __ATOMIC_RELAXED);
}

bool budget_is_ample(const struct budget *budget)
{
    return __atomic_load_n(&budget->used, __ATOMIC_RELAXED) <= budget->limit / 4;
}

/* Doubles the capacity, but returns at least `need` and at least a minimal allocation. */
static size_t next_capacity(size_t capacity, size_t need, size_t item)
{
    size_t next = capacity <= SIZE_MAX / 2 ? capacity * 2 : SIZE_MAX;
    if (next < SMALLEST_VEC_BYTES / item)
        next = SMALLEST_VEC_BYTES / item;
    return next > need ? next : need;
}

bool vec_grow_beyond(void **data, size_t *capacity, size_t need, size_t item, struct budget *budget,
                     struct error *err)
{
    size_t next = next_capacity(*capacity, need, item);
    size_t bytes;
    if (__builtin_mul_overflow(next, item, &bytes))
        return error_set(err, STATUS_LIMIT, "%zu items of %zu bytes are too many", next, item);

    size_t more = bytes - *capacity * item;
    if (!budget_take(budget, more, err))
        return false;

    /* `data` points to a pointer of the caller's own type: it is copied to respect strict aliasing.
     */
    void *old;
    memcpy(&old, data, sizeof(old));
    void *grown = pages_resize(old, bytes);
    if (!grown) {
        budget_give(budget, more);
        return error_out_of_memory(err);
    }
    memcpy(data, &grown, sizeof(grown));
    *capacity = next;
    return true;
}

void vec_free(void *data, size_t capacity, size_t item, struct budget *budget)
{
    if (!data)
        return;
    pages_free(data);
    budget_give(budget, capacity * item);
}
