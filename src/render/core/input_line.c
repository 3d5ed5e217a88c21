#include "render/core/input_line.h"

#include <string.h>

#include "render/core/escape.h"

bool input_line(const struct page *page, const struct input_line *input)
{
    struct buffer text = BUFFER_INIT;
    char bytes[UNITS_TEXT_SIZE];
    if (input->lead)
        buffer_puts(&text, input->lead);
    if (strcmp(input->path, "-") == 0)
        buffer_puts(&text, "standard input");
    else
        escape_text(&text, input->path, strlen(input->path));
    bool ok = !text.failed;
    size_t columns = ok ? text_columns(text.bytes, text.size) : 0;
    if (ok)
        fputs(text.bytes, page->out); /* whole, so that it can be copied */
    buffer_clear(&text);
    buffer_puts(&text, "(");
    if (input->bytes)
        buffer_printf(&text, "%s, ", page_bytes(page, bytes, (int64_t)input->bytes));
    if (input->encoding == ENCODING_PICKLE)
        buffer_printf(&text, "pickle protocol %d", input->protocol);
    else
        buffer_puts(&text, input->encoding == ENCODING_JSON       ? "JSON"
                           : input->encoding == ENCODING_MSGPACK  ? "msgpack"
                           : input->encoding == ENCODING_PROTOBUF ? "protobuf"
                                                                  : "text");
    buffer_puts(&text, input->compression == COMPRESSION_GZIP ? ", gzip)" : ")");
    ok = ok && !text.failed;
    if (ok)
        page_paragraph(page, columns, 2, text.bytes);
    buffer_release(&text);
    return ok;
}

void json_put_input(struct json_writer *json, const char *key, const char *format,
                    const struct input_line *input)
{
    json_put_open(json, key, '{');
    json_put_string(json, "path", input->path);
    if (format)
        json_put_string(json, "format", format);
    if (input->bytes)
        json_put_count(json, "bytes", input->bytes);
    json_put_string(json, "encoding", encoding_name(input->encoding));
    if (input->encoding == ENCODING_PICKLE)
        json_put_integer(json, "protocol", input->protocol);
    json_put_string(json, "compression", input->compression == COMPRESSION_GZIP ? "gzip" : "none");
    json_put_close(json, '}');
}
