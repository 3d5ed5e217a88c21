#include "model/annotation_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

static bool family_of(struct symbols *symbols, string_id name, uint64_t *family, struct error *err)
{
    struct text text = symbols_text(symbols, name);
    const char *hash = memchr(text.bytes, '#', text.size);
    size_t size = hash ? (size_t)(hash - text.bytes) + 1 : text.size;
    struct text rest = {text.bytes + size, text.size - size};
    int64_t number;
    string_id id = name;
    if (hash && rest.size > 0 && !symbols_string(symbols, text.bytes, size, &id, err))
        return false;
    *family = (uint64_t)id << 1 | text_number(rest, &number);
    return true;
}

static int compare(const struct annotation_place *x, const struct annotation_place *y, bool lowest)
{
    if (lowest && x->family != y->family)
        return x->family < y->family ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->family != y->family)
        return x->family < y->family ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_device(const void *a, const void *b)
{
    return compare(a, b, false);
}

static int by_family(const void *a, const void *b)
{
    return compare(a, b, true);
}

static void find_lowest(struct annotation_index *index)
{
    memcpy(index->lowest, index->places, index->count * sizeof(*index->places));
    qsort(index->lowest, index->count, sizeof(*index->lowest), by_family);
    for (size_t i = 0; i < index->count; i++)
        if (i == 0 || index->lowest[i].family != index->lowest[index->lowest_count - 1].family)
            index->lowest[index->lowest_count++] = index->lowest[i];
}

bool annotation_index_make(struct annotation_index *index, const struct annotation_row *rows,
                           size_t count, struct symbols *symbols, struct budget *budget,
                           struct error *err)
{
    if (count == 0)
        return true;
    if (count > UINT32_MAX)
        return error_set(err, STATUS_LIMIT, "%zu annotations are too many", count);
    if (!vec_reserve(index->places, index->capacity, count, budget, err) ||
        !vec_reserve(index->lowest, index->lowest_capacity, count, budget, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct annotation_place *place = &index->places[i];
        *place = (struct annotation_place){.device = rows[i].device, .index = (uint32_t)i};
        if (!family_of(symbols, rows[i].name, &place->family, err))
            return false;
    }
    index->count = count;
    qsort(index->places, count, sizeof(*index->places), by_device);
    find_lowest(index);
    return true;
}

/* The number of places that sort before `wanted`. */
static size_t before(const struct annotation_index *index, struct annotation_place wanted)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&index->places[middle], &wanted, false) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The places of a device with families from `first` to `last`, inclusive. */
static struct annotation_range range_of(const struct annotation_index *index, uint32_t device,
                                        uint64_t first, uint64_t last)
{
    size_t from = before(index, (struct annotation_place){.device = device, .family = first});
    size_t end = before(index, (struct annotation_place){last + 1, device, 0});
    return (struct annotation_range){index->places + from, end - from};
}

struct annotation_range annotations_of(const struct annotation_index *index, uint32_t device)
{
    return index->count > 0 ? range_of(index, device, 0, UINT64_MAX - 1)
                            : (struct annotation_range){0};
}

bool annotations_like(const struct annotation_index *index, uint32_t device, const char *prefix,
                      bool numbered, struct symbols *symbols, struct annotation_range *range,
                      struct error *err)
{
    string_id id;
    *range = (struct annotation_range){0};
    if (index->count == 0)
        return true;
    if (!symbols_string(symbols, prefix, strlen(prefix), &id, err))
        return false;
    uint64_t first = (uint64_t)id << 1 | numbered, last = (uint64_t)id << 1 | 1;
    *range = range_of(index, device, first, last);
    const struct annotation_place *found = NULL;
    for (uint64_t family = first; range->count == 0 && family <= last; family++) {
        const struct annotation_place *lowest = index->lowest;
        size_t at = bisect_less_64(&lowest->family, sizeof(*lowest), index->lowest_count, family);
        if (at < index->lowest_count && lowest[at].family == family &&
            (!found || lowest[at].device < found->device))
            found = &lowest[at];
    }
    if (found)
        *range = range_of(index, found->device, first, last);
    return true;
}
