#include <string.h>

#include "render/layers/internal.h"

#define MOST_LEVELS 40 /* more than the tree has */
#define NAME_LEAST  20 /* columns for the name of a module */

/* Adds the components of the path to a node, unescaped and joined by dots: either all of them, or
 * those below its nearest ancestor that has a line in the report. Adds nothing for the root. */
static void add_path(const struct layers_report *report, uint32_t node, bool whole,
                     struct buffer *out)
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

void layers_title(const struct page *page, size_t indent, const char *text)
{
    fprintf(page->out, "\n%*s%s", (int)indent, "", page_style(page, STYLE_TITLE));
    page_paragraph(page, indent, LAYERS_INDENT, text);
    fputs(page_plain(page), page->out);
}

#define NAME .cut = CUT_MIDDLE, .least = NAME_LEAST

/* A node of the tree, or the sum of several. */
struct tree_row {
    int64_t activations, params, all_gathered;
    struct text label;
};

#define ROW struct tree_row
#define TREE_SIZES                                                                                 \
    FIELD_AS(ROW, BYTES, NULL, activations, .title = "activations"),                               \
        FIELD_AS(ROW, SHARE, NULL, activations, .title = "share"),                                 \
        FIELD_AS(ROW, BYTES, NULL, params, .title = "parameters")
#define TREE_LABEL FIELD_AS(ROW, TEXT, NULL, label, .title = "module", NAME)
static const struct row_type tree_type = ROW_TYPE("tree", ROW, TREE_SIZES, TREE_LABEL);
static const struct row_type gathered_tree_type = ROW_TYPE(
    "tree", ROW, TREE_SIZES,
    FIELD_AS(ROW, BYTES, NULL, all_gathered, .title = "gathered", .optional = 1), TREE_LABEL);
#undef ROW

#define ROW struct layers_row
const struct row_type layers_producer_type = ROW_TYPE(
    "top_forward_activation_producers", ROW,
    FIELD_AS(ROW, MODULE, "module_name", row.module_name, .title = "module", .column = 1, NAME),
    FIELD_AS(ROW, BYTES, "memory_activations", row.memory_activations, .title = "size"),
    FIELD_AS(ROW, SHARE, NULL, row.memory_activations, .title = "share"),
    FIELD_AS(ROW, BYTES, "memory_diff", row.memory_diff),
    FIELD_AS(ROW, BYTES, "module_params", row.module_params),
    FIELD(ROW, COUNT, trace, .title = "trace", .optional = 1));
#undef ROW

#define ROW struct layers_block
const struct row_type layers_block_type =
    ROW_TYPE("blocks", ROW, FIELD(ROW, TEXT, module_name),
             FIELD(ROW, BYTES, parameter_bytes, .title = "parameters"),
             FIELD(ROW, BYTES, saved_bytes, .title = "saved a rank"),
             FIELD_AS(ROW, SHARE, NULL, saved_bytes, .title = "of the peak", .optional = 1),
             FIELD_AS(ROW, TEXT, NULL, module_name, .title = "block", .flags = FIELD_SKIP_ZERO,
                      .absent = "(the model)", NAME),
             FIELD(ROW, FLAG, worth),
             FIELD_AS(ROW, WORD, NULL, worth_words, .title = "worth it", .optional = 2));
#undef ROW

