#include "analysis/code/site_pattern.h"

#include <ctype.h>
#include <string.h>

#include "analysis/code/paths.h"

#define LONGEST ((size_t)512) /* bytes of a name that are matched */

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* The size in bytes of the character at `at`. */
static size_t character_size(struct text text, size_t at)
{
    size_t size = 1;
    if ((unsigned char)text.bytes[at] >= 0xC0)
        while (size < 4 && at + size < text.size && is_continuation(text.bytes[at + size]))
            size++;
    return size;
}

/* The class at `p`, such as "[:digit:]": its size in bytes, or 0 if there is none. `*holds` tests a
 * character. */
static size_t class_size(const char *p, int (**holds)(int character))
{
    static const struct {
        const char *text;
        int (*holds)(int character);
    } classes[] = {
        {"[:alnum:]", isalnum}, {"[:alpha:]", isalpha}, {"[:blank:]", isblank},
        {"[:cntrl:]", iscntrl}, {"[:digit:]", isdigit}, {"[:graph:]", isgraph},
        {"[:lower:]", islower}, {"[:print:]", isprint}, {"[:punct:]", ispunct},
        {"[:space:]", isspace}, {"[:upper:]", isupper}, {"[:xdigit:]", isxdigit},
    };
    for (size_t i = 0; *p == '[' && i < sizeof(classes) / sizeof(classes[0]); i++) {
        size_t size = strlen(classes[i].text);
        if (strncmp(p, classes[i].text, size) == 0) {
            *holds = classes[i].holds;
            return size;
        }
    }
    return 0;
}

/* The end of the set that begins with the '[' at `set`, after its ']'. NULL if there is no ']': the
 * '[' is then an ordinary character. */
static const char *set_end(const char *set)
{
    const char *p = set + 1;
    int (*holds)(int character);
    if (*p == '!' || *p == '^')
        p++;
    if (*p == ']')
        p++;
    while (*p && *p != ']') {
        size_t size = class_size(p, &holds);
        p += size > 0 ? size : 1;
    }
    return *p ? p + 1 : NULL;
}

/* Sets contain ASCII characters only. */
static bool set_holds(const char *set, const char *end, char byte)
{
    const char *p = set + 1, *last = end - 1;
    bool negated = *p == '!' || *p == '^', found = false;
    unsigned char wanted = (unsigned char)byte;
    int (*holds)(int character);
    for (p += negated; p < last; p++) {
        unsigned char low = (unsigned char)*p, high = low;
        size_t size = class_size(p, &holds);
        if (size > 0) {
            found = found || (wanted < 0x80 && holds(wanted));
            p += size - 1;
            continue;
        }
        if (p + 2 < last && p[1] == '-') {
            high = (unsigned char)p[2];
            p += 2;
        }
        found = found || (wanted < 0x80 && low <= wanted && wanted <= high);
    }
    return found != negated;
}

/* Matches one item of the pattern other than '*' with the character at `at`. Returns the end of the
 * item, or NULL; `*taken` is the number of bytes of the text that it matched. */
static const char *match_item(const char *item, struct text text, size_t at, size_t *taken)
{
    const char *end;
    char byte = text.bytes[at];
    *taken = 1;
    if (*item == '?') {
        *taken = character_size(text, at);
        return item + 1;
    }
    if (*item == '[' && (end = set_end(item)) != NULL) {
        *taken = character_size(text, at);
        return set_holds(item, end, byte) ? end : NULL;
    }
    if (*item == '\\' && item[1])
        item++;
    bool same = *item == byte || (*item == '/' && byte == '\\');
    return *item && same ? item + 1 : NULL;
}

bool pattern_matches(const char *pattern, struct text text)
{
    const char *star = NULL; /* the pattern after the last '*' */
    size_t at = 0, from = 0; /* from: where the text of that '*' ends */
    while (at < text.size) {
        if (*pattern == '*') {
            star = ++pattern;
            from = at;
            continue;
        }
        size_t taken;
        const char *next = match_item(pattern, text, at, &taken);
        if (next) {
            pattern = next;
            at += taken;
        } else if (star) {
            pattern = star;
            at = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* "model.py", "model.py:39" or "model.py:39 forward"; with `anywhere` after any "/". */
struct forms {
    const char *pattern;
    bool anywhere;
    struct text file, name;
    uint32_t line;
    struct buffer *scratch; /* the pattern, a NUL, the form */
};

static bool matches_form(const struct forms *forms, bool with_line, bool with_name)
{
    struct buffer *scratch = forms->scratch;
    buffer_clear(scratch);
    buffer_puts(scratch, forms->anywhere ? "*/" : "");
    buffer_puts(scratch, forms->pattern);
    buffer_putc(scratch, '\0');
    size_t begin = scratch->size;
    buffer_add(scratch, forms->file.bytes, forms->file.size);
    if (with_line && forms->line > 0)
        buffer_printf(scratch, ":%u", (unsigned)forms->line);
    if (with_name) {
        buffer_putc(scratch, ' ');
        buffer_add(scratch, forms->name.bytes, forms->name.size);
    }
    return !scratch->failed &&
           pattern_matches(scratch->bytes,
                           (struct text){scratch->bytes + begin, scratch->size - begin});
}

static bool matches_some_form(const struct forms *forms)
{
    return matches_form(forms, false, false) || matches_form(forms, true, false) ||
           matches_form(forms, true, true);
}

static struct text first_bytes(struct text text)
{
    return (struct text){text.bytes, text.size < LONGEST ? text.size : LONGEST};
}

static struct text last_bytes(struct text text)
{
    size_t size = text.size < LONGEST ? text.size : LONGEST;
    return (struct text){text.bytes + text.size - size, size};
}

bool pattern_matches_site(const char *pattern, const struct site_table *sites, stack_id stack,
                          const struct site *site, struct text label, struct buffer *scratch)
{
    frame_id id;
    if (!site_frame(sites, stack, site, &id))
        return pattern_matches(pattern, first_bytes(label));
    const struct symbols *symbols = site_table_symbols(sites);
    struct frame frame = symbols_frame_at(symbols, id);
    struct text path = last_bytes(symbols_text(symbols, frame.file));
    struct forms forms = {.pattern = pattern,
                          .file = path_base(path),
                          .name = first_bytes(symbols_text(symbols, frame.name)),
                          .line = frame.line,
                          .scratch = scratch};
    if (matches_some_form(&forms))
        return true;
    if (!strchr(pattern, '/'))
        return false;
    forms.file = path;
    if (matches_some_form(&forms))
        return true;
    forms.anywhere = true;
    return matches_some_form(&forms);
}
