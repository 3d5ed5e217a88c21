#include "analysis/code/site_table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/code/frames.h"
#include "analysis/code/torch_functions.h"
#include "base/traceback.h"

struct site_table *site_table_create(struct symbols *symbols, struct error *err)
{
    struct site_table *table = calloc(1, sizeof(*table));
    if (!table) {
        error_out_of_memory(err);
        return NULL;
    }
    table->symbols = symbols;
    return table;
}

void site_table_set_rules(struct site_table *table, const struct own_rules *rules)
{
    table->rules = rules;
}

const struct own_rules *site_table_rules(const struct site_table *table)
{
    return table->rules;
}

void site_table_destroy(struct site_table *table)
{
    if (!table)
        return;
    free(table->files);
    free(table->frames);
    free(table->stacks);
    free(table);
}

struct symbols *site_table_symbols(const struct site_table *table)
{
    return table->symbols;
}

bool site_cache_cover(void *cache, size_t *count, size_t need, size_t item)
{
    if (need <= *count)
        return true;
    if (need < *count + *count / 2) /* grow geometrically while symbols are being added */
        need = *count + *count / 2;
    void **items = cache;
    void *grown = reallocarray(*items, need, item);
    if (!grown)
        return false;
    memset((char *)grown + *count * item, 0, (need - *count) * item);
    *items = grown;
    *count = need;
    return true;
}

static struct file_facts file_facts_compute(struct text file)
{
    struct file_facts facts = path_classify(file);
    if (facts.class == FILE_USER && facts.module == 0 && file.size <= UINT16_MAX)
        facts.module = (uint16_t)frame_package_at(file);
    return facts;
}

static struct file_facts file_facts_of(struct site_table *table, string_id file)
{
    struct text text = symbols_text(table->symbols, file);
    if (file >= table->file_count &&
        !site_cache_cover(&table->files, &table->file_count, symbols_string_count(table->symbols),
                          sizeof(*table->files)))
        return file_facts_compute(text);
    struct file_facts *facts = &table->files[file];
    if (facts->class == FILE_UNSEEN)
        *facts = file_facts_compute(text);
    return *facts;
}

frame_id site_original_frame(const struct site_table *table, frame_id frame)
{
    struct symbols *symbols = site_table_symbols(table);
    detail_id detail = symbols_frame_at(symbols, frame).detail;
    string_id trace =
        detail == DETAIL_NONE ? STRING_EMPTY : symbols_detail_at(symbols, detail).fx_trace;
    frame_id original;
    struct error ignored;
    bool found;
    if (trace == STRING_EMPTY ||
        !traceback_innermost(symbols, trace, &original, &found, &ignored) || !found)
        return frame;
    return original;
}

void site_table_leave(struct site_table *table, string_id file, string_id name)
{
    if (table->left_count == MOST_LEFT)
        return;
    table->left[table->left_count].file = file;
    table->left[table->left_count++].name = name;
    for (size_t i = 0; i < table->frame_count; i++)
        table->frames[i].is_known = false;
    for (size_t i = 0; i < table->stack_count; i++)
        table->stacks[i].is_known = false;
    table->included = 0; /* threads share the facts only once all are known again */
}

static bool is_left(const struct site_table *table, struct frame frame)
{
    for (size_t i = 0; i < table->left_count; i++)
        if (table->left[i].file == frame.file && table->left[i].name == frame.name)
            return true;
    return false;
}

static struct frame_facts frame_facts_compute(struct site_table *table, frame_id id)
{
    static const uint8_t kinds[] = {
        [FILE_NATIVE] = FRAME_NATIVE,
        [FILE_USER] = FRAME_USER,
        [FILE_TORCH] = FRAME_LIBRARY,
        [FILE_LIBRARY] = FRAME_LIBRARY,
    };
    struct frame frame = symbols_frame_at(table->symbols, site_original_frame(table, id));
    struct text file = symbols_text(table->symbols, frame.file);
    struct text name = symbols_text(table->symbols, frame.name);
    struct file_facts of_file = file_facts_of(table, frame.file);
    if (of_file.class == FILE_NATIVE)
        of_file.class = frame_script_class(file, name, frame.line);

    struct frame_facts facts = {
        .is_known = true, .own = OWN_RULES_NONE, .kind = kinds[of_file.class]};
    if (facts.kind == FRAME_USER && frame_handles_operators(name))
        facts.kind = FRAME_LIBRARY;
    facts.is_torch = of_file.class == FILE_TORCH;
    facts.is_package = facts.kind == FRAME_USER && of_file.module > 0;
    facts.is_top_level = facts.kind != FRAME_NATIVE && text_equals(name, "<module>");
    facts.is_wrapper =
        facts.kind == FRAME_USER && (frame_wraps_allocation(name) || is_left(table, frame));
    if (table->rules)
        facts.own = own_rules_match(table->rules, file, name);
    if (facts.kind == FRAME_NATIVE) {
        char unused[NATIVE_NAME_SIZE];
        facts.role = (uint8_t)native_classify(name, unused);
    } else {
        facts.role = (uint8_t)frame_python_role(file, of_file, name);
        struct text path = {file.bytes + of_file.module, file.size - of_file.module};
        if (facts.is_torch)
            facts.function = (uint8_t)torch_function_of(path, name);
    }
    return facts;
}

struct frame_facts *site_frame_facts(struct site_table *table, frame_id id,
                                     struct frame_facts *spare)
{
    if (id >= table->frame_count &&
        !site_cache_cover(&table->frames, &table->frame_count, symbols_frame_count(table->symbols),
                          sizeof(*table->frames))) {
        *spare = frame_facts_compute(table, id);
        return spare;
    }
    struct frame_facts *facts = &table->frames[id];
    if (!facts->is_known)
        *facts = frame_facts_compute(table, id);
    return facts;
}

enum frame_kind site_frame_kind(struct site_table *table, frame_id frame)
{
    struct frame_facts spare;
    return (enum frame_kind)site_frame_facts(table, frame, &spare)->kind;
}
