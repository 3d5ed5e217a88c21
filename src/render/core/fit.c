#define _GNU_SOURCE /* memmem, memrchr */
#include "render/core/fit.h"

#include <string.h>

#include "render/core/escape.h"

#define MARK             ".."
#define MARK_COLUMNS     2
#define REMARK           " (..)" /* stands for a remark that is cut */
#define REMARK_COLUMNS   5
#define LEAST_FUNCTION   8 /* columns of a function's name that a file's name leaves it */
#define OPERATOR_COLUMNS 6 /* columns of " [m..]" */

struct piece {
    const char *bytes;
    size_t size, columns;
};

static struct piece piece_of(const char *bytes, size_t size)
{
    return (struct piece){bytes, size, text_columns(bytes, size)};
}

static size_t add_head(struct buffer *out, struct piece piece, size_t columns)
{
    size_t used;
    buffer_add(out, piece.bytes, text_head(piece.bytes, piece.size, columns, &used));
    return used;
}

static size_t add_tail(struct buffer *out, struct piece piece, size_t columns)
{
    size_t skip = piece.columns > columns ? piece.columns - columns : 0, skipped;
    size_t at = text_head(piece.bytes, piece.size, skip, &skipped);
    if (skipped < skip) { /* a wide character straddles the cut */
        uint32_t code;
        at += utf8_decode(piece.bytes + at, piece.size - at, UTF8_REFUSE_SURROGATES, &code);
        skipped = skip + 1;
    }
    buffer_add(out, piece.bytes + at, piece.size - at);
    return piece.columns - skipped;
}

static size_t fit_end(struct buffer *out, struct piece piece, size_t columns)
{
    if (piece.columns <= columns)
        return add_head(out, piece, columns);
    size_t used = add_head(out, piece, columns - MARK_COLUMNS);
    buffer_puts(out, MARK);
    return used + MARK_COLUMNS;
}

static size_t fit_start(struct buffer *out, struct piece piece, size_t columns)
{
    if (piece.columns <= columns)
        return add_head(out, piece, columns);
    buffer_puts(out, MARK);
    return MARK_COLUMNS + add_tail(out, piece, columns - MARK_COLUMNS);
}

static size_t fit_middle(struct buffer *out, struct piece piece, size_t columns)
{
    size_t used = add_head(out, piece, (columns - MARK_COLUMNS) / 3);
    buffer_puts(out, MARK);
    return used + MARK_COLUMNS + add_tail(out, piece, columns - MARK_COLUMNS - used);
}

/* Length of the text before a remark in parentheses. */
static size_t bare_size(const char *bytes, size_t size)
{
    const char *remark = memmem(bytes, size, " (", 2);
    return remark ? (size_t)(remark - bytes) : size;
}

/* Length of the place in a label, "model.py:39", up to its last space; else 0. */
static size_t place_size(const char *bytes, size_t size)
{
    const char *space = memrchr(bytes, ' ', size);
    return space ? (size_t)(space - bytes) : 0;
}

/* ":39" */
static size_t line_columns(struct piece place)
{
    const char *colon = memrchr(place.bytes, ':', place.size);
    return colon ? place.size - (size_t)(colon - place.bytes) : 0;
}

static size_t fit_site(struct buffer *out, struct piece label, size_t columns)
{
    struct piece bare = piece_of(label.bytes, bare_size(label.bytes, label.size));
    if (bare.size < label.size && bare.columns + REMARK_COLUMNS <= columns) {
        add_head(out, bare, bare.columns);
        buffer_puts(out, REMARK);
        return bare.columns + REMARK_COLUMNS;
    }
    size_t split = *label.bytes == '(' ? 0 : place_size(bare.bytes, bare.size);
    struct piece place = piece_of(label.bytes, split);
    struct piece function =
        piece_of(label.bytes + split, label.size - split); /* includes the space before it */
    size_t least = function.columns < LEAST_FUNCTION + 1 ? function.columns : LEAST_FUNCTION + 1;
    if (split == 0 || place.columns + least <= columns)
        return fit_end(out, label, columns);
    if (line_columns(place) + MARK_COLUMNS + least > columns)
        return fit_start(out, place, columns);
    size_t used = fit_start(out, place, columns - least);
    return used + fit_end(out, function, columns - used);
}

/* Length of " [mm]" at the end of a label; else 0. */
static size_t operator_size(const char *bytes, size_t size)
{
    size_t at = size;
    if (size == 0 || bytes[size - 1] != ']')
        return 0;
    while (at > 0 && bytes[at - 1] != '[')
        at--;
    return at > 1 && bytes[at - 2] == ' ' ? size - at + 2 : 0;
}

/* Each part gets half of the columns; the operator gives its unused columns to the other. */
static size_t fit_operator(struct buffer *out, struct piece label, size_t columns)
{
    size_t size = operator_size(label.bytes, label.size), half = columns / 2;
    if (size == 0 || half < OPERATOR_COLUMNS)
        return text_fit(out, label.bytes, label.size - size, columns, CUT_SITE);
    struct piece name = piece_of(label.bytes + label.size - size, size);
    if (name.columns <= half) {
        size_t used =
            text_fit(out, label.bytes, label.size - size, columns - name.columns, CUT_SITE);
        return used + add_head(out, name, name.columns);
    }
    size_t used = text_fit(out, label.bytes, label.size - size, columns - half, CUT_SITE);
    used += fit_end(out, piece_of(name.bytes, name.size - 1), half - 1);
    buffer_putc(out, ']');
    return used + 1;
}

size_t text_fit(struct buffer *out, const char *bytes, size_t size, size_t columns, enum cut cut)
{
    struct piece piece = piece_of(bytes, size);
    if (piece.columns <= columns || cut == CUT_END)
        return fit_end(out, piece, columns);
    if (cut == CUT_START)
        return fit_start(out, piece, columns);
    if (cut == CUT_OPERATOR)
        return fit_operator(out, piece, columns);
    return cut == CUT_SITE ? fit_site(out, piece, columns) : fit_middle(out, piece, columns);
}
