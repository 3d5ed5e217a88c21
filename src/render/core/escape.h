/* Text from the input on its way out: to a terminal, or into JSON. The only place that decides what
 * an untrusted string may look like to whoever reads it. */
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

/* The same of a name that may stand in any number of lines: of one beyond ESCAPE_NAME_MOST bytes
 * the beginning and "...". */
#define ESCAPE_NAME_MOST ((size_t)4096)
void escape_name(struct buffer *out, struct text name);

/* Quoted, for JSON. Invalid bytes become U+FFFD; besides what JSON demands, the characters that
 * escape_text() makes visible are written as \uXXXX. */
void escape_json(struct buffer *out, const char *bytes, size_t size);

/* A piece of the above, without the quotes. */
void escape_json_piece(struct buffer *out, const char *bytes, size_t size,
                       enum utf8_surrogates surrogates);

/* Quoted, for Python: as escape_json(), but for characters beyond U+FFFF, which are \UXXXXXXXX. */
void escape_python(struct buffer *out, const char *bytes, size_t size);

/* A frame of a folded stack, as flamegraph.pl and inferno read them: as escape_text(), with ":" for
 * ";", which ends a frame, and "_" for a space before a digit, for what ends in a number would be
 * taken for a weight. */
void escape_folded(struct buffer *out, const char *bytes, size_t size);

/* For HTML and XML, between tags or in a quoted attribute: escape_text(), and "<", ">", "&" and
 * quotes as character references. */
void escape_markup(struct buffer *out, const char *bytes, size_t size);

/* For a workflow command of GitHub Actions: "%", CR and LF as "%25", "%0D" and "%0A"; in a property
 * ":" and "," too, as "%3A" and "%2C". What else escape_text() would not let through comes as it
 * writes that. */
void escape_workflow(struct buffer *out, const char *bytes, size_t size, bool is_property);

/* For gnuplot, between single quotes or in a field of a data file: what would end a string, be run
 * or be taken for markup becomes what looks like it (quotes and backticks their typographic kin, a
 * backslash a slash, "<", ">" and "&" their full-width forms' smaller kin), and what is no visible
 * character U+FFFD. At most `most` characters, then an ellipsis. */
void escape_plot(struct buffer *out, const char *bytes, size_t size, size_t most);

/* Columns that escaped text takes on a terminal. */
size_t text_columns(const char *bytes, size_t size);

/* How many bytes at the beginning of escaped text take at most `columns`; `*used` is what they do
 * take. */
size_t text_head(const char *bytes, size_t size, size_t columns, size_t *used);

#endif
