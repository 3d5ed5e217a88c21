#include "model/shard_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "decode/core/sniff.h"
#include "decode/json/members.h"
#include "model/shard_curve.h"

#define MOST_ROWS (1 << 17)

struct reader {
    struct json_reader json;
    struct shard_file *file;
    struct error *err;
    struct shard_file_row row; /* the one being read */
};

static bool read_number(struct reader *in, uint64_t *to)
{
    return shard_read_number(&in->json, to, in->err);
}

static bool read_flag(struct reader *in, bool *to)
{
    enum json_literal literal;
    if (!json_read_literal(&in->json, &literal, in->err))
        return false;
    if (literal != JSON_LITERAL_TRUE && literal != JSON_LITERAL_FALSE)
        return json_unexpected(&in->json, "true or false before this", in->err);
    *to = literal == JSON_LITERAL_TRUE;
    return true;
}

static bool is_name(struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!(text.bytes[i] >= 'a' && text.bytes[i] <= 'z') && !ascii_is_digit(text.bytes[i]))
            return false;
    return text.size > 0 && text.size < SHARD_FILE_NAME;
}

static bool read_name(struct reader *in, char name[SHARD_FILE_NAME])
{
    struct text text;
    uint64_t offset;
    if (!json_offset(&in->json, &offset, in->err) ||
        !json_read_string(&in->json, "the name of a strategy (a string)", &text, in->err))
        return false;
    if (!is_name(text))
        return error_set_at(in->err, STATUS_BAD_INPUT, offset,
                            "expected the name of a strategy, such as \"fsdp2\"");
    memcpy(name, text.bytes, text.size);
    name[text.size] = '\0';
    return true;
}

struct rank {
    uint64_t peak;
    uint64_t parts[SHARD_FILE_PARTS];
};

static bool rank_member(void *self, struct text key, void *to)
{
    static const char *const names[SHARD_FILE_PARTS] = {"parameter_bytes_at_peak", "gradient_bytes",
                                                        "optimizer_state_bytes_at_peak",
                                                        "activation_bytes", "buffer_bytes"};
    struct reader *in = self;
    struct rank *rank = to;
    if (text_equals(key, "peak_bytes"))
        return read_number(in, &rank->peak);
    for (size_t i = 0; i < SHARD_FILE_PARTS; i++)
        if (text_equals(key, names[i]))
            return read_number(in, &rank->parts[i]);
    return json_skip(&in->json, in->err);
}

static bool read_rank(void *self)
{
    struct reader *in = self;
    struct rank rank = {0};
    uint64_t highest = 0;
    if (!json_each_member(&in->json, "a rank (an object)", rank_member, in, &rank, in->err))
        return false;
    for (size_t i = 0; i < SHARD_FILE_PARTS; i++)
        highest += in->row.parts[i];
    if (rank.peak > highest)
        memcpy(in->row.parts, rank.parts, sizeof(rank.parts));
    return true;
}

static bool traffic_member(void *self, struct text key, void *to)
{
    struct reader *in = self;
    uint64_t bytes, *sum = to;
    (void)key;
    if (!read_number(in, &bytes))
        return false;
    *sum = *sum > SHARD_MOST - bytes ? SHARD_MOST : *sum + bytes;
    return true;
}

static bool strategy_member(void *self, struct text key, void *to)
{
    struct reader *in = self;
    struct shard_file_row *row = to;
    if (text_equals(key, "name"))
        return read_name(in, row->name);
    if (text_equals(key, "checkpointed"))
        return read_flag(in, &row->is_checkpointed);
    if (text_equals(key, "peak_bytes"))
        return read_number(in, &row->peak_bytes);
    if (text_equals(key, "ranks"))
        return json_each_item(&in->json, "ranks (an array)", read_rank, in, in->err);
    if (text_equals(key, "traffic_bytes") && in->file->is_sweep)
        return read_number(in, &row->traffic_bytes);
    if (text_equals(key, "traffic_bytes"))
        return json_each_member(&in->json, "traffic (an object)", traffic_member, in,
                                &row->traffic_bytes, in->err);
    if (text_equals(key, "curve"))
        return shard_read_curve(&in->json, in->file, row, in->err);
    if (text_equals(key, "rank_curves"))
        return shard_read_rank_curves(&in->json, in->file, row, in->err);
    if (text_equals(key, "world"))
        return read_number(in, &row->world);
    if (text_equals(key, "largest_batch"))
        return read_number(in, &row->largest_batch);
    if (text_equals(key, "runs"))
        return read_flag(in, &row->runs);
    if (text_equals(key, "is_of_use"))
        return read_flag(in, &row->is_of_use);
    if (text_equals(key, "is_last"))
        return read_flag(in, &row->is_last);
    return json_skip(&in->json, in->err);
}

