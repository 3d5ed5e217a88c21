/* The man pages of section 7 as text, which the build makes (scripts/man-text.awk), so that there
 * is one source. */
#ifndef MEMSNAP_COMMANDS_CLI_TOPICS_H
#define MEMSNAP_COMMANDS_CLI_TOPICS_H

#include <stddef.h>

extern const unsigned char topic_categories[], topic_formats[], topic_numbers[];
extern const size_t topic_categories_size, topic_formats_size, topic_numbers_size;

#endif
