#include "analysis/diff/renamed.h"

#include "analysis/code/paths.h"

/* The Python files of one side of which no call site is matched. */
struct alone {
    string_id file;
    bool any, many;
};

static bool is_python(const struct diff_item *item)
{
    return item->site->place.kind == DIFF_PYTHON;
}

/* True if no call site of the item's file, or of its function in that file, is matched. */
static bool is_alone(const struct diff_matcher *matcher, const struct diff_item *item,
                     bool by_function)
{
    const struct diff_place *place = &item->site->place;
    for (size_t i = 0; i < matcher->item_count; i++) {
        const struct diff_item *other = &matcher->items[i];
        if (other->row != DIFF_NONE && other->side == item->side &&
            other->site->place.file == place->file &&
            (!by_function || other->site->place.function == place->function))
            return false;
    }
    return true;
}

/* True for a file of the program itself, not of torch or of an installed package. */
static bool is_own(const struct diff_matcher *matcher, string_id file)
{
    const struct file_facts facts = path_classify(symbols_text(matcher->symbols, file));
    return facts.class == FILE_USER && facts.module == 0;
}

static void find_alone(const struct diff_matcher *matcher, bool own_only, struct alone alone[2])
{
    for (size_t i = 0; i < matcher->item_count; i++) {
        const struct diff_item *item = &matcher->items[i];
        struct alone *found = &alone[item->side];
        string_id file = item->site->place.file;
        if (item->row != DIFF_NONE || !is_python(item) || found->many ||
            (found->any && found->file == file) || (own_only && !is_own(matcher, file)) ||
            !is_alone(matcher, item, false))
            continue;
        found->many = found->any;
        found->any = true;
        found->file = file;
    }
}

/* Finds one file of each side. */
static bool find_pair(const struct diff_matcher *matcher, bool own_only, struct alone alone[2])
{
    alone[0] = alone[1] = (struct alone){0};
    find_alone(matcher, own_only, alone);
    return alone[0].any && !alone[0].many && alone[1].any && !alone[1].many;
}

bool diff_join_files(struct diff_matcher *matcher)
{
    struct alone alone[2];
    if (!find_pair(matcher, false, alone) && !find_pair(matcher, true, alone))
        return false;
    for (size_t i = 0; i < matcher->item_count; i++) {
        struct diff_item *item = &matcher->items[i];
        if (item->row == DIFF_NONE && item->site->place.file == alone[item->side].file)
            item->file = alone[0].file;
    }
    return true;
}

/* A hash of what the function allocates, in the order of its lines: operators and categories. */
static uint64_t signature_of(const struct diff_matcher *matcher, const struct diff_item *of)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < matcher->item_count; i++) {
        const struct diff_item *item = &matcher->items[i];
        const struct diff_place *place = &item->site->place;
        if (item->side != of->side || place->file != of->site->place.file ||
            place->function != of->site->place.function)
            continue;
        const uint64_t parts[] = {place->op, (uint64_t)place->category, (uint64_t)place->source};
        for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
            hash = (hash ^ parts[k]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Lists the functions that are not matched, by file and signature, those of the first side first.
 */
static void list_functions(struct diff_matcher *matcher)
{
    matcher->entry_count = 0;
    for (size_t i = 0; i < matcher->item_count; i++) {
        const struct diff_item *item = &matcher->items[i];
        if (item->row == DIFF_NONE && is_python(item) && is_alone(matcher, item, true))
            matcher->entries[matcher->entry_count++] =
                (struct diff_entry){{item->file, signature_of(matcher, item),
                                     (uint64_t)item->side << 32 | item->site->place.function},
                                    (uint32_t)i};
    }
    diff_entries_sort(matcher);
}

/* Entries [first, end) have one file and signature: one function of each side, or more. */
static bool join_functions(struct diff_matcher *matcher, size_t first, size_t end)
{
    const struct diff_entry *entries = matcher->entries;
    uint64_t low = entries[first].key[2], high = entries[end - 1].key[2];
    if (low >> 32 == high >> 32)
        return false;
    for (size_t i = first; i < end; i++)
        if (entries[i].key[2] != low && entries[i].key[2] != high)
            return false;
    for (size_t i = first; i < end; i++)
        matcher->items[entries[i].item].function = (string_id)low;
    return true;
}

bool diff_join_functions(struct diff_matcher *matcher)
{
    bool any = false;
    list_functions(matcher);
    for (size_t i = 0, end; i < matcher->entry_count; i = end) {
        for (end = i + 1; end < matcher->entry_count &&
                          matcher->entries[end].key[0] == matcher->entries[i].key[0] &&
                          matcher->entries[end].key[1] == matcher->entries[i].key[1];
             end++)
            ;
        any = join_functions(matcher, i, end) || any;
    }
    return any;
}
