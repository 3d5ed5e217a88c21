#include "decode/profiler/chrome.h"

#include <string.h>

#include "decode/core/gzip.h"

/* Bytes before the end of the file in which an error means that the file is cut off: an incomplete
 * literal or escape. */
#define CUT_BYTES 16

/* True if the error is that the file ends here. What was read before is used. */
static bool is_cut(const struct chrome *chrome)
{
    const struct source *source = chrome->reader.source;
    const struct error *err = chrome->err;
    if (err->status != STATUS_BAD_INPUT)
        return false;
    if (strncmp(err->text, GZIP_CUT_SHORT, strlen(GZIP_CUT_SHORT)) == 0)
        return true;
    uint64_t end = source_offset(source) + (uint64_t)(source->end - source->pos);
    return source->at_eof && err->has_offset && err->offset + CUT_BYTES >= end;
}

/* Consumes the bracket after a comma too many. */
static bool take_trailing(struct chrome *chrome, uint8_t bracket, bool *more)
{
    uint8_t byte;
    if (!*more)
        return true;
    if (!json_peek(&chrome->reader, &byte, chrome->err))
        return false;
    if (byte == bracket) {
        chrome->reader.source->pos++;
        *more = false;
    }
    return true;
}

static bool read_events(struct chrome *chrome)
{
    bool more;
    if (!json_open(&chrome->reader, '[', "traceEvents (an array)", &more, chrome->err))
        return false;
    while (more)
        if (!chrome_read_event(chrome) || !json_more(&chrome->reader, '[', &more, chrome->err) ||
            !take_trailing(chrome, ']', &more))
            return false;
    return true;
}

static bool read_root(struct chrome *chrome)
{
    struct json_reader *reader = &chrome->reader;
    bool more, found = false;
    if (!json_open(reader, '{', "an object or an array", &more, chrome->err))
        return false;
    while (more) {
        struct text key;
        uint64_t offset;
        if (!json_offset(reader, &offset, chrome->err) || !json_read_key(reader, &key, chrome->err))
            return false;
        bool events = text_equals(key, "traceEvents");
        if (events && found)
            return error_set_at(chrome->err, STATUS_BAD_INPUT, offset, "a second 'traceEvents'");
        found = found || events;
        if (!(events ? read_events(chrome) : chrome_read_header(chrome, key)) ||
            !json_more(reader, '{', &more, chrome->err) || !take_trailing(chrome, '}', &more))
            return false;
    }
    return found || error_set_at(chrome->err, STATUS_BAD_INPUT, 0, "no key 'traceEvents'");
}

static bool read_file(struct chrome *chrome)
{
    uint8_t byte;
    return json_begin(&chrome->reader, chrome->err) &&
           json_peek(&chrome->reader, &byte, chrome->err) &&
           (byte == '[' ? read_events(chrome) : read_root(chrome)) &&
           json_finish(&chrome->reader, chrome->err);
}

bool chrome_read(struct profile *profile, struct source *source, struct error *err)
{
    struct chrome chrome = {.profile = profile, .err = err};
    json_reader_init(&chrome.reader, source);
    bool ok = read_file(&chrome);
    if (!ok && is_cut(&chrome) && profile->memory_count > 0) {
        profile->facts.is_cut = true;
        profile->facts.cut_at = source_offset(source);
        ok = true;
    }
    json_reader_release(&chrome.reader);
    buffer_release(&chrome.name);
    buffer_release(&chrome.call_stack);
    buffer_release(&chrome.call_from);
    return ok;
}
