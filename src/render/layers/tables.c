#include <string.h>

#include "render/core/table.h"
#include "render/layers/internal.h"

#define MOST_LEVELS 40 /* more than the tree has */

void layers_path(const struct layers_report *report, uint32_t node, bool whole, struct buffer *out)
{
    uint32_t path[MOST_LEVELS];
    size_t length = 0;
    while (node != 0 && length < MOST_LEVELS) {
        path[length++] = node;
        node = report->nodes[node].parent;
        if (!whole && report->nodes[node].shown)
            break;
    }
    while (length-- > 0) {
        struct text component = report->nodes[path[length]].component;
        buffer_add(out, component.bytes, component.size);
        buffer_puts(out, length ? "." : "");
    }
}

#define NAME_LEAST 20 /* columns for the name of a module */

static void title(const struct page *page, const char *text)
{
    fprintf(page->out, "\n%*s%s", LAYERS_INDENT, "", page_style(page, STYLE_TITLE));
    page_paragraph(page, LAYERS_INDENT, LAYERS_INDENT, text);
    fputs(page_plain(page), page->out);
}

static bool finish(struct table *table, const struct page *page)
{
    table_print(table, page, LAYERS_INDENT);
    bool ok = !table_failed(table);
    table_release(table);
    return ok;
}

static void add_name(struct table *table, const struct layer_trace *trace, string_id name)
{
    struct text text = symbols_text(trace->symbols, name);
    table_add_input(table, text.size ? text.bytes : "(the model)", text.size ? text.size : 11);
}

static void add_bytes(struct table *table, const struct page *page, int64_t bytes)
{
    char text[UNITS_TEXT_SIZE];
    table_add(table, page_bytes(page, text, bytes));
}

/* Indents a name by the number of its ancestors that have a line. The name is the path from the
 * last of them. */
static void add_label(struct table *table, const struct layers_report *report, uint32_t id)
{
    struct buffer text = BUFFER_INIT;
    for (uint32_t at = report->nodes[id].parent; at != 0; at = report->nodes[at].parent)
        buffer_puts(&text, report->nodes[at].shown ? "  " : "");
    layers_path(report, id, false, &text);
    table_add_input(table, text.failed || !text.size ? "" : text.bytes, text.size);
    buffer_release(&text);
}

/* The node after `id`; children that have lines come first. LAYERS_NONE at the end. */
static uint32_t next_node(const struct layers_report *report, uint32_t id)
{
    const struct layers_node *nodes = report->nodes;
    if (nodes[id].expanded && nodes[id].first_child != LAYERS_NONE)
        return nodes[id].first_child;
    while (id != LAYERS_NONE && nodes[id].next_sibling == LAYERS_NONE)
        id = nodes[id].parent;
    return id == LAYERS_NONE ? LAYERS_NONE : nodes[id].next_sibling;
}

static void add_node(struct table *table, const struct page *page,
                     const struct layers_report *report, const struct layers_node *node)
{
    char text[UNITS_TEXT_SIZE];
    add_bytes(table, page, node->activations);
    table_add(table, page_share(text, node->activations, report->total_activations));
    add_bytes(table, page, node->params);
    if (layers_gathered(report))
        add_bytes(table, page, node->all_gathered);
}

/* The total of the root's children that have no line of their own. */
static void add_remainder(struct table *table, const struct page *page,
                          const struct layers_report *report)
{
    struct layers_node rest = {.activations = 0};
    char text[64];
    for (uint32_t n = report->nodes[0].first_child; n != LAYERS_NONE;
         n = report->nodes[n].next_sibling) {
        const struct layers_node *node = &report->nodes[n];
        if (node->shown || node->expanded)
            continue;
        rest.activations += node->activations;
        rest.params += node->params;
        rest.all_gathered += node->all_gathered;
    }
    add_node(table, page, report, &rest);
    snprintf(text, sizeof(text), "(%zu more)", report->cut_nodes);
    table_add(table, text);
}

bool layers_tree(const struct page *page, const struct layers_report *report)
{
    static const struct table_column module = {"module", COLUMN_TEXT, CUT_MIDDLE, NAME_LEAST, 0};
    struct table_column columns[5] = {
        {.title = "activations"}, {.title = "share"}, {.title = "parameters"}, module};
    size_t column_count = 4;
    if (layers_gathered(report)) {
        columns[3] = (struct table_column){.title = "gathered", .optional = 1};
        columns[column_count++] = module;
    }
    struct table table;
    title(page, "By module");
    table_init(&table, columns, column_count);
    if (report->nodes[0].module != LAYERS_NONE) {
        add_node(&table, page, report, &report->nodes[0]);
        table_add(&table, "(the model)");
    }
    for (uint32_t id = next_node(report, 0); id != LAYERS_NONE; id = next_node(report, id)) {
        if (!report->nodes[id].shown)
            continue;
        add_node(&table, page, report, &report->nodes[id]);
        add_label(&table, report, id);
    }
    if (report->cut_nodes > 0)
        add_remainder(&table, page, report);
    return finish(&table, page);
}

