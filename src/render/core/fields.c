#define _GNU_SOURCE /* memmem */
#include "render/core/fields.h"

#include <ctype.h>
#include <string.h>

struct value value_word(const char *word)
{
    if (!word)
        return value_none();
    return (struct value){VALUE_TEXT, .text = {word, strlen(word)}};
}

struct value value_scratch(const struct field_context *context)
{
    const struct buffer *scratch = context->scratch;
    return (struct value){VALUE_TEXT, .text = {scratch->size ? scratch->bytes : "", scratch->size}};
}

/* "mul" for aten::mul: the prefix of the most common namespace is left out. */
static struct text short_operator(const struct symbols *symbols, string_id op)
{
    static const char aten[] = "aten::";
    const size_t size = sizeof(aten) - 1;
    struct text text = symbols_text(symbols, op);
    if (text.size > size && memcmp(text.bytes, aten, size) == 0)
        return (struct text){text.bytes + size, text.size - size};
    return text;
}

/* NllLossBackward0 already implies nll_loss and nll_loss_backward. */
static bool node_says_operator(struct text node, struct text op)
{
    size_t at = 0;
    const char *end = memmem(node.bytes, node.size, "Backward", 8);
    size_t size = end ? (size_t)(end - node.bytes) : node.size;
    for (size_t i = 0; i < size; i++, at++) {
        while (at < op.size && op.bytes[at] == '_')
            at++;
        if (at == op.size ||
            tolower((unsigned char)op.bytes[at]) != tolower((unsigned char)node.bytes[i]))
            return false;
    }
    return true;
}

struct text site_operator_text(const struct symbols *symbols, const struct site *site)
{
    struct text op = short_operator(symbols, site->op), node = symbols_text(symbols, site->node);
    bool in_label = site_line(site) == NO_FRAME &&
                    (node.size == 0 || site->op == site->node || node_says_operator(node, op));
    return (struct text){op.bytes, in_label ? 0 : op.size};
}

static struct value event_at(const struct field *field, const void *at,
                             const struct field_context *context)
{
    struct value value = field_whole(field, at);
    int64_t item = value.integer;
    if (!field->is_signed)
        item = value.count == EVENT_NEVER ? -1 : (int64_t)value.count;
    return value_integer(trace_file_event(context->trace, item));
}

static struct value site_at(const struct label *label, const struct field_context *context)
{
    return value_word(context->page ? label->brief : label->full);
}

static struct value operator_at(const struct site *site, const struct field_context *context)
{
    if (context->page)
        return (struct value){VALUE_TEXT, .text = site_operator_text(context->symbols, site)};
    return site->op == STRING_EMPTY ? value_none() : value_count(site->op);
}

static struct value member_of(const struct field *field, const void *row,
                              const struct field_context *context)
{
    const void *at = (const char *)row + field->offset;
    switch (field->kind) {
    case FIELD_TIME: {
        struct value time = field_whole(field, at);
        return time.integer == TIME_NONE ? value_none() : time;
    }
    case FIELD_EVENT:
        return event_at(field, at, context);
    case FIELD_STRING:
    case FIELD_STACK:
        return value_id(*(const uint32_t *)at);
    case FIELD_REAL:
        return (struct value){VALUE_REAL, .real = *(const double *)at};
    case FIELD_FLAG:
        return (struct value){VALUE_FLAG, .flag = *(const bool *)at};
    case FIELD_NAME:
        return value_word(field->name((unsigned)field_whole(field, at).count));
    case FIELD_CATEGORY:
        return value_word(category_name((enum category)field_whole(field, at).count));
    case FIELD_WORD:
    case FIELD_LABEL:
        return value_word(*(const char *const *)at);
    case FIELD_CHARS:
        return value_word(at);
    case FIELD_TEXT:
        return (struct value){VALUE_TEXT, .text = *(const struct text *)at};
    case FIELD_SITE:
        return site_at(at, context);
    case FIELD_OPERATOR:
        return operator_at(at, context);
    case FIELD_PAIR:
    case FIELD_CUSTOM:
        return value_none();
    default:
        return field_whole(field, at);
    }
}

static bool is_skipped(const struct field *field, const struct value *value)
{
    switch (value->kind) {
    case VALUE_INTEGER:
        return (field->flags & FIELD_SKIP_ZERO && value->integer == 0) ||
               (field->flags & FIELD_SKIP_NEGATIVE && value->integer < 0);
    case VALUE_COUNT:
        return field->flags & FIELD_SKIP_ZERO && value->count == 0;
    case VALUE_FLAG:
        return field->flags & FIELD_SKIP_ZERO && !value->flag;
    case VALUE_TEXT:
        return field->flags & FIELD_SKIP_ZERO && value->text.size == 0;
    default:
        return false;
    }
}

bool field_is_present(const struct field *field, const void *row,
                      const struct field_context *context)
{
    static const char zero[sizeof(uint64_t)];
    if (field->condition_size > 0) {
        const char *member = (const char *)row + field->condition;
        bool is_set = memcmp(member, zero, field->condition_size) != 0;
        if (is_set == field->is_negated)
            return false;
    }
    return !field->present || field->present(row, context);
}

struct value field_value(const struct field *field, const void *row,
                         const struct field_context *context)
{
    if (!field_is_present(field, row, context))
        return value_none();
    struct value value = field->value ? field->value(row, context) : member_of(field, row, context);
    return field->flags && is_skipped(field, &value) ? value_none() : value;
}

static bool is_in(const struct field *field, enum field_order order)
{
    if (order == FIELDS_AS_COLUMNS)
        return field->title;
    unsigned left_out = FIELD_NOT_RECORD;
    left_out |= order == FIELDS_IN_DATABASE ? FIELD_NOT_DATABASE : FIELD_ONLY_DATABASE;
    return field->key && !(field->flags & left_out);
}

size_t fields_in_order(const struct row_type *type, enum field_order order,
                       const struct field *fields[FIELDS_MOST])
{
    size_t count = 0;
    for (const struct field *field = type->fields; !field_is_end(field); field++) {
        if (!is_in(field, order) || count == FIELDS_MOST)
            continue;
        size_t at = count++;
        for (; at > 0; at--) {
            const struct field *before = fields[at - 1];
            if (order == FIELDS_AS_COLUMNS ? before->column <= field->column
                                           : before->cell <= field->cell)
                break;
            fields[at] = before;
        }
        fields[at] = field;
    }
    return count;
}
