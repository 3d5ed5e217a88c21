/* Reads the results that memsnap dryrun --fit writes as JSON. */
#include <string.h>

#include "base/utf8.h"
#include "decode/core/sniff.h"
#include "decode/json/members.h"
#include "model/fit.h"

#define MOST_GPUS  64
#define MOST_RUNS  4096
#define MOST_WORDS 4096
#define MOST       (UINT64_C(1) << 62) /* largest number */

struct reader {
    struct json_reader json;
    struct fit *fit;
    struct error *err;
    struct fit_gpu gpu; /* the one being read; its runs move to fit->gpus */
};

static bool bad(struct reader *in, const char *what)
{
    return json_unexpected(&in->json, what, in->err);
}

/* Text of a kind that a terminal and a picture can show once it is escaped. */
static bool read_text(struct reader *in, const char *what, const char **to)
{
    struct text text;
    uint64_t offset;
    if (!json_offset(&in->json, &offset, in->err) ||
        !json_read_string(&in->json, what, &text, in->err))
        return false;
    if (memchr(text.bytes, '\0', text.size) ||
        utf8_valid_prefix(text.bytes, text.size, UTF8_REFUSE_SURROGATES) != text.size)
        return error_set_at(in->err, STATUS_BAD_INPUT, offset, "expected %s, found invalid text",
                            what);
    *to = fit_copy_text(in->fit, text.bytes, text.size, in->err);
    return *to != NULL;
}

static bool read_number(struct reader *in, const char *what, uint64_t *to)
{
    struct json_integer integer;
    uint64_t offset;
    if (!json_offset(&in->json, &offset, in->err) ||
        !json_read_integer(&in->json, what, &integer, in->err))
        return false;
    if (integer.negative || integer.magnitude > MOST)
        return error_set_at(in->err, STATUS_BAD_INPUT, offset,
                            "expected %s, found a number out of range", what);
    *to = integer.magnitude;
    return true;
}

static bool has_room(struct reader *in, size_t count, size_t most, const char *what)
{
    return count < most || error_set(in->err, STATUS_LIMIT, "more than %zu %s", most, what);
}

static bool read_array(struct reader *in, const char *what, json_item_taker *take)
{
    return json_each_item(&in->json, what, take, in, in->err);
}

static bool read_object(struct reader *in, const char *what, json_member_taker *take, void *to)
{
    return json_each_member(&in->json, what, take, in, to, in->err);
}

static bool read_result(struct reader *in, unsigned *result)
{
    struct text text;
    if (!json_read_string(&in->json, "a result (a string)", &text, in->err))
        return false;
    for (*result = 0; *result < FIT_RESULTS; ++*result)
        if (text_equals(text, fit_result_names[*result]))
            return true;
    return bad(in, "\"fits\", \"out-of-memory\" or \"failed\" before this");
}

static bool run_member(void *self, struct text key, void *to)
{
    struct reader *in = self;
    struct fit_run *run = to;
    if (text_equals(key, "value"))
        return read_number(in, "a value", &run->value);
    if (text_equals(key, "result"))
        return read_result(in, &run->result);
    if (text_equals(key, "peak_active_bytes")) {
        run->has_peaks = true;
        return read_number(in, "bytes", &run->active_bytes);
    }
    if (text_equals(key, "peak_reserved_bytes"))
        return read_number(in, "bytes", &run->reserved_bytes);
    if (text_equals(key, "ooms"))
        return read_number(in, "a count", &run->ooms);
    if (text_equals(key, "duration_us"))
        return read_number(in, "microseconds", &run->duration_us);
    if (text_equals(key, "host_bytes"))
        return read_number(in, "bytes", &run->host_bytes);
    if (text_equals(key, "failure"))
        return read_text(in, "a failure (a string)", &run->failure);
    return json_skip(&in->json, in->err);
}

