/* Escapes text from the input for a terminal, for JSON and for other formats. This is the only
 * place that decides how an untrusted string appears to a reader. */
#ifndef MEMSNAP_RENDER_CORE_ESCAPE_H
#define MEMSNAP_RENDER_CORE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/text.h"
#include "base/utf8.h"

/* For a terminal: control characters become \n, \t or \x1b, invalid UTF-8 \xff, and what steers or
 * hides text (bidirectional controls, zero-width and other format characters) \u{202e}. The result
 * is one line. A backslash stays as it is. */
void escape_text(struct buffer *out, const char *bytes, size_t size);

/* The same for a name that may be repeated in any number of lines: a name longer than
 * ESCAPE_NAME_MOST bytes is cut and ends in "...". */
#define ESCAPE_NAME_MOST ((size_t)4096)
void escape_name(struct buffer *out, struct text name);

/* Quoted, for JSON. Invalid bytes become U+FFFD; besides what JSON demands, the characters that
 * escape_text() makes visible are written as \uXXXX. */
void escape_json(struct buffer *out, const char *bytes, size_t size);

/* A part of such a string, without the quotes. `surrogates` tells whether lone surrogates are
 * valid. */
void escape_json_piece(struct buffer *out, const char *bytes, size_t size,
                       enum utf8_surrogates surrogates);

/* Quoted, for Python: as escape_json(), but for characters beyond U+FFFF, which are \UXXXXXXXX. */
void escape_python(struct buffer *out, const char *bytes, size_t size);

/* A frame of a folded stack, as flamegraph.pl and inferno read them: as escape_text(), with ":" for
 * ";", which would end the frame, and "_" for a space before a digit, because a trailing number
 * would be taken for the weight. */
void escape_folded(struct buffer *out, const char *bytes, size_t size);

/* For HTML and XML, between tags or in a quoted attribute: escape_text(), and "<", ">", "&" and
 * quotes as character references. */
void escape_markup(struct buffer *out, const char *bytes, size_t size);

/* For a workflow command of GitHub Actions: "%", CR and LF as "%25", "%0D" and "%0A"; in a property
 * also ":" and "," as "%3A" and "%2C". Otherwise as escape_text(). */
void escape_workflow(struct buffer *out, const char *bytes, size_t size, bool is_property);

/* A word for a shell, in quotes if necessary; otherwise as escape_text(). */
void escape_shell(struct buffer *out, const char *text);
/* For gnuplot, between single quotes or in a field of a data file. Characters that would end a
 * string, be run or be taken for markup are replaced by look-alikes: quotes and backticks by
 * typographic ones, a backslash by a slash, "<", ">" and "&" by their small forms. Invisible
 * characters become U+FFFD. At most `most` characters, then an ellipsis. */
void escape_plot(struct buffer *out, const char *bytes, size_t size, size_t most);

/* Number of columns that escaped text takes on a terminal. */
size_t text_columns(const char *bytes, size_t size);

/* Length of the longest prefix of escaped text that takes at most `columns` columns. `*used` is the
 * number of columns that it takes. */
size_t text_head(const char *bytes, size_t size, size_t columns, size_t *used);

#endif