static bool read_strategy(void *self)
{
    struct reader *in = self;
    struct shard_file *file = in->file;
    in->row = (struct shard_file_row){.runs = true, .is_of_use = true};
    if (file->count >= MOST_ROWS)
        return error_set(in->err, STATUS_LIMIT, "more than %d rows", MOST_ROWS);
    if (!json_each_member(&in->json, "a strategy (an object)", strategy_member, in, &in->row,
                          in->err))
        return false;
    if (in->row.name[0] == '\0')
        return json_unexpected(&in->json, "the name of a strategy before this", in->err);
    if (!in->row.runs || !in->row.is_of_use)
        in->row.largest_batch = 0;
    return vec_push(file->rows, file->count, file->capacity, file->budget, in->err, in->row);
}

static bool read_recommended(struct reader *in)
{
    bool is_null;
    return json_take_null(&in->json, &is_null, in->err) &&
           (is_null || read_name(in, in->file->recommended));
}

static bool root_member(void *self, struct text key, void *to)
{
    struct reader *in = self;
    struct shard_file *file = to;
    if (text_equals(key, "gpu_bytes"))
        return read_number(in, &file->gpu_bytes);
    if (text_equals(key, "world"))
        return read_number(in, &file->world);
    if (text_equals(key, "recommended"))
        return read_recommended(in);
    if (text_equals(key, "recommended_checkpointed"))
        return read_flag(in, &file->is_recommended_checkpointed);
    file->is_sweep |= text_equals(key, "sweep");
    if (text_equals(key, "strategies") || text_equals(key, "sweep"))
        return json_each_item(&in->json, "strategies (an array)", read_strategy, in, in->err);
    return json_skip(&in->json, in->err);
}

static bool decode(struct shard_file *file, struct source *source, struct error *err)
{
    struct reader in = {.file = file, .err = err};
    enum encoding encoding;
    if (!sniff_encoding(source, &encoding, err))
        return false;
    if (encoding != ENCODING_JSON)
        return error_set(err, STATUS_BAD_INPUT, "expected %s (JSON), not %s", kind_name(KIND_SHARD),
                         encoding_name(encoding));
    json_reader_init(&in.json, source);
    bool ok = json_begin(&in.json, err) &&
              json_each_member(&in.json, "an object", root_member, &in, file, err) &&
              json_finish(&in.json, err);
    json_reader_release(&in.json);
    if (ok && file->count == 0)
        return error_set(err, STATUS_BAD_INPUT, "expected %s, found no strategy",
                         kind_name(KIND_SHARD));
    return ok;
}

struct shard_file *shard_file_load(struct input *input, struct error *err)
{
    struct shard_file *file = calloc(1, sizeof(*file));
    if (!file) {
        input_discard(input);
        error_out_of_memory(err);
        return NULL;
    }
    file->budget = input->budget;
    bool ok = decode(file, &input->source, err);
    input_close(input);
    if (ok)
        return file;
    shard_file_destroy(file);
    return NULL;
}

void shard_file_destroy(struct shard_file *file)
{
    if (!file)
        return;
    vec_free(file->rows, file->capacity, sizeof(*file->rows), file->budget);
    vec_free(file->columns, file->column_capacity, sizeof(*file->columns), file->budget);
    vec_free(file->lines, file->line_capacity, sizeof(*file->lines), file->budget);
    vec_free(file->heights, file->height_capacity, sizeof(*file->heights), file->budget);
    free(file->budget);
    free(file);
}
