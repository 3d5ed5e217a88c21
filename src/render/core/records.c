#include "render/core/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/core/escape.h"
#include "render/core/pack.h"

#define BUFFER_SIZE ((size_t)64 * 1024)
#define NUMBER_SIZE 24 /* digits, and what stands beside them */

static void flush(struct record_writer *records)
{
    if (records->used && !records->write_errno &&
        fwrite_unlocked(records->bytes, 1, records->used, records->out) != records->used)
        records->write_errno = errno ? errno : EIO;
    records->used = 0;
}

static void put(struct record_writer *records, const char *bytes, size_t size)
{
    if (size > BUFFER_SIZE - records->used)
        flush(records);
    if (size > BUFFER_SIZE) {
        if (!records->write_errno && fwrite_unlocked(bytes, 1, size, records->out) != size)
            records->write_errno = errno ? errno : EIO;
        return;
    }
    memcpy(records->bytes + records->used, bytes, size);
    records->used += size;
}

static void puts_plain(struct record_writer *records, const char *text)
{
    put(records, text, strlen(text));
}

static inline void putc_plain(struct record_writer *records, char c)
{
    if (records->used == BUFFER_SIZE)
        flush(records);
    records->bytes[records->used++] = c;
}

static int pack_piece(void *self, const char *bytes, size_t size)
{
    put(self, bytes, size);
    return 0;
}

static void pack_word(msgpack_packer *packer, const char *word)
{
    pack_text(packer, word, strlen(word));
}

static void put_header(struct record_writer *records)
{
    if (records->format == RECORDS_CSV) {
        for (size_t i = 0; i < records->columns; i++) {
            puts_plain(records, i ? "," : "");
            puts_plain(records, records->fields[i]->key);
        }
        puts_plain(records, "\r\n");
    } else if (records->format == RECORDS_MSGPACK) {
        msgpack_pack_map(&records->packer, 3);
        pack_word(&records->packer, "schema");
        pack_word(&records->packer, "memsnap.export/1");
        pack_word(&records->packer, "table");
        pack_word(&records->packer, records->name);
        pack_word(&records->packer, "columns");
        msgpack_pack_array(&records->packer, records->columns);
        for (size_t i = 0; i < records->columns; i++)
            pack_word(&records->packer, records->fields[i]->key);
    }
}

static void take_columns(struct record_writer *records, const struct row_type *type,
                         enum field_order order)
{
    records->columns = fields_in_order(type, order, records->fields);
    for (size_t i = 0; i < records->columns; i++) {
        const struct field *field = records->fields[i];
        records->is_member[i] = !field->record && !field->value && !field->present &&
                                field->condition_size == 0 && field->flags == 0;
    }
}

bool records_begin(struct record_writer *records, FILE *out, enum record_format format,
                   const struct row_type *type, struct error *err)
{
    char *bytes = malloc(BUFFER_SIZE);
    if (!bytes)
        return error_out_of_memory(err);
    *records =
        (struct record_writer){.out = out, .format = format, .name = type->name, .bytes = bytes};
    take_columns(records, type, FIELDS_AS_CELLS);
    msgpack_packer_init(&records->packer, records, pack_piece);
    put_header(records);
    return true;
}

void records_begin_sink(struct record_writer *records, struct record_sink *sink,
                        const struct row_type *type)
{
    records->sink = sink;
    records->format = RECORDS_SINK;
    records->name = type->name;
    take_columns(records, type, FIELDS_IN_DATABASE);
}

void records_release(struct record_writer *records)
{
    free(records->bytes);
    buffer_release(&records->cell);
    buffer_release(&records->text);
    *records = (struct record_writer){0};
}

static bool is_well(const struct record_writer *records, struct error *err)
{
    if (records->no_memory)
        return error_out_of_memory(err);
    if (records->write_errno)
        return error_set(err, STATUS_IO, "cannot write: %s", strerror(records->write_errno));
    return true;
}

bool records_end(struct record_writer *records, struct error *err)
{
    flush(records);
    bool ok = is_well(records, err);
    records_release(records);
    return ok;
}

/* Writes the separator and, in JSON, the key before a cell. */
static inline __attribute__((always_inline)) void begin_cell(struct record_writer *records)
{
    size_t column = records->column++;
    if (records->format == RECORDS_SINK)
        return;
    if (records->format == RECORDS_CSV) {
        if (column > 0)
            putc_plain(records, ',');
    } else if (records->format == RECORDS_MSGPACK) {
        if (column == 0)
            msgpack_pack_array(&records->packer, records->columns);
    } else {
        puts_plain(records, column > 0 ? ",\"" : "{\"");
        puts_plain(records, records->fields[column]->key);
        puts_plain(records, "\":");
    }
}

/* Converts two digits at a time, because most of an exported table is numbers. */
static void put_digits(struct record_writer *records, uint64_t value, bool negative)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char digits[2 * NUMBER_SIZE], *end = digits + NUMBER_SIZE, *p = end;
    while (value >= 100) {
        p -= 2;
        memcpy(p, pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        p -= 2;
        memcpy(p, pairs + 2 * value, 2);
    } else {
        *--p = (char)('0' + value);
    }
    if (negative)
        *--p = '-';
    if (BUFFER_SIZE - records->used < NUMBER_SIZE)
        flush(records);
    memcpy(records->bytes + records->used, p, NUMBER_SIZE); /* a fixed size takes no call */
    records->used += (size_t)(end - p);
}

