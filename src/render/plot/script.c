#include "render/plot/script.h"

#include <string.h>

#include "base/ascii.h"
#include "base/buffer.h"
#include "render/core/escape.h"

#define SETTINGS_MOST ((size_t)1 << 20) /* bytes; the largest page has some 20 KB */
#define NAME_MOST     32
#define ARRAYS_MOST   16
#define DIGITS_MOST   24

static const char lower_case[] = "abcdefghijklmnopqrstuvwxyz_";
static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
static const char digits[] = "0123456789";
static const char hex_digits[] = "0123456789ABCDEF";

/* One line of the settings. */
struct parser {
    const char *at;
    const struct plot_script_parts *parts;
    struct text arrays[ARRAYS_MOST]; /* the arrays declared so far */
    size_t array_count;
};

static bool skip(struct parser *parser, const char *expected)
{
    size_t size = strlen(expected);
    if (strncmp(parser->at, expected, size) != 0)
        return false;
    parser->at += size;
    return true;
}

/* True for 1 to `most` characters of `set`. */
static bool skip_span(struct parser *parser, const char *set, size_t most)
{
    size_t size = strspn(parser->at, set);
    parser->at += size;
    return size > 0 && size <= most;
}

static bool read_name(struct parser *parser, struct text *name)
{
    name->bytes = parser->at;
    if (!strchr(lower_case, *parser->at) || !*parser->at)
        return false;
    bool ok = skip_span(parser, name_letters, NAME_MOST);
    name->size = (size_t)(parser->at - name->bytes);
    return ok;
}

static bool is_declared(const struct parser *parser, struct text name)
{
    for (size_t i = 0; i < parser->array_count; i++)
        if (text_same(parser->arrays[i], name))
            return true;
    return false;
}

static bool read_index(struct parser *parser)
{
    return skip(parser, "[") && skip_span(parser, digits, 5) && skip(parser, "]");
}

static bool read_number(struct parser *parser)
{
    if (skip(parser, "0x"))
        return skip_span(parser, hex_digits, 8);
    skip(parser, "-");
    if (!skip_span(parser, digits, DIGITS_MOST) ||
        (skip(parser, ".") && !skip_span(parser, digits, DIGITS_MOST)))
        return false;
    return !skip(parser, "e") ||
           ((skip(parser, "-") || skip(parser, "+")) && skip_span(parser, digits, 3));
}

static bool is_file(const struct plot_script_parts *parts, struct text text)
{
    for (const char *const *file = parts->files; *file; file++)
        if (text_equals(text, *file))
            return true;
    return false;
}

/* ",16": a font size only, since gnuplot copies font names into an SVG unescaped. */
static bool is_font(const char *text, size_t size)
{
    return size > 1 && *text == ',' && strspn(text + 1, digits) == size - 1;
}

/* Text in single quotes, as escape_plot() leaves it. A value that gnuplot interprets as more than
 * text is checked against its allowed values. */
static bool read_text(struct parser *parser, struct text name)
{
    const char *text = parser->at + 1, *end = skip(parser, "'") ? strchr(text, '\'') : NULL;
    struct buffer escaped = BUFFER_INIT;
    if (!end)
        return false;
    size_t size = (size_t)(end - text);
    parser->at = end + 1;
    if (text_ends(name, "_file"))
        return is_file(parser->parts, (struct text){text, size});
    if (text_ends(name, "_font"))
        return is_font(text, size);
    escape_plot(&escaped, text, size, SIZE_MAX);
    bool is_same = !escaped.failed && escaped.size == size &&
                   (size == 0 || memcmp(escaped.bytes, text, size) == 0);
    buffer_release(&escaped);
    return is_same;
}

static bool read_assignment(struct parser *parser)
{
    struct text name;
    if (!read_name(parser, &name))
        return false;
    if (*parser->at == '[' && (!is_declared(parser, name) || !read_index(parser)))
        return false;
    if (!skip(parser, " = "))
        return false;
    return *parser->at == '\'' ? read_text(parser, name) : read_number(parser);
}

static bool read_array(struct parser *parser)
{
    struct text name;
    if (!read_name(parser, &name) || !read_index(parser))
        return false;
    if (is_declared(parser, name))
        return true;
    if (parser->array_count == ARRAYS_MOST)
        return false;
    parser->arrays[parser->array_count++] = name;
    return true;
}

static bool read_settings(struct parser *parser)
{
    if (skip(parser, "array "))
        return read_array(parser) && !*parser->at;
    if (skip(parser, "reset") || skip(parser, "unset multiplot") || !*parser->at)
        return !*parser->at;
    do {
        if (!read_assignment(parser))
            return false;
    } while (skip(parser, "; "));
    return !*parser->at;
}

/* The text of the template that a line names; NULL if there is no such template. */
static const char *find_template(struct parser *parser)
{
    size_t number = (size_t)*parser->at - '0';
    bool is_there =
        ascii_is_digit(*parser->at) && !parser->at[1] && number < parser->parts->template_count;
    return is_there ? parser->parts->templates[number] : NULL;
}

static bool add_line(struct parser *parser, const char *line, struct buffer *script)
{
    parser->at = line;
    if (skip(parser, "template ")) {
        const char *text = find_template(parser);
        buffer_puts(script, text ? text : "");
        return text != NULL;
    }
    buffer_puts(script, line);
    buffer_putc(script, '\n');
    return read_settings(parser);
}

static bool read_all(FILE *settings, struct buffer *bytes, struct error *err)
{
    char chunk[4096];
    size_t count;
    while ((count = fread(chunk, 1, sizeof(chunk), settings)) > 0 && bytes->size <= SETTINGS_MOST)
        buffer_add(bytes, chunk, count);
    if (ferror(settings))
        return error_set(err, STATUS_IO, "cannot read the settings of the picture");
    if (bytes->size > SETTINGS_MOST)
        return error_set(err, STATUS_LIMIT, "the settings of the picture are larger than %zu bytes",
                         SETTINGS_MOST);
    return !bytes->failed || error_out_of_memory(err);
}

/* Replaces the line feed at the end of each line with a null byte. False if a line has no end or
 * contains a null byte. */
static bool split_lines(struct buffer *bytes)
{
    if (bytes->size == 0)
        return true;
    if (memchr(bytes->bytes, '\0', bytes->size) || bytes->bytes[bytes->size - 1] != '\n')
        return false;
    for (size_t i = 0; i < bytes->size; i++)
        if (bytes->bytes[i] == '\n')
            bytes->bytes[i] = '\0';
    return true;
}

bool plot_script_add(FILE *script, FILE *settings, const struct plot_script_parts *parts,
                     struct error *err)
{
    struct buffer bytes = BUFFER_INIT, made = BUFFER_INIT;
    struct parser parser = {.parts = parts};
    size_t line = 1;
    bool ok = read_all(settings, &bytes, err), valid = ok && split_lines(&bytes);
    for (size_t at = 0; valid && at < bytes.size; at += strlen(bytes.bytes + at) + 1) {
        valid = add_line(&parser, bytes.bytes + at, &made);
        line += valid;
    }
    if (ok && !valid)
        ok = error_set(err, STATUS_IO, "line %zu of the settings of the picture is not a setting",
                       line);
    if (ok && made.failed)
        ok = error_out_of_memory(err);
    if (ok && made.size > 0)
        fwrite(made.bytes, 1, made.size, script);
    buffer_release(&bytes);
    buffer_release(&made);
    return ok;
}

void plot_put_template(FILE *settings, size_t number)
{
    fprintf(settings, "template %zu\n", number);
}
