#include "render/page/columns.h"

#include "render/core/escape.h"
#include "render/dump/leaf.h"

void html_emit_shown(struct json_writer *json, const char *key, const char *bytes, size_t size)
{
    struct buffer *text = &json->scratch;
    buffer_clear(text);
    escape_json_piece(text, bytes, size, UTF8_REFUSE_SURROGATES);
    json->failed = json->failed || text->failed;
    json_string_begin(json, key);
    for (size_t i = 0; i < text->size; i++) {
        char c = text->bytes[i];
        if (c == '<' || c == '>' || c == '&')
            fprintf(json->out, "\\u%04x", (unsigned)c);
        else
            fputc_unlocked(c, json->out);
    }
    json_string_end(json);
}

void html_emit_raw(struct json_writer *json, const char *key, const char *bytes, size_t size)
{
    struct buffer shown = BUFFER_INIT;
    escape_text(&shown, bytes, size);
    json->failed = json->failed || shown.failed;
    html_emit_shown(json, key, shown.size ? shown.bytes : "", shown.size);
    buffer_release(&shown);
}

void html_add_number(struct buffer *numbers, uint64_t value, size_t size)
{
    char bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(value >> (8 * i) & 0xFF);
    buffer_add(numbers, bytes, size);
}

void html_add_double(struct buffer *numbers, double value)
{
    uint64_t bits;
    _Static_assert(sizeof(bits) == sizeof(value), "a double has 64 bits");
    __builtin_memcpy(&bits, &value, sizeof(bits));
    html_add_number(numbers, bits, sizeof(bits));
}

void html_emit_numbers(struct json_writer *json, const char *key, struct buffer *numbers)
{
    json->failed = json->failed || numbers->failed;
    emit_base64(json, key, (const uint8_t *)numbers->bytes, numbers->size);
    buffer_clear(numbers);
}

/* A column of whole numbers. */
struct number_column {
    const char *key;
    size_t size; /* bytes a number */
    uint64_t (*value)(const struct html_numbers *numbers, size_t i);
};

static void emit_columns(struct json_writer *json, const struct html_numbers *numbers,
                         const struct number_column *columns, size_t count)
{
    struct buffer bytes = BUFFER_INIT;
    for (; columns->key; columns++) {
        for (size_t i = 0; i < count; i++)
            html_add_number(&bytes, columns->value(numbers, i), columns->size);
        html_emit_numbers(json, columns->key, &bytes);
    }
    buffer_release(&bytes);
}

static const struct band *band_at(const struct html_numbers *numbers, size_t b)
{
    return &numbers->page->bands->items[b];
}

static uint64_t band_begin(const struct html_numbers *numbers, size_t b)
{
    return band_at(numbers, b)->begin;
}

static uint64_t band_end(const struct html_numbers *numbers, size_t b)
{
    return band_at(numbers, b)->end;
}

static uint64_t band_address(const struct html_numbers *numbers, size_t b)
{
    const struct timeline *timeline = numbers->page->timeline;
    const struct band *band = band_at(numbers, b);
    return band->in_trace ? trace_addr(timeline->trace, timeline->lifetimes[band->index].alloc)
                          : timeline->preexisting[band->index].addr;
}

uint64_t html_band_category(const struct html_numbers *numbers, size_t b)
{
    const struct categories *categories = numbers->page->categories;
    const struct band *band = band_at(numbers, b);
    return (band->in_trace ? categories->of_lifetime : categories->of_preexisting)[band->index];
}

static uint64_t band_reason(const struct html_numbers *numbers, size_t b)
{
    const struct categories *categories = numbers->page->categories;
    const struct band *band = band_at(numbers, b);
    return reason_of(
        (band->in_trace ? categories->why_lifetime : categories->why_preexisting)[band->index]);
}

static uint64_t band_born(const struct html_numbers *numbers, size_t b)
{
    const struct band *band = band_at(numbers, b);
    return band->in_trace ? numbers->page->timeline->lifetimes[band->index].alloc : EVENT_NEVER;
}

