#include "commands/cli/topics.h"

#include <string.h>

const struct topic topics[] = {
    {"categories", "what memory is for, and how memsnap tells", topic_categories,
     &topic_categories_size},
    {"formats", "the files that memsnap reads, and how to record them", topic_formats,
     &topic_formats_size},
    {"numbers", "what active, allocated, reserved, ... mean", topic_numbers, &topic_numbers_size},
    {NULL, NULL, NULL, NULL},
};

const struct topic *topic_find(const char *name)
{
    for (const struct topic *topic = topics; topic->name; topic++)
        if (strcmp(topic->name, name) == 0)
            return topic;
    return NULL;
}