static bool read_run(void *self)
{
    struct reader *in = self;
    struct fit_run run = {.result = FIT_RESULTS};
    if (!has_room(in, in->gpu.run_count, MOST_RUNS, "runs") ||
        !read_object(in, "a run (an object)", run_member, &run))
        return false;
    if (run.result == FIT_RESULTS)
        return bad(in, "the result of a run before this");
    if (run.result == FIT_FAILED && !run.failure)
        run.failure = "the program failed";
    return fit_add_run(in->fit, &in->gpu, &run, in->err);
}

static bool gpu_member(void *self, struct text key, void *to)
{
    struct reader *in = self;
    struct fit_gpu *gpu = to;
    if (text_equals(key, "name"))
        return read_text(in, "the name of a GPU (a string)", &gpu->name);
    if (text_equals(key, "product"))
        return read_text(in, "the product name of a GPU (a string)", &gpu->product);
    if (text_equals(key, "memory_bytes"))
        return read_number(in, "bytes", &gpu->memory_bytes);
    if (text_equals(key, "other_bytes"))
        return read_number(in, "bytes", &gpu->other_bytes);
    if (text_equals(key, "runs"))
        return read_array(in, "runs (an array)", read_run);
    return json_skip(&in->json, in->err);
}

static bool read_gpu(void *self)
{
    struct reader *in = self;
    in->gpu = (struct fit_gpu){.product = ""};
    bool ok = has_room(in, in->fit->gpu_count, MOST_GPUS, "GPUs") &&
              read_object(in, "a GPU (an object)", gpu_member, &in->gpu);
    if (ok && !in->gpu.name)
        ok = bad(in, "the name of a GPU before this");
    ok = ok && fit_add_gpu(in->fit, &in->gpu, in->err);
    if (!ok)
        vec_free(in->gpu.runs, in->gpu.run_capacity, sizeof(*in->gpu.runs), in->fit->budget);
    return ok;
}

static bool read_word(void *self)
{
    struct reader *in = self;
    const char *word;
    return has_room(in, in->fit->command_count, MOST_WORDS, "words") &&
           read_text(in, "a word of the command (a string)", &word) &&
           fit_add_word(in->fit, word, in->err);
}

static bool root_member(void *self, struct text key, void *to)
{
    struct reader *in = self;
    struct fit *fit = to;
    if (text_equals(key, "variable"))
        return read_text(in, "the name of a variable (a string)", &fit->variable);
    if (text_equals(key, "values"))
        return read_text(in, "values (a string)", &fit->values);
    if (text_equals(key, "steps"))
        return read_number(in, "a count", &fit->steps);
    if (text_equals(key, "command"))
        return read_array(in, "a command (an array)", read_word);
    if (text_equals(key, "gpus"))
        return read_array(in, "GPUs (an array)", read_gpu);
    return json_skip(&in->json, in->err);
}

static bool decode(struct fit *fit, struct source *source, struct error *err)
{
    enum encoding encoding;
    struct reader in = {.fit = fit, .err = err};
    if (!sniff_encoding(source, &encoding, err))
        return false;
    if (encoding != ENCODING_JSON)
        return error_set(err, STATUS_BAD_INPUT, "expected %s (JSON), not %s", kind_name(KIND_FIT),
                         encoding_name(encoding));
    json_reader_init(&in.json, source);
    bool ok = json_begin(&in.json, err) && read_object(&in, "an object", root_member, fit) &&
              json_finish(&in.json, err);
    json_reader_release(&in.json);
    if (ok && (!fit->variable || !fit->values || fit->gpu_count == 0))
        return error_set(err, STATUS_BAD_INPUT, "expected %s, found no %s", kind_name(KIND_FIT),
                         !fit->variable ? "variable"
                         : !fit->values ? "values"
                                        : "GPU");
    return ok;
}

struct fit *fit_load_input(struct input *input, struct error *err)
{
    struct fit *fit = fit_create_within(input->budget, err);
    if (!fit) {
        input_discard(input);
        return NULL;
    }
    bool ok = decode(fit, &input->source, err);
    input_close(input);
    if (ok)
        return fit;
    fit_destroy(fit);
    return NULL;
}