bool layers_producers(const struct page *page, const struct layers_analysis *analysis)
{
    static const struct table_column columns[] = {
        {.title = "size"},
        {.title = "share"},
        {.title = "trace", .optional = 1},
        {"module", COLUMN_TEXT, CUT_MIDDLE, NAME_LEAST, 0},
    };
    const struct layers_report *report = analysis->report;
    size_t count = report->producer_count;
    char text[UNITS_TEXT_SIZE];
    struct table table;
    if (count == 0)
        return true;
    if (analysis->producers && count > analysis->producers)
        count = analysis->producers;
    title(page, "Largest producers of activations, forward");
    table_init(&table, columns, 4);
    for (size_t i = 0; i < count; i++) {
        const struct layer_row *row = &report->trace->rows[report->producers[i]];
        add_bytes(&table, page, row->memory_activations);
        table_add(&table, page_share(text, row->memory_activations, report->total_activations));
        table_add(&table, units_count(text, report->producers[i]));
        add_name(&table, report->trace, row->module_name);
    }
    return finish(&table, page);
}

static void advice(const struct page *page, const struct layers_report *report)
{
    char saved[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE], all[UNITS_TEXT_SIZE],
        largest[UNITS_TEXT_SIZE], text[768];
    snprintf(
        text, sizeof(text),
        "Sharded over %u ranks (FSDP), they take %s off each (%s of the peak); their gradients "
        "and the optimizer's states, which a layer trace does not show, are as large each, and "
        "shrink with them. In return each pass gathers %s, and a block is whole while it runs: "
        "%s for the largest.",
        report->options.ranks, page_bytes(page, saved, report->shard_saved),
        page_share(share, report->shard_saved, report->allocated.bytes),
        page_bytes(page, all, report->nodes[0].params),
        page_bytes(page, largest, report->nodes[report->shards[0].node].params));
    fputc('\n', page->out);
    fprintf(page->out, "%*s", LAYERS_INDENT, "");
    page_paragraph(page, LAYERS_INDENT, LAYERS_INDENT, text);
    if (report->total_activations <= 2 * report->shard_saved)
        return;
    fprintf(page->out, "%*s", LAYERS_INDENT, "");
    page_paragraph(page, LAYERS_INDENT, LAYERS_INDENT,
                   "Activations are the larger part here: checkpointing gains more. Where to put "
                   "it: memsnap suggest FILE --checkpoints 2.");
}

static void add_shard(struct table *table, const struct page *page,
                      const struct layers_report *report, const struct layers_shard *shard)
{
    struct buffer name = BUFFER_INIT;
    char text[UNITS_TEXT_SIZE];
    layers_path(report, shard->node, true, &name);
    add_bytes(table, page, report->nodes[shard->node].params);
    add_bytes(table, page, shard->saved_bytes);
    table_add(table, page_share(text, shard->saved_bytes, report->allocated.bytes));
    if (name.size && !name.failed)
        table_add_input(table, name.bytes, name.size);
    else
        table_add(table, "(the model)");
    table_add(table, shard->worth ? "yes" : "no");
    buffer_release(&name);
}

/* The total of the blocks that have no line of their own. */
static void add_other_shards(struct table *table, const struct page *page,
                             const struct layers_report *report, size_t from)
{
    int64_t params = 0, saved = 0;
    size_t worth = 0;
    char text[UNITS_TEXT_SIZE];
    for (size_t i = from; i < report->shard_count; i++) {
        params += report->nodes[report->shards[i].node].params;
        saved += report->shards[i].saved_bytes;
        worth += report->shards[i].worth;
    }
    add_bytes(table, page, params);
    add_bytes(table, page, saved);
    table_add(table, page_share(text, saved, report->allocated.bytes));
    snprintf(text, sizeof(text), "(%zu more)", report->shard_count - from);
    table_add(table, text);
    snprintf(text, sizeof(text), "%zu of them", worth);
    table_add(table, text);
}

bool layers_sharding(const struct page *page, const struct layers_analysis *analysis)
{
    static const struct table_column columns[] = {
        {.title = "parameters"},
        {.title = "saved a rank"},
        {.title = "of the peak", .optional = 1},
        {"block", COLUMN_TEXT, CUT_MIDDLE, NAME_LEAST, 0},
        {"worth it", .kind = COLUMN_LABEL, .optional = 2},
    };
    const struct layers_report *report = analysis->report;
    size_t count = report->shard_count;
    struct table table;
    if (count == 0)
        return true;
    if (layers_gathered(report)) {
        title(page, "Parameters are already sharded; gathered bytes are listed above");
        return true;
    }
    if (analysis->shards && count > analysis->shards)
        count = analysis->shards;
    title(page, "Parameters by block, and what sharding them saves");
    table_init(&table, columns, 5);
    for (size_t i = 0; i < count; i++)
        add_shard(&table, page, report, &report->shards[i]);
    if (count < report->shard_count)
        add_other_shards(&table, page, report, count);
    if (!finish(&table, page))
        return false;
    advice(page, report);
    return true;
}
