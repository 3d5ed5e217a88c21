/* Reads the JSON of a Chrome trace into a profile. Internal to decode/profiler. */
#ifndef MEMSNAP_DECODE_PROFILER_CHROME_H
#define MEMSNAP_DECODE_PROFILER_CHROME_H

#include <string.h>

#include "decode/json/reader.h"
#include "decode/profiler/profile.h"

#define THREAD_KEY_HALF 32 /* bytes of a process's or thread's name that are kept */

/* Compares with a literal, without a call. */
#define IS(text, literal)                                                                          \
    ((text).size == sizeof(literal) - 1 && memcmp((text).bytes, literal, sizeof(literal) - 1) == 0)

/* The name of a process or thread. Both together are the key of a thread. */
struct thread_name {
    char bytes[THREAD_KEY_HALF];
    size_t size;
};

enum chrome_argument {
    ARGUMENT_BYTES,
    ARGUMENT_ADDR,
    ARGUMENT_TOTAL_ALLOCATED,
    ARGUMENT_TOTAL_RESERVED,
    ARGUMENT_DEVICE_ID,
    ARGUMENT_DEVICE_TYPE,
    ARGUMENT_SEQUENCE, /* those above are of [memory] */
    ARGUMENT_CORRELATION,
    ARGUMENTS,
};

enum chrome_category {
    CATEGORY_UNSEEN,
    CATEGORY_OPERATORS, /* cpu_op, Operator, or none at all */
    CATEGORY_PYTHON,
    CATEGORY_BUILT_IN, /* the same of a function written in C */
    CATEGORY_ANNOTATIONS,
    CATEGORY_MEMORY,
    CATEGORY_KERNELS,  /* kernels and copies on a device; ignored unless wanted */
    CATEGORY_LAUNCHES, /* calls of its runtime and driver; likewise */
    CATEGORY_IGNORED,
};

/* An event whose members are being read. */
struct chrome_event {
    char phase; /* 0: none */
    uint8_t category;
    bool has_time, has_first_argument;
    int64_t time_ns, duration_ns;
    struct thread_name process, thread;
    uint32_t present; /* 1 << enum chrome_argument */
    struct json_integer arguments[ARGUMENTS];
    uint64_t offset;
};

/* A Python function written in C, which has no line in the program. */
static inline bool chrome_is_built_in(struct text name)
{
    return text_starts(name, "<built-in ");
}

struct chrome {
    struct json_reader reader;
    struct profile *profile;
    /* of the event; empty if there is none */
    struct buffer name, call_stack, call_from;
    /* of the event before */
    char last_thread_key[2 * THREAD_KEY_HALF + 1];
    size_t last_thread_size; /* 0: none yet */
    uint16_t last_thread;
    struct error *err;
};

/* scalars.c: reads microseconds, with or without a fraction, and converts them to nanoseconds. */
bool chrome_read_time(struct chrome *chrome, int64_t *time_ns);
/* Reads the name of a process or thread, which is a number or a string. */
bool chrome_read_thread_name(struct chrome *chrome, struct thread_name *name);
/* Replaces the contents of the buffer by a copy of the text. Only the beginning of a text that is
 * too long is copied. */
bool chrome_hold(struct chrome *chrome, struct buffer *buffer, struct text text);

/* arguments.c */
bool chrome_read_arguments(struct chrome *chrome, struct chrome_event *event);

/* keep.c: adds an event that was read to the profile, unless it does not matter. */
bool chrome_keep_event(struct chrome *chrome, const struct chrome_event *event);

/* event.c: reads one item of traceEvents and adds it to the profile, unless it does not matter. */
bool chrome_read_event(struct chrome *chrome);

/* header.c: reads the value of a top-level key other than traceEvents. */
bool chrome_read_header(struct chrome *chrome, struct text key);

/* chrome.c: reads a file. */
bool chrome_read(struct profile *profile, struct source *source, struct error *err);

#endif
