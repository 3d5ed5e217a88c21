#include "analysis/code/regex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/code/regex_program.h"

#define NESTING_MOST       200
#define REPEATS_MOST       32767     /* RE_DUP_MAX of glibc */
#define REGEX_PATTERN_MOST INT16_MAX /* so that a state's `x` can be the index of any set */

struct regex {
    struct state *states;
    struct byte_set *sets;
    size_t count;
};

/* A parser, which is always after the part of the pattern that it has parsed. */
struct parser {
    struct text rest;
    struct program program;
    int depth;       /* of parentheses */
    const char *why; /* set once something is wrong */
};

static bool fail(struct parser *parser, const char *why)
{
    parser->why = why;
    return false;
}

static bool check_room(struct parser *parser, bool has_room)
{
    return has_room ||
           fail(parser, "too large: more than 2000 states, with repeats multiplied out");
}

static bool emit(struct parser *parser, struct state state)
{
    return check_room(parser, program_emit(&parser->program, state));
}

/* The byte `ahead` bytes after the next one, or -1 at the end. */
static int peek(const struct parser *parser, size_t ahead)
{
    return ahead < parser->rest.size ? (unsigned char)parser->rest.bytes[ahead] : -1;
}

static void skip(struct parser *parser, size_t size)
{
    parser->rest.bytes += size;
    parser->rest.size -= size;
}

static bool emit_set(struct parser *parser, struct byte_set set, bool negated)
{
    struct program *program = &parser->program;
    for (size_t i = 0; negated && i < sizeof(set.has); i++)
        set.has[i] = (uint8_t)~set.has[i];
    program->sets[program->set_count] = set;
    return emit(parser, (struct state){.op = OP_SET, .x = (int16_t)program->set_count++});
}

/* Adds the ASCII bytes for which a function of ctype.h is true. */
static void add_class(struct byte_set *set, int (*holds)(int))
{
    for (int c = 0; c < 0x80; c++)
        if (holds(c))
            byte_set_add(set, c);
}

/* Parses a class in a bracket expression, such as "[:alpha:]". */
static bool parse_class(struct parser *parser, struct byte_set *set)
{
    static const struct {
        const char *name;
        int (*holds)(int);
    } classes[] = {
        {"[:alpha:]", isalpha}, {"[:digit:]", isdigit}, {"[:alnum:]", isalnum},
        {"[:upper:]", isupper}, {"[:lower:]", islower}, {"[:space:]", isspace},
        {"[:blank:]", isblank}, {"[:punct:]", ispunct}, {"[:print:]", isprint},
        {"[:graph:]", isgraph}, {"[:cntrl:]", iscntrl}, {"[:xdigit:]", isxdigit},
    };
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (text_starts(parser->rest, classes[i].name)) {
            skip(parser, strlen(classes[i].name));
            add_class(set, classes[i].holds);
            return true;
        }
    return fail(parser, "'[:' without the name of a class and ':]'");
}

/* Parses one end of a range. */
static bool parse_bracket_byte(struct parser *parser, int *byte)
{
    int c = peek(parser, 0), after = peek(parser, 1);
    if (c < 0)
        return fail(parser, "'[' without ']'");
    if (c == '[' && (after == '.' || after == '=' || after == ':'))
        return fail(parser, after == ':' ? "a range that ends in a class"
                                         : "collating elements are not supported");
    skip(parser, 1);
    *byte = c;
    return true;
}

static bool parse_range(struct parser *parser, struct byte_set *set)
{
    int low, high;
    if (!parse_bracket_byte(parser, &low))
        return false;
    high = low;
    if (peek(parser, 0) == '-' && peek(parser, 1) >= 0 && peek(parser, 1) != ']') {
        skip(parser, 1);
        if (!parse_bracket_byte(parser, &high))
            return false;
    }
    for (int c = low; c <= high; c++)
        byte_set_add(set, c);
    return low <= high || fail(parser, "a range that ends before it begins");
}

/* Parses a bracket expression after its '['. */
static bool parse_bracket(struct parser *parser)
{
    struct byte_set set = {0};
    bool negated = peek(parser, 0) == '^';
    skip(parser, negated);
    for (bool is_first = true; is_first || peek(parser, 0) != ']'; is_first = false) {
        bool is_class = peek(parser, 0) == '[' && peek(parser, 1) == ':';
        if (!(is_class ? parse_class(parser, &set) : parse_range(parser, &set)))
            return false;
    }
    skip(parser, 1);
    return emit_set(parser, set, negated);
}

/* Parses an escape after its backslash. *is_place: it matches a position in the text, so it cannot
 * be repeated. */
static bool parse_escape(struct parser *parser, bool *is_place)
{
    static const char marks[] = "bB<>`'";
    static const uint8_t places[] = {OP_WORD_EDGE, OP_NOT_WORD_EDGE, OP_WORD_BEGIN,
                                     OP_WORD_END,  OP_TEXT_BEGIN,    OP_TEXT_END};
    int c = peek(parser, 0);
    if (c < 0)
        return fail(parser, "a backslash at the end");
    skip(parser, 1);
    if (c >= '1' && c <= '9')
        return fail(parser, "back-references are not supported");
    if (c == 'w' || c == 'W' || c == 's' || c == 'S') {
        struct byte_set set = {0};
        add_class(&set, c == 'w' || c == 'W' ? byte_is_word : isspace);
        return emit_set(parser, set, c == 'W' || c == 'S');
    }
    const char *mark = c ? strchr(marks, c) : NULL;
    *is_place = mark;
    if (mark)
        return emit(parser, (struct state){.op = places[mark - marks]});
    return emit(parser, (struct state){.op = OP_BYTE, .byte = (uint8_t)c});
}

