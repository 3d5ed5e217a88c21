/* What `memsnap help` knows besides the commands: pages of section 7, as text. The build makes the
 * text of the man pages (scripts/man-text.awk), so that there is one source. */
#ifndef MEMSNAP_COMMANDS_CLI_TOPICS_H
#define MEMSNAP_COMMANDS_CLI_TOPICS_H

#include <stddef.h>

struct topic {
    const char *name;
    const char *summary; /* half a line, for the list */
    const unsigned char *text;
    const size_t *size;
};

extern const struct topic topics[]; /* ends with a NULL name */

const struct topic *topic_find(const char *name); /* NULL: no such topic */

extern const unsigned char topic_categories[], topic_formats[], topic_numbers[];
extern const size_t topic_categories_size, topic_formats_size, topic_numbers_size;

#endif