/* The name is the path from the last ancestor that has a line, and indented by their number. */
static void add_node(struct row_table *table, const struct layers_report *report, uint32_t id)
{
    const struct layers_node *node = &report->nodes[id];
    struct buffer label = BUFFER_INIT;
    for (uint32_t at = node->parent; at != 0; at = report->nodes[at].parent)
        buffer_puts(&label, report->nodes[at].shown ? "  " : "");
    add_path(report, id, false, &label);
    const struct tree_row row = {node->activations,
                                 node->params,
                                 node->all_gathered,
                                 {label.failed || !label.size ? "" : label.bytes, label.size}};
    row_table_add(table, &row);
    buffer_release(&label);
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

/* The total of the root's children that have no line of their own. */
static void add_remainder(struct row_table *table, const struct layers_report *report)
{
    char text[64];
    int size = snprintf(text, sizeof(text), "(%zu more)", report->cut_nodes);
    struct tree_row rest = {.label = {text, (size_t)size}};
    for (uint32_t n = report->nodes[0].first_child; n != LAYERS_NONE;
         n = report->nodes[n].next_sibling) {
        const struct layers_node *node = &report->nodes[n];
        if (node->shown || node->expanded)
            continue;
        rest.activations += node->activations;
        rest.params += node->params;
        rest.all_gathered += node->all_gathered;
    }
    row_table_add(table, &rest);
}

bool layers_tree(const struct page *page, const struct layers_report *report)
{
    const struct layers_node *root = &report->nodes[0];
    struct row_table table;
    layers_title(page, LAYERS_INDENT, "By module");
    row_table_init(&table, layers_gathered(report) ? &gathered_tree_type : &tree_type, page,
                   &(struct field_context){.whole = report->total_activations});
    if (root->module != LAYERS_NONE) {
        const struct tree_row row = {
            root->activations, root->params, root->all_gathered, {"(the model)", 11}};
        row_table_add(&table, &row);
    }
    for (uint32_t id = next_node(report, 0); id != LAYERS_NONE; id = next_node(report, id))
        if (report->nodes[id].shown)
            add_node(&table, report, id);
    if (report->cut_nodes > 0)
        add_remainder(&table, report);
    return row_table_print(&table, page, LAYERS_INDENT);
}

struct layers_row layers_producer(const struct layers_report *report, size_t i)
{
    uint32_t trace = report->producers[i];
    return (struct layers_row){.row = report->trace->rows[trace], .trace = trace};
}

bool layers_producers(const struct page *page, const struct layers_analysis *analysis)
{
    const struct layers_report *report = analysis->report;
    size_t count = layers_limited(report->producer_count, analysis->producers);
    struct row_table table;
    if (count == 0)
        return true;
    layers_title(page, LAYERS_INDENT, "Largest producers of activations, forward");
    row_table_init(&table, &layers_producer_type, page,
                   &(struct field_context){.symbols = report->trace->symbols,
                                           .whole = report->total_activations});
    for (size_t i = 0; i < count; i++) {
        const struct layers_row row = layers_producer(report, i);
        row_table_add(&table, &row);
    }
    return row_table_print(&table, page, LAYERS_INDENT);
}

static void advice(const struct page *page, const struct layers_report *report)
{
    char saved[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE], all[UNITS_TEXT_SIZE],
        largest[UNITS_TEXT_SIZE], text[768];
    snprintf(
        text, sizeof(text),
        "Sharding these blocks over %u ranks (FSDP) saves %s on each rank (%s of the peak). Their "
        "gradients and each of the optimizer's states have the same size and shrink with them, "
        "but a layer trace does not show these. In return each pass gathers %s, and a block is "
        "whole while it runs: %s for the largest.",
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
                   "Activations are the larger part here, so checkpointing saves more: memsnap "
                   "suggest FILE --checkpoints 2 shows where to put checkpoints.");
}

struct layers_block layers_block(const struct layers_report *report, size_t i, struct buffer *name)
{
    const struct layers_shard *shard = &report->shards[i];
    buffer_clear(name);
    add_path(report, shard->node, true, name);
    return (struct layers_block){
        .module_name = {name->size ? name->bytes : "", name->failed ? 0 : name->size},
        .parameter_bytes = report->nodes[shard->node].params,
        .saved_bytes = shard->saved_bytes,
        .worth = shard->worth,
        .worth_words = shard->worth ? "yes" : "no",
    };
}

/* The total of the blocks that have no line of their own. */
static void add_other_blocks(struct row_table *table, const struct layers_report *report,
                             size_t from)
{
    char label[64], words[64];
    size_t worth = 0;
    int size = snprintf(label, sizeof(label), "(%zu more)", report->shard_count - from);
    struct layers_block rest = {.module_name = {label, (size_t)size}, .worth_words = words};
    for (size_t i = from; i < report->shard_count; i++) {
        rest.parameter_bytes += report->nodes[report->shards[i].node].params;
        rest.saved_bytes += report->shards[i].saved_bytes;
        worth += report->shards[i].worth;
    }
    snprintf(words, sizeof(words), "%zu of them", worth);
    row_table_add(table, &rest);
}

bool layers_sharding(const struct page *page, const struct layers_analysis *analysis)
{
    const struct layers_report *report = analysis->report;
    size_t count = layers_limited(report->shard_count, analysis->shards);
    struct buffer name = BUFFER_INIT;
    struct row_table table;
    if (count == 0)
        return true;
    if (layers_gathered(report)) {
        layers_title(page, LAYERS_INDENT,
                     "Parameters are already sharded; gathered bytes are listed above");
        return true;
    }
    layers_title(page, LAYERS_INDENT, "Parameters by block, and what sharding them saves");
    row_table_init(&table, &layers_block_type, page,
                   &(struct field_context){.whole = report->allocated.bytes});
    for (size_t i = 0; i < count; i++) {
        const struct layers_block block = layers_block(report, i, &name);
        row_table_add(&table, &block);
    }
    if (count < report->shard_count)
        add_other_blocks(&table, report, count);
    buffer_release(&name);
    if (!row_table_print(&table, page, LAYERS_INDENT))
        return false;
    advice(page, report);
    return true;
}
