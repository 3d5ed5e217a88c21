#include "render/core/page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "render/core/escape.h"
#include "render/core/fit.h"

#define DEFAULT_WIDTH  80
#define LEAST_WIDTH    40
#define GREATEST_WIDTH 1000
#define LONGEST_WORD   400 /* columns */

static size_t width_of(int fd)
{
    const char *columns = getenv("COLUMNS");
    unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;
    struct winsize size;
    if (width == 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width == 0)
        width = DEFAULT_WIDTH;
    return width < LEAST_WIDTH ? LEAST_WIDTH : width > GREATEST_WIDTH ? GREATEST_WIDTH : width;
}

static bool colour_on(int fd)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0 &&
           isatty(fd) == 1;
}

struct page page_for(FILE *out, enum unit unit)
{
    int fd = fileno(out);
    return (struct page){.out = out, .width = width_of(fd), .colour = colour_on(fd), .unit = unit};
}

const char *page_style(const struct page *page, enum style style)
{
    static const char *const sequences[] = {
        [STYLE_TITLE] = "\x1b[1m", [STYLE_WARNING] = "\x1b[33m", [STYLE_FAINT] = "\x1b[2m"};
    return page->colour ? sequences[style] : "";
}

const char *page_plain(const struct page *page)
{
    return page->colour ? "\x1b[0m" : "";
}

const char *page_bytes(const struct page *page, char out[UNITS_TEXT_SIZE], int64_t bytes)
{
    return units_bytes(out, bytes, page->unit);
}

const char *page_size(const struct page *page, char out[UNITS_TEXT_SIZE], uint64_t bytes)
{
    return page_bytes(page, out, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

const char *page_change(const struct page *page, char out[UNITS_TEXT_SIZE], int64_t bytes)
{
    if (bytes <= 0)
        return page_bytes(page, out, bytes);
    out[0] = '+';
    char text[UNITS_TEXT_SIZE];
    page_bytes(page, text, bytes);
    snprintf(out + 1, UNITS_TEXT_SIZE - 1, "%.*s", UNITS_TEXT_SIZE - 2, text);
    return out;
}

const char *page_share(char out[UNITS_TEXT_SIZE], int64_t part, int64_t whole)
{
    if (whole <= 0)
        return strcpy(out, "-");
    snprintf(out, UNITS_TEXT_SIZE, "%.1f%%", 100.0 * (double)part / (double)whole);
    return out;
}

/* Paths stay whole even if wider than the page, because users copy them. Text that would fill a
 * screen is not a path. */
static void put_word(const struct page *page, const char *word, size_t size)
{
    struct buffer cut = BUFFER_INIT;
    if (size > LONGEST_WORD) {
        text_fit(&cut, word, size, LONGEST_WORD, CUT_MIDDLE);
        if (!cut.failed) {
            word = cut.bytes;
            size = cut.size;
        }
    }
    fwrite(word, 1, size, page->out);
    buffer_release(&cut);
}

void page_paragraph(const struct page *page, size_t column, size_t indent, const char *text)
{
    bool at_start =
        column <=
        indent; /* of a line: a word that is too long for any line is put at the start of one */
    bool needs_space = !at_start;
    while (*text) {
        size_t size = strcspn(text, " ");
        size_t columns = text_columns(text, size);
        if (!at_start && column + needs_space + columns > page->width) {
            fprintf(page->out, "\n%*s", (int)indent, "");
            column = indent;
            needs_space = false;
        }
        if (needs_space) {
            fputc(' ', page->out);
            column++;
        }
        put_word(page, text, size);
        column += columns;
        at_start = false;
        needs_space = true;
        text += size;
        text += strspn(text, " ");
    }
    fputc('\n', page->out);
}
