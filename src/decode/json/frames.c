#include "decode/json/frames.h"

#include <string.h>

#include "base/hash.h"
#include "decode/core/snapshot_fields.h"

#define MAX_KNOWN       ((size_t)1 << 16)
#define MAX_BYTES_HELD  ((size_t)16 << 20)
#define MAX_FRAME_BYTES ((size_t)16 << 10) /* longer frames are not remembered */

bool json_frames_init(struct json_frames *frames, struct json_reader *reader,
                      struct symbols *symbols, struct error *err)
{
    struct budget *budget = reader->source->budget;

    *frames = (struct json_frames){
        .reader = reader, .symbols = symbols, .lines = {.symbols = symbols, .budget = budget}};
    arena_init(&frames->bytes, budget);
    if (!vec_reserve(frames->known, frames->capacity, 64, budget, err))
        return false;
    frames->known[0] = (struct known_frame){0};
    frames->count = 1;
    return true;
}

void json_frames_release(struct json_frames *frames)
{
    struct budget *budget = frames->reader->source->budget;

    vec_free(frames->known, frames->capacity, sizeof(*frames->known), budget);
    vec_free(frames->stack, frames->stack_capacity, sizeof(*frames->stack), budget);
    idtable_release(&frames->index, budget);
    arena_release(&frames->bytes);
    traceback_frames_release(&frames->lines);
}

static void forget_all(struct json_frames *frames)
{
    idtable_release(&frames->index, frames->reader->source->budget);
    arena_release(&frames->bytes);
    frames->bytes_held = 0;
    frames->known[0] = (struct known_frame){0};
    frames->count = 1;
}

/* Length of the flat object at `p`; 0 if it is not flat or not complete within `room` bytes. */
static size_t flat_object(const uint8_t *p, size_t room)
{
    const uint8_t *begin = p, *end = p + room;

    if (p == end || *p != '{')
        return 0;
    for (p++; p < end; p++) {
        if (*p == '}')
            return (size_t)(p - begin) + 1;
        if (*p == '{' || *p == '[')
            return 0;
        if (*p != '"')
            continue;
        do {
            p = memchr(p + 1, '"', (size_t)(end - p - 1));
            if (p == NULL)
                return 0;
        } while (
            p[-1] ==
            '\\'); /* may be an escaped backslash, in which case the length is 0 or too large */
    }
    return 0;
}

static uint32_t frame_tag(const uint8_t *bytes, size_t size)
{
    return (uint32_t)hash_bytes(bytes, size, hash_seed());
}

static bool has_bytes(const void *known, uint32_t index, const void *wanted)
{
    const struct known_frame *frame = (const struct known_frame *)known + index;
    const struct text *bytes = wanted;

    return frame->size == bytes->size && memcmp(frame->bytes, bytes->bytes, bytes->size) == 0;
}

static bool find_known(const struct json_frames *frames, const uint8_t *bytes, size_t size,
                       uint32_t tag, uint32_t *found)
{
    const struct text wanted = {(const char *)bytes, size};

    return idtable_find(&frames->index, tag, has_bytes, frames->known, &wanted, found);
}

/* Remembers a frame's bytes, which were copied before it was read, since reading may move the
 * buffer. */
static bool remember(struct json_frames *frames, uint32_t tag, const struct known_frame *frame,
                     struct error *err)
{
    struct budget *budget = frames->reader->source->budget;

    return vec_push(frames->known, frames->count, frames->capacity, budget, err, *frame) &&
           idtable_add(&frames->index, tag, (uint32_t)frames->count - 1, budget, err);
}

/* Reads a string. Any other value reads as empty. */
static bool read_text(struct json_frames *frames, string_id *id, struct error *err)
{
    struct text text;
    uint8_t byte;

    if (!json_peek(frames->reader, &byte, err))
        return false;
    if (byte != '"') {
        *id = STRING_EMPTY;
        return json_skip(frames->reader, err);
    }
    return json_read_string(frames->reader, "a string", &text, err) &&
           symbols_string(frames->symbols, text.bytes, text.size, id, err);
}

/* Reads a line number. An interpreter that does not know it writes None or -1, possibly as 2^64-1.
 */
static bool read_line(struct json_reader *reader, uint32_t *line, struct error *err)
{
    struct json_integer number = {0};
    uint8_t byte;

    if (!json_peek(reader, &byte, err))
        return false;
    if (byte != '-' && (byte < '0' || byte > '9')) {
        *line = 0;
        return json_skip(reader, err);
    }
    if (!json_read_integer(reader, "a line number (an integer)", &number, err))
        return false;
    *line = number.negative || number.magnitude > UINT32_MAX ? 0 : (uint32_t)number.magnitude;
    return true;
}

/* Reads a frame object as JSON. */
static bool read_frame(struct json_frames *frames, frame_id *id, struct error *err)
{
    struct json_reader *reader = frames->reader;
    const struct row_fields *known = &snapshot_rows[ROW_FRAME];
    struct frame_draft frame = {0};
    bool more;

    if (!json_open(reader, '{', known->expected_object, &more, err))
        return false;
    while (more) {
        struct text key;
        bool ok;

        if (!json_read_key(reader, &key, err))
            return false;
        unsigned index = field_find(known->fields, known->count, key);
        if (index == FRAME_LINE)
            ok = read_line(reader, &frame.frame.line, err);
        else if (index < known->count)
            ok = read_text(frames, field_at(&known->fields[index], &frame), err);
        else
            ok = json_skip(reader, err);
        if (!ok || !json_more(reader, '{', &more, err))
            return false;
    }
    return frame_finish(&frame, frames->symbols, id, err);
}