static struct text no_text(void)
{
    return (struct text){NULL, 0};
}

static void sink_text(struct record_writer *records, struct text text, bool lasts)
{
    records->sink->text(records->sink, records->column - 1, text, lasts);
}

void record_count(struct record_writer *records, uint64_t value)
{
    begin_cell(records);
    if (records->format == RECORDS_SINK)
        records->sink->integer(records->sink, records->column - 1, (int64_t)value);
    else if (records->format == RECORDS_MSGPACK)
        msgpack_pack_uint64(&records->packer, value);
    else
        put_digits(records, value, false);
}

void record_integer(struct record_writer *records, int64_t value)
{
    begin_cell(records);
    if (records->format == RECORDS_SINK)
        records->sink->integer(records->sink, records->column - 1, value);
    else if (records->format == RECORDS_MSGPACK)
        msgpack_pack_int64(&records->packer, value);
    else
        put_digits(records, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

void record_flag(struct record_writer *records, bool value)
{
    begin_cell(records);
    if (records->format == RECORDS_SINK)
        records->sink->integer(records->sink, records->column - 1, value);
    else if (records->format != RECORDS_MSGPACK)
        puts_plain(records, value ? "true" : "false");
    else if (value)
        msgpack_pack_true(&records->packer);
    else
        msgpack_pack_false(&records->packer);
}

void record_none(struct record_writer *records)
{
    begin_cell(records);
    if (records->format == RECORDS_MSGPACK)
        msgpack_pack_nil(&records->packer);
    else if (records->format == RECORDS_JSONL)
        puts_plain(records, "null");
    else if (records->format == RECORDS_SINK)
        sink_text(records, no_text(), true);
}

void record_word(struct record_writer *records, const char *word)
{
    begin_cell(records);
    if (records->format == RECORDS_MSGPACK) {
        pack_word(&records->packer, word);
        return;
    }
    if (records->format == RECORDS_SINK) {
        sink_text(records, (struct text){word, strlen(word)}, true);
        return;
    }
    const char *quote = records->format == RECORDS_JSONL ? "\"" : "";
    puts_plain(records, quote);
    puts_plain(records, word);
    puts_plain(records, quote);
}

/* Quotes the text as RFC 4180 requires. */
static void make_csv(struct buffer *cell, const char *bytes, size_t size)
{
    const char *guard = strchr("=+-@'", bytes[0]) ? "'" : "";
    if (!memchr(bytes, ',', size) && !memchr(bytes, '"', size)) {
        buffer_puts(cell, guard);
        buffer_add(cell, bytes, size);
        return;
    }
    buffer_putc(cell, '"');
    buffer_puts(cell, guard);
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '"')
            buffer_putc(cell, '"');
        buffer_putc(cell, bytes[i]);
    }
    buffer_putc(cell, '"');
}

static void make_msgpack(struct buffer *cell, const char *bytes, size_t size)
{
    msgpack_packer packer;
    msgpack_packer_init(&packer, cell, pack_to_buffer);
    pack_text(&packer, bytes, size);
}

/* Length of the part of a text to show. */
static size_t head(const char *bytes, size_t size)
{
    return text_first((struct text){bytes, size}, RECORD_TEXT_MOST).size;
}

struct text record_cell_of(struct record_writer *records, const char *bytes, size_t size)
{
    struct buffer *text = &records->text, *cell = &records->cell;
    buffer_clear(text);
    buffer_clear(cell);
    size_t shown = head(bytes, size);
    escape_text(text, bytes, shown);
    if (text->size > RECORD_TEXT_MOST || shown < size) {
        text->size = head(text->bytes, text->size);
        buffer_puts(text, "...");
    }
    if (text->size > 0 && !text->failed) {
        if (records->format == RECORDS_CSV)
            make_csv(cell, text->bytes, text->size);
        else if (records->format == RECORDS_JSONL)
            escape_json(cell, text->bytes, text->size);
        else if (records->format == RECORDS_SINK)
            buffer_add(cell, text->bytes, text->size);
        else
            make_msgpack(cell, text->bytes, text->size);
    }
    records->no_memory = records->no_memory || text->failed || cell->failed;
    return (struct text){cell->size ? cell->bytes : "", cell->size};
}

/* `lasts`: until the writer is released. */
static void put_cell(struct record_writer *records, struct text cell, bool lasts)
{
    if (cell.size == 0) {
        record_none(records);
        return;
    }
    begin_cell(records);
    if (records->format == RECORDS_SINK)
        sink_text(records, cell, lasts);
    else
        put(records, cell.bytes, cell.size);
}

void record_cell(struct record_writer *records, struct text cell)
{
    put_cell(records, cell, true);
}

void record_text(struct record_writer *records, const char *bytes, size_t size)
{
    put_cell(records, record_cell_of(records, bytes, size), false);
}

bool record_end(struct record_writer *records, struct error *err)
{
    records->column = 0;
    if (records->format == RECORDS_SINK)
        return is_well(records, err) && records->sink->row(records->sink, err);
    if (records->format == RECORDS_CSV)
        puts_plain(records, "\r\n");
    else if (records->format == RECORDS_JSONL)
        puts_plain(records, "}\n");
    return is_well(records, err);
}
