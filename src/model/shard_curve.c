#include "model/shard_curve.h"

#include <string.h>

#include "decode/json/members.h"

#define MOST_COLUMNS 4096 /* columns of a curve */
#define MOST_LINES   4096 /* lines of a strategy */

struct reader {
    struct json_reader *json;
    struct shard_file *file;
    struct shard_file_row *row;
    struct error *err;
};

struct column {
    struct shard_file_column column;
    char phase[SHARD_FILE_NAME], unit[SHARD_FILE_UNIT];
};

bool shard_read_number(struct json_reader *json, uint64_t *to, struct error *err)
{
    struct json_integer integer;
    uint64_t offset;
    if (!json_offset(json, &offset, err) ||
        !json_read_integer(json, "a whole number", &integer, err))
        return false;
    if (integer.negative || integer.magnitude > SHARD_MOST)
        return error_set_at(err, STATUS_BAD_INPUT, offset,
                            "expected a whole number, found one out of range");
    *to = integer.magnitude;
    return true;
}

static bool read_text(struct reader *in, char *to, size_t size)
{
    struct text text;
    bool is_null;
    if (!json_take_null(in->json, &is_null, in->err))
        return false;
    if (is_null)
        return true;
    if (!json_read_string(in->json, "a name (a string)", &text, in->err))
        return false;
    size_t length = text.size < size - 1 ? text.size : size - 1;
    memcpy(to, text.bytes, length);
    to[length] = '\0';
    return true;
}

static bool column_member(void *self, struct text key, void *to)
{
    static const char *const names[SHARD_FILE_PARTS] = {"parameter_bytes", "gradient_bytes",
                                                        "optimizer_state_bytes", "activation_bytes",
                                                        "buffer_bytes"};
    struct reader *in = self;
    struct column *column = to;
    for (size_t i = 0; i < SHARD_FILE_PARTS; i++)
        if (text_equals(key, names[i]))
            return shard_read_number(in->json, &column->column.parts[i], in->err);
    if (text_equals(key, "phase"))
        return read_text(in, column->phase, sizeof(column->phase));
    if (text_equals(key, "unit"))
        return read_text(in, column->unit, sizeof(column->unit));
    return json_skip(in->json, in->err);
}

static bool read_members(struct reader *in, struct column *column, size_t before)
{
    *column = (struct column){.phase = ""};
    if (before >= MOST_COLUMNS)
        return error_set(in->err, STATUS_LIMIT, "more than %d columns of a curve", MOST_COLUMNS);
    return json_each_member(in->json, "a column (an object)", column_member, in, column, in->err);
}

/* Sums stay within range: a number is at most 2^62. */
static uint64_t height_of(const struct shard_file_column *column)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < SHARD_FILE_PARTS; i++)
        sum = sum > SHARD_MOST - column->parts[i] ? SHARD_MOST : sum + column->parts[i];
    return sum;
}

static bool read_column(void *self)
{
    struct reader *in = self;
    struct shard_file *file = in->file;
    struct shard_file_row *row = in->row;
    struct column column;
    if (!read_members(in, &column, row->column_count))
        return false;
    const struct shard_file_column *highest =
        row->column_count > 0 ? &file->columns[row->first_column + row->peak_column] : NULL;
    if (!highest || height_of(&column.column) > height_of(highest)) {
        row->peak_column = row->column_count;
        memcpy(row->peak_phase, column.phase, sizeof(row->peak_phase));
        memcpy(row->peak_unit, column.unit, sizeof(row->peak_unit));
    }
    row->has_units |= column.unit[0] != '\0';
    row->column_count++;
    return vec_push(file->columns, file->column_count, file->column_capacity, file->budget, in->err,
                    column.column);
}

bool shard_read_curve(struct json_reader *json, struct shard_file *file, struct shard_file_row *row,
                      struct error *err)
{
    struct reader in = {json, file, row, err};
    row->first_column = file->column_count;
    row->column_count = 0;
    return json_each_item(json, "a curve (an array)", read_column, &in, err);
}

static bool read_height(void *self)
{
    struct reader *in = self;
    struct shard_file *file = in->file;
    struct shard_file_line *line = &file->lines[file->line_count - 1];
    struct column column;
    if (!read_members(in, &column, line->count))
        return false;
    line->count++;
    return vec_push(file->heights, file->height_count, file->height_capacity, file->budget, in->err,
                    height_of(&column.column));
}

static bool line_member(void *self, struct text key, void *to)
{
    struct reader *in = self;
    struct shard_file *file = in->file;
    (void)to;
    if (text_equals(key, "first_rank"))
        return shard_read_number(in->json, &file->lines[file->line_count - 1].first_rank, in->err);
    if (text_equals(key, "last_rank"))
        return shard_read_number(in->json, &file->lines[file->line_count - 1].last_rank, in->err);
    if (!text_equals(key, "curve"))
        return json_skip(in->json, in->err);
    file->lines[file->line_count - 1].first = file->height_count;
    file->lines[file->line_count - 1].count = 0;
    return json_each_item(in->json, "a curve (an array)", read_height, in, in->err);
}

static bool read_line(void *self)
{
    struct reader *in = self;
    struct shard_file *file = in->file;
    if (in->row->line_count++ >= MOST_LINES)
        return error_set(in->err, STATUS_LIMIT, "more than %d curves of a strategy", MOST_LINES);
    return vec_push(file->lines, file->line_count, file->line_capacity, file->budget, in->err,
                    (struct shard_file_line){.first = file->height_count}) &&
           json_each_member(in->json, "the curve of some ranks (an object)", line_member, in, NULL,
                            in->err);
}

bool shard_read_rank_curves(struct json_reader *json, struct shard_file *file,
                            struct shard_file_row *row, struct error *err)
{
    struct reader in = {json, file, row, err};
    row->first_line = file->line_count;
    row->line_count = 0;
    return json_each_item(json, "curves of ranks (an array)", read_line, &in, err);
}