/* Reads a frame that no guess matched. `*known` becomes its index, or 0 if it is not remembered. */
static bool look_up(struct json_frames *frames, uint32_t *known, frame_id *id, struct error *err)
{
    struct source *source = frames->reader->source;
    size_t room = (size_t)(source->end - source->pos);
    size_t size = flat_object(source->pos, room < MAX_FRAME_BYTES ? room : MAX_FRAME_BYTES);
    struct known_frame frame;
    uint8_t *copy;
    uint32_t tag;
    uint64_t start = source_offset(source);

    *known = 0;
    if (size == 0)
        return read_frame(frames, id, err);
    tag = frame_tag(source->pos, size);
    if (find_known(frames, source->pos, size, tag, known)) {
        source->pos += size;
        *id = frames->known[*known].frame;
        return true;
    }
    if (frames->count >= MAX_KNOWN || frames->bytes_held + size > MAX_BYTES_HELD)
        forget_all(frames);
    copy = arena_alloc(&frames->bytes, size, err);
    if (copy == NULL)
        return false;
    memcpy(copy, source->pos, size);
    frames->bytes_held += size;
    if (!read_frame(frames, id, err))
        return false;
    *known = 0;
    if (source_offset(source) - start != size) /* flat_object()'s shortcuts gave a wrong length */
        return true;
    frame = (struct known_frame){.bytes = copy, .size = (uint32_t)size, .frame = *id};
    *known = (uint32_t)frames->count;
    return remember(frames, tag, &frame, err);
}

/* The frame at the source's position, after the known one `*last`. */
static bool next_frame(struct json_frames *frames, uint32_t *last, frame_id *id, struct error *err)
{
    struct source *source = frames->reader->source;
    size_t room = (size_t)(source->end - source->pos);
    uint32_t here;
    struct known_frame *before = &frames->known[*last];

    for (size_t i = 0; i < FRAME_GUESSES; i++) {
        const struct known_frame *guess = &frames->known[before->guesses[i]];

        if (guess->size != 0 && guess->size <= room &&
            memcmp(guess->bytes, source->pos, guess->size) == 0) {
            source->pos += guess->size;
            *id = guess->frame;
            here = before->guesses[i];
            before->guesses[i] = before->guesses[0];
            before->guesses[0] = here;
            *last = here;
            return true;
        }
    }
    if (!look_up(frames, &here, id, err))
        return false;
    if (*last < frames->count) { /* if not, all frames have been forgotten meanwhile */
        before = &frames->known[*last];
        if (here != 0) {
            before->guesses[1] = before->guesses[0];
            before->guesses[0] = here;
        }
    }
    *last = here;
    return true;
}

/* Reads a frame that is a string. */
static bool read_string_frame(struct json_frames *frames, frame_id *id, struct error *err)
{
    string_id text;

    return read_text(frames, &text, err) && traceback_frame(&frames->lines, text, id, err);
}

/* Handles the ", " that Python writes between items; anything else takes the general path. */
static bool another(struct json_reader *reader, bool *more, struct error *err)
{
    struct source *source = reader->source;

    if (source->pos[0] == ',' && source->pos[1] == ' ' && source->pos[2] == '{') {
        source->pos += 2;
        *more = true;
        return true;
    }
    return json_more(reader, '[', more, err);
}

static bool read_array(struct json_frames *frames, stack_id *stack, struct error *err)
{
    struct json_reader *reader = frames->reader;
    struct source *source = reader->source;
    size_t count = 0;
    uint32_t last = 0;
    bool more, has_lines = false;

    if (!json_open(reader, '[', "frames (an array)", &more, err))
        return false;
    while (more) {
        uint8_t byte;

        if ((size_t)(source->end - source->pos) < MAX_FRAME_BYTES)
            source_look_ahead(source, MAX_FRAME_BYTES);
        if (!vec_reserve(frames->stack, frames->stack_capacity, count + 1, source->budget, err) ||
            !json_peek(reader, &byte, err))
            return false;
        if (!(byte == '"' ? read_string_frame(frames, &frames->stack[count], err)
                          : next_frame(frames, &last, &frames->stack[count], err)))
            return false;
        count++;
        has_lines = has_lines || byte == '"';
        if (!another(reader, &more, err))
            return false;
    }
    if (has_lines)
        traceback_order(frames->symbols, frames->stack, count);
    return symbols_stack(frames->symbols, frames->stack, count, stack, err);
}

bool json_frames_read(struct json_frames *frames, stack_id *stack, struct error *err)
{
    frame_id frame;
    uint8_t byte;

    if (!json_peek(frames->reader, &byte, err))
        return false;
    if (byte != '"')
        return read_array(frames, stack, err);
    if (!read_string_frame(frames, &frame, err))
        return false;
    if (symbols_frame_at(frames->symbols, frame).name != STRING_EMPTY)
        return symbols_stack(frames->symbols, &frame, 1, stack, err);
    *stack = STACK_NONE;
    return true;
}
