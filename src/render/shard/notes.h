/* What a prediction assumes, leaves out and cannot know, in paragraphs. */
#ifndef MEMSNAP_RENDER_SHARD_NOTES_H
#define MEMSNAP_RENDER_SHARD_NOTES_H

#include "render/core/page.h"
#include "render/shard/shard.h"

/* Prints the notes. False if out of memory. */
bool shard_put_notes(const struct page *page, const struct shard_report *report);

#endif
