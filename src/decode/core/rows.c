#include "decode/core/rows.h"

#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

const struct text action_texts[ACTION_OTHER] = {
    [ACTION_ALLOC] = TEXT("alloc"),
    [ACTION_FREE_REQUESTED] = TEXT("free_requested"),
    [ACTION_FREE_COMPLETED] = TEXT("free_completed"),
    [ACTION_SEGMENT_ALLOC] = TEXT("segment_alloc"),
    [ACTION_SEGMENT_FREE] = TEXT("segment_free"),
    [ACTION_SEGMENT_MAP] = TEXT("segment_map"),
    [ACTION_SEGMENT_UNMAP] = TEXT("segment_unmap"),
    [ACTION_OOM] = TEXT("oom"),
    [ACTION_SNAPSHOT] = TEXT("snapshot"),
    [ACTION_WORKSPACE_SNAPSHOT] = TEXT("workspace_snapshot"),
};