static uint64_t band_freed(const struct html_numbers *numbers, size_t b)
{
    const struct timeline *timeline = numbers->page->timeline;
    const struct band *band = band_at(numbers, b);
    return band->in_trace ? timeline->lifetimes[band->index].free_completed
                          : timeline->preexisting[band->index].free_completed;
}

static uint64_t band_stack(const struct html_numbers *numbers, size_t b)
{
    return numbers->stacks->of_band[b];
}

static uint64_t band_note(const struct html_numbers *numbers, size_t b)
{
    return numbers->stacks->note_of_band[b];
}

void html_emit_bands(struct json_writer *json, const struct html_numbers *numbers,
                     struct buffer *sizes)
{
    static const struct number_column columns[] = {
        {"begin", 4, band_begin},
        {"end", 4, band_end},
        {"address", 8, band_address},
        {"category", 1, html_band_category},
        {"reason", 1, band_reason},
        {"born", 4, band_born},
        {"freed", 4, band_freed},
        {"stack", 4, band_stack},
        {NULL, 0, NULL},
    };
    static const struct number_column notes[] = {{"annotation", 4, band_note}, {NULL, 0, NULL}};
    const struct bands *bands = numbers->page->bands;
    json_put_count(json, "left_out", bands->left_out);
    json_put_open(json, "bands", '{');
    json_put_count(json, "count", bands->count);
    emit_columns(json, numbers, columns, bands->count);
    if (numbers->stacks->has_notes)
        emit_columns(json, numbers, notes, bands->count);
    for (size_t b = 0; b < bands->count; b++)
        html_add_double(sizes, (double)bands->items[b].size);
    html_emit_numbers(json, "size", sizes);
    json_put_close(json, '}');
}

static uint64_t frame_name(const struct html_numbers *numbers, size_t i)
{
    return numbers->stacks->frames[i].name;
}

static uint64_t frame_file(const struct html_numbers *numbers, size_t i)
{
    return numbers->stacks->frames[i].file;
}

static uint64_t frame_line(const struct html_numbers *numbers, size_t i)
{
    return numbers->stacks->frames[i].line;
}

static uint64_t stack_label(const struct html_numbers *numbers, size_t i)
{
    return numbers->stacks->stacks[i].label;
}

static uint64_t stack_site(const struct html_numbers *numbers, size_t i)
{
    return numbers->stacks->stacks[i].site;
}

static uint64_t stack_first(const struct html_numbers *numbers, size_t i)
{
    return numbers->stacks->stacks[i].first;
}

static uint64_t stack_whole(const struct html_numbers *numbers, size_t i)
{
    return numbers->stacks->stacks[i].whole;
}

static uint64_t stacked_frame(const struct html_numbers *numbers, size_t i)
{
    return numbers->stacks->stacked[i];
}

void html_emit_stacks(struct json_writer *json, const struct html_numbers *numbers)
{
    static const struct number_column of_frames[] = {
        {"name", 4, frame_name}, {"file", 4, frame_file}, {"line", 4, frame_line}, {NULL, 0, NULL}};
    static const struct number_column of_stacks[] = {{"label", 4, stack_label},
                                                     {"site", 4, stack_site},
                                                     {"first", 4, stack_first},
                                                     {"whole", 1, stack_whole},
                                                     {NULL, 0, NULL}};
    static const struct number_column of_stacked[] = {{"stacked", 4, stacked_frame},
                                                      {NULL, 0, NULL}};
    const struct html_stacks *stacks = numbers->stacks;
    json_put_open(json, "frames", '{');
    emit_columns(json, numbers, of_frames, stacks->frame_count);
    json_put_close(json, '}');
    json_put_open(json, "stacks", '{');
    emit_columns(json, numbers, of_stacks, stacks->stack_count);
    json_put_close(json, '}');
    emit_columns(json, numbers, of_stacked, stacks->stacked_count);
    json_put_open(json, "strings", '[');
    for (size_t i = 0; i < stacks->text_count; i++) {
        size_t begin = i > 0 ? stacks->text_ends[i - 1] : 0;
        html_emit_shown(json, NULL, stacks->text.bytes ? stacks->text.bytes + begin : "",
                        stacks->text_ends[i] - begin);
    }
    json_put_close(json, ']');
}
