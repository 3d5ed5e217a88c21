#include "analysis/code/regex_program.h"

#include <string.h>

#include "base/ascii.h"

static bool has_room(const struct program *program, size_t more)
{
    return more <= REGEX_STATES_MOST - program->count;
}

bool program_emit(struct program *program, struct state state)
{
    if (!has_room(program, 1))
        return false;
    program->states[program->count++] = state;
    return true;
}

bool program_insert(struct program *program, size_t start, struct state state)
{
    if (!has_room(program, 1))
        return false;
    memmove(&program->states[start + 1], &program->states[start],
            (program->count - start) * sizeof(state));
    program->states[start] = state;
    program->count++;
    return true;
}

static bool emit_copy(struct program *program, const struct state *code, size_t size)
{
    if (!has_room(program, size))
        return false;
    memcpy(&program->states[program->count], code, size * sizeof(*code));
    program->count += size;
    return true;
}

/* Repeats the code from `start` on any number of times, at least once. */
static bool loop_back(struct program *program, size_t start)
{
    int back = (int)start - (int)program->count;
    return program_emit(program, (struct state){.op = OP_SPLIT, .x = (int16_t)back, .y = 1});
}

static bool make_star(struct program *program, size_t start)
{
    int16_t size = (int16_t)(program->count - start);
    struct state split = {.op = OP_SPLIT, .x = 1, .y = (int16_t)(size + 2)};
    struct state jump = {.op = OP_JUMP, .x = (int16_t)(-size - 1)};
    return program_insert(program, start, split) && program_emit(program, jump);
}

/* Emits up to `count` optional copies. Before each copy, a split can skip to the end of the last
 * one. */
static bool emit_optional(struct program *program, const struct state *code, size_t size,
                          size_t count)
{
    if (!has_room(program, count) || !has_room(program, count * (size + 1)))
        return false;
    size_t end = program->count + count * (size + 1);
    for (size_t i = 0; i < count; i++) {
        int16_t skip = (int16_t)(end - program->count);
        if (!program_emit(program, (struct state){.op = OP_SPLIT, .x = 1, .y = skip}) ||
            !emit_copy(program, code, size))
            return false;
    }
    return true;
}

bool program_repeat(struct program *program, size_t start, int least, int most)
{
    struct state code[REGEX_STATES_MOST];
    size_t size = program->count - start;
    if (size == 0)
        return true;
    if (least == 0 && most == NO_LIMIT)
        return make_star(program, start);
    memcpy(code, &program->states[start], size * sizeof(*code));
    program->count = start;
    for (int i = 0; i < least; i++) {
        start = program->count;
        if (!emit_copy(program, code, size))
            return false;
    }
    if (most == NO_LIMIT)
        return loop_back(program, start);
    return emit_optional(program, code, size, (size_t)(most - least));
}

void byte_set_add(struct byte_set *set, int byte)
{
    set->has[byte / 8] |= (uint8_t)(1u << byte % 8);
}

static bool set_has(const struct byte_set *set, unsigned char byte)
{
    return set->has[byte / 8] >> byte % 8 & 1;
}

int byte_is_word(int byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || ascii_is_digit(byte) ||
           byte == '_';
}

/* The states that are reached at one position of the text, each once. */
struct reached {
    uint16_t states[REGEX_STATES_MOST]; /* states that consume a byte */
    size_t count;
    uint32_t seen[REGEX_STATES_MOST]; /* by state: the last position + 1 at which it was reached */
};

struct search {
    const struct state *states;
    const struct byte_set *sets;
    struct text text;
};

static bool holds_at(const struct search *search, enum operation op, size_t at)
{
    const struct text text = search->text;
    bool before = at > 0 && byte_is_word((unsigned char)text.bytes[at - 1]);
    bool after = at < text.size && byte_is_word((unsigned char)text.bytes[at]);
    switch (op) {
    case OP_TEXT_BEGIN:
        return at == 0;
    case OP_TEXT_END:
        return at == text.size;
    case OP_WORD_EDGE:
        return before != after;
    case OP_NOT_WORD_EDGE:
        return before == after;
    case OP_WORD_BEGIN:
        return !before && after;
    case OP_WORD_END:
        return before && !after;
    default:
        return false;
    }
}

/* Adds a state and all states that follow it without consuming a byte. Returns true if the pattern
 * matches. */
static bool reach(const struct search *search, struct reached *reached, uint16_t first, size_t at)
{
    uint16_t stack[REGEX_STATES_MOST + 1]; /* states that were not seen here before, and one */
    size_t depth = 0;
    stack[depth++] = first;
    while (depth > 0) {
        uint16_t index = stack[--depth];
        const struct state *state = &search->states[index];
        if (reached->seen[index] == at + 1)
            continue;
        reached->seen[index] = (uint32_t)at + 1;
        switch ((enum operation)state->op) {
        case OP_MATCH:
            return true;
        case OP_BYTE:
        case OP_SET:
            reached->states[reached->count++] = index;
            break;
        case OP_SPLIT:
            stack[depth++] = (uint16_t)(index + state->y);
            stack[depth++] = (uint16_t)(index + state->x);
            break;
        case OP_JUMP:
            stack[depth++] = (uint16_t)(index + state->x);
            break;
        default:
            if (holds_at(search, (enum operation)state->op, at))
                stack[depth++] = (uint16_t)(index + 1);
            break;
        }
    }
    return false;
}

bool program_search(const struct state *states, size_t count, const struct byte_set *sets,
                    struct text text)
{
    const struct search search = {states, sets, text};
    struct reached lists[2], *now = &lists[0], *next = &lists[1];
    for (int i = 0; i < 2; i++) {
        memset(lists[i].seen, 0, count * sizeof(lists[i].seen[0]));
        lists[i].count = 0;
    }
    for (size_t at = 0;; at++) {
        if (reach(&search, now, 0, at)) /* a match may begin anywhere */
            return true;
        if (at == text.size)
            return false;
        unsigned char byte = (unsigned char)text.bytes[at];
        next->count = 0;
        for (size_t i = 0; i < now->count; i++) {
            uint16_t index = now->states[i];
            const struct state *state = &states[index];
            bool takes =
                state->op == OP_BYTE ? state->byte == byte : set_has(&sets[state->x], byte);
            if (takes && reach(&search, next, (uint16_t)(index + 1), at + 1))
                return true;
        }
        struct reached *done = now;
        now = next;
        next = done;
    }
}
