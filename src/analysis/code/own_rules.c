#include "analysis/code/own_rules.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define RULES_MOST   1000
#define LINE_MOST    4096
#define NAME_MOST    64
#define SUBJECT_PART 512 /* bytes of a file's or a function's name */

struct own_rule {
    regex_t regex;
    uint8_t category;
};

struct own_rules {
    struct own_rule *items;
    size_t count;
};

static struct text trim(struct text text)
{
    while (text.size > 0 && strchr(" \t\r", text.bytes[0])) {
        text.bytes++;
        text.size--;
    }
    while (text.size > 0 && strchr(" \t\r", text.bytes[text.size - 1]))
        text.size--;
    return text;
}

/* Where a rule stands, for what is said of it. */
struct place {
    const char *path;
    size_t line;
};

static bool bad_rule(const struct place *place, const char *what, struct error *err)
{
    return error_set(err, STATUS_USAGE, "%.80s:%zu: %s", place->path, place->line, what);
}

/* Names are shown everywhere, so they are words: none of a terminal's commands. */
static bool is_shown(struct text name)
{
    uint32_t code;
    for (size_t at = 0, length; at < name.size; at += length) {
        length = utf8_decode(name.bytes + at, name.size - at, UTF8_REFUSE_SURROGATES, &code);
        if (length == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0))
            return false;
    }
    return true;
}

static bool name_category(struct text name, const struct place *place, uint8_t *category,
                          struct error *err)
{
    char text[NAME_MOST + 1];
    if (name.size == 0 || name.size > NAME_MOST || !is_shown(name))
        return bad_rule(place, "expected a category of 1 to 64 visible bytes before the colon",
                        err);
    memcpy(text, name.bytes, name.size);
    text[name.size] = '\0';
    if (!category_define(text, category))
        return bad_rule(place, "expected fewer categories of one's own: there may be 53", err);
    return true;
}

static bool compile(struct text pattern, const struct place *place, regex_t *regex,
                    struct error *err)
{
    char text[LINE_MOST + 1], why[96], message[160];
    if (pattern.size == 0)
        return bad_rule(place, "expected a regular expression after the colon", err);
    memcpy(text, pattern.bytes, pattern.size);
    text[pattern.size] = '\0';
    int code = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return true;
    regerror(code, regex, why, sizeof(why));
    snprintf(message, sizeof(message), "expected a POSIX extended regular expression: %s", why);
    return bad_rule(place, message, err);
}

static bool add_line(struct own_rules *rules, struct text line, const struct place *place,
                     struct error *err)
{
    line = trim(line);
    if (line.size == 0 || line.bytes[0] == '#')
        return true;
    const char *colon = memchr(line.bytes, ':', line.size);
    if (!colon || line.size > LINE_MOST || memchr(line.bytes, '\0', line.size))
        return bad_rule(place, "expected 'category: regex', as in 'activation: model\\.py'", err);
    if (rules->count == RULES_MOST)
        return bad_rule(place, "expected at most 1000 rules", err);
    size_t before = (size_t)(colon - line.bytes);
    struct own_rule rule;
    if (!name_category(trim((struct text){line.bytes, before}), place, &rule.category, err) ||
        !compile(trim((struct text){colon + 1, line.size - before - 1}), place, &rule.regex, err))
        return false;
    rules->items[rules->count++] = rule;
    return true;
}

struct own_rules *own_rules_parse(const char *path, const char *text, size_t size,
                                  struct error *err)
{
    struct own_rules *rules = calloc(1, sizeof(*rules));
    if (rules)
        rules->items = calloc(RULES_MOST, sizeof(*rules->items));
    bool ok = rules && rules->items;
    if (!ok)
        error_set(err, STATUS_LIMIT, "out of memory");
    for (struct place place = {path, 1}; ok && size > 0; place.line++) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        ok = add_line(rules, (struct text){text, length}, &place, err);
        text += length + (end != NULL);
        size -= length + (end != NULL);
    }
    if (ok)
        return rules;
    own_rules_destroy(rules);
    return NULL;
}

void own_rules_destroy(struct own_rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->count; i++)
        regfree(&rules->items[i].regex);
    free(rules->items);
    free(rules);
}

static void add_part(char *subject, size_t *size, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        subject[(*size)++] = bytes[i] == '\0' ? '?' : bytes[i];
}

uint8_t own_rules_match(const struct own_rules *rules, struct text file, struct text function)
{
    char subject[2 * SUBJECT_PART + 2];
    size_t size = 0, cut = file.size > SUBJECT_PART ? file.size - SUBJECT_PART : 0;
    add_part(subject, &size, file.bytes + cut, file.size - cut);
    subject[size++] = ':';
    add_part(subject, &size, function.bytes,
             function.size > SUBJECT_PART ? SUBJECT_PART : function.size);
    subject[size] = '\0';
    for (size_t i = 0; i < rules->count; i++)
        if (regexec(&rules->items[i].regex, subject, 0, NULL, 0) == 0)
            return rules->items[i].category;
    return OWN_RULES_NONE;
}
