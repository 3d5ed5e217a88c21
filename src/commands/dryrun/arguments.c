#include "commands/dryrun/arguments.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

/* The first "{NAME}" in the text; NULL if there is none. */
static const char *find(const char *text, const char *name)
{
    size_t size = strlen(name);
    while ((text = strchr(text, '{'))) {
        if (strncmp(text + 1, name, size) == 0 && text[1 + size] == '}')
            return text;
        text++;
    }
    return NULL;
}

bool arguments_use(char *const *arguments, const char *name)
{
    for (; *arguments; arguments++)
        if (find(*arguments, name))
            return true;
    return false;
}

/* NULL if out of memory. */
static char *replace(const char *text, const char *name, uint64_t value)
{
    struct buffer out = BUFFER_INIT;
    for (const char *at; (at = find(text, name)); text = at + strlen(name) + 2) {
        buffer_add(&out, text, (size_t)(at - text));
        buffer_printf(&out, "%" PRIu64, value);
    }
    buffer_puts(&out, text);
    if (!out.failed)
        return out.bytes;
    buffer_release(&out);
    return NULL;
}

char **arguments_with(char *const *arguments, const char *name, uint64_t value)
{
    size_t count = 0;
    while (arguments[count])
        count++;
    char **copy = calloc(count + 1, sizeof(*copy));
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = replace(arguments[i], name, value);
        if (!copy[i]) {
            arguments_free(copy);
            return NULL;
        }
    }
    return copy;
}

void arguments_free(char **arguments)
{
    for (char **argument = arguments; argument && *argument; argument++)
        free(*argument);
    free(arguments);
}