static bool parse_alternatives(struct parser *parser);

/* Parses a group after its '('. */
static bool parse_group(struct parser *parser)
{
    if (++parser->depth > NESTING_MOST)
        return fail(parser, "more than 200 nested parentheses");
    if (!parse_alternatives(parser))
        return false;
    if (peek(parser, 0) != ')')
        return fail(parser, "'(' without ')'");
    skip(parser, 1);
    parser->depth--;
    return true;
}

static bool parse_atom(struct parser *parser, bool *is_place)
{
    int c = peek(parser, 0);
    *is_place = c == '^' || c == '$';
    skip(parser, 1);
    switch (c) {
    case '(':
        return parse_group(parser);
    case '[':
        return parse_bracket(parser);
    case '\\':
        return parse_escape(parser, is_place);
    case '.':
        return emit_set(parser, (struct byte_set){0}, true);
    case '^':
        return emit(parser, (struct state){.op = OP_TEXT_BEGIN});
    case '$':
        return emit(parser, (struct state){.op = OP_TEXT_END});
    case '*':
    case '+':
    case '?':
    case '{':
        return fail(parser, "a repeat of nothing");
    default:
        return emit(parser, (struct state){.op = OP_BYTE, .byte = (uint8_t)c});
    }
}

/* Parses a number; -1 if there is none. */
static bool parse_number(struct parser *parser, int *number)
{
    *number = -1;
    for (int c; (c = peek(parser, 0)) >= '0' && c <= '9'; skip(parser, 1)) {
        *number = (*number < 0 ? 0 : *number * 10) + c - '0';
        if (*number > REPEATS_MOST)
            return fail(parser, "a repeat of more than 32767");
    }
    return true;
}

/* Parses bounds after their '{': "2}", "2,}", ",4}" or "2,4}". */
static bool parse_bounds(struct parser *parser, int *least, int *most)
{
    if (!parse_number(parser, least))
        return false;
    *most = *least;
    if (peek(parser, 0) == ',') {
        skip(parser, 1);
        if (!parse_number(parser, most))
            return false;
        *most = *most < 0 ? NO_LIMIT : *most;
        *least = *least < 0 ? 0 : *least;
    }
    if (peek(parser, 0) != '}' || *least < 0 || (*most != NO_LIMIT && *most < *least))
        return fail(parser, "a repeat that is not {2}, {2,} or {2,4}");
    skip(parser, 1);
    return true;
}

/* Parses an atom and the repetitions after it. */
static bool parse_piece(struct parser *parser)
{
    size_t start = parser->program.count;
    bool is_place;
    if (!parse_atom(parser, &is_place))
        return false;
    for (;;) {
        int c = peek(parser, 0), least = c == '+', most = c == '?' ? 1 : NO_LIMIT;
        if (c != '*' && c != '+' && c != '?' && c != '{')
            return true;
        if (is_place)
            return fail(parser, "a repeat of nothing");
        skip(parser, 1);
        if ((c == '{' && !parse_bounds(parser, &least, &most)) ||
            !check_room(parser, program_repeat(&parser->program, start, least, most)))
            return false;
    }
}

/* Parses a branch, up to a '|', to a ')' that closes a group, or to the end. Any other ')' is
 * literal. */
static bool parse_branch(struct parser *parser)
{
    for (int c; (c = peek(parser, 0)) >= 0 && c != '|' && (c != ')' || parser->depth == 0);)
        if (!parse_piece(parser))
            return false;
    return true;
}

static bool parse_alternatives(struct parser *parser)
{
    struct program *program = &parser->program;
    size_t start = program->count, jump = 0; /* jump: at the end of the alternatives so far */
    for (;;) {
        if (!parse_branch(parser))
            return false;
        if (jump > 0)
            program->states[jump].x = (int16_t)(program->count - jump);
        if (peek(parser, 0) != '|')
            return true;
        skip(parser, 1);
        struct state split = {.op = OP_SPLIT, .x = 1, .y = (int16_t)(program->count - start + 2)};
        jump = program->count + 1;
        if (!check_room(parser, program_insert(program, start, split)) ||
            !emit(parser, (struct state){.op = OP_JUMP}))
            return false;
    }
}

/* Copies the program into exactly as much memory as it needs. */
static struct regex *keep(const struct program *program)
{
    size_t states = program->count * sizeof(struct state);
    size_t sets = program->set_count * sizeof(struct byte_set);
    struct regex *regex = malloc(sizeof(*regex) + states + sets);
    if (!regex)
        return NULL;
    regex->count = program->count;
    regex->states = (struct state *)(regex + 1);
    regex->sets = (struct byte_set *)(regex->states + program->count);
    memcpy(regex->states, program->states, states);
    if (sets > 0)
        memcpy(regex->sets, program->sets, sets);
    return regex;
}

struct regex *regex_compile(struct text pattern, const char **why)
{
    struct parser parser = {.rest = pattern};
    bool ok = pattern.size <= REGEX_PATTERN_MOST || fail(&parser, "a pattern of over 32767 bytes");
    if (ok)
        parser.program.sets = calloc(pattern.size + 1, sizeof(struct byte_set));
    ok = ok && parser.program.sets && parse_alternatives(&parser) &&
         emit(&parser, (struct state){.op = OP_MATCH});
    struct regex *regex = ok ? keep(&parser.program) : NULL;
    free(parser.program.sets);
    *why = parser.why;
    return regex;
}

void regex_destroy(struct regex *regex)
{
    free(regex);
}

size_t regex_states(const struct regex *regex)
{
    return regex->count;
}

bool regex_search(const struct regex *regex, struct text text)
{
    return program_search(regex->states, regex->count, regex->sets, text);
}
