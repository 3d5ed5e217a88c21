/* The program of a regular expression: states that are followed through a text all at once. For
 * regex.c only. */
#ifndef MEMSNAP_ANALYSIS_CODE_REGEX_PROGRAM_H
#define MEMSNAP_ANALYSIS_CODE_REGEX_PROGRAM_H

#include "analysis/code/regex.h"

enum operation {
    OP_BYTE,  /* takes `byte` */
    OP_SET,   /* takes a byte of sets[x] */
    OP_SPLIT, /* continues at x and at y */
    OP_JUMP,  /* continues at x */
    OP_MATCH,
    /* These take nothing and hold only at some places of the text. */
    OP_TEXT_BEGIN,
    OP_TEXT_END,
    OP_WORD_EDGE,
    OP_NOT_WORD_EDGE,
    OP_WORD_BEGIN,
    OP_WORD_END,
};

/* The `x` and `y` of splits and jumps are relative to the state itself, so that code can be copied
 * and moved. */
struct state {
    uint8_t op, byte;
    int16_t x, y;
};

struct byte_set {
    uint8_t has[32]; /* a bit per byte */
};

/* Code from some state on is a piece of the pattern: control enters at its first state and leaves
 * after its last one. */
struct program {
    struct state states[REGEX_STATES_MOST];
    size_t count;
    struct byte_set *sets;
    size_t set_count;
};

#define NO_LIMIT (-1)

/* All of these return false when the program would have more than REGEX_STATES_MOST states. */
bool program_emit(struct program *program, struct state state);
/* Puts a state before the code from `start` on. No state before `start` may jump into that code. */
bool program_insert(struct program *program, size_t start, struct state state);
/* Replaces the code from `start` on by `least` to `most` copies of it; `most` may be NO_LIMIT. */
bool program_repeat(struct program *program, size_t start, int least, int most);

bool program_search(const struct state *states, size_t count, const struct byte_set *sets,
                    struct text text);

void byte_set_add(struct byte_set *set, int byte);
int byte_is_word(int byte); /* a letter, a digit or '_'; like the functions of ctype.h */

#endif
