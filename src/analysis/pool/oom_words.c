#include "analysis/pool/oom_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/pool/oom_words_internal.h"
#include "base/utf8.h"

#define LABEL_MOST 120 /* bytes */

/* Adds to what is there. */
void oom_say(const struct words *words, const char *format, ...)
{
    size_t used = strlen(words->out);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words->out + used, words->size - used, format, arguments);
    va_end(arguments);
}

struct size_text oom_size(const struct words *words, uint64_t bytes)
{
    struct size_text size;
    units_bytes(size.text, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes, words->unit);
    return size;
}

static uint64_t positive(int64_t bytes)
{
    return bytes > 0 ? (uint64_t)bytes : 0;
}

static void say_other_process(const struct words *words, const struct oom_row *row)
{
    if (row->device_is_least)
        oom_say(words, "at least %s of the device's memory (%s or more) are held",
                SIZE(row->other_bytes), SIZE(row->device_bytes));
    else
        oom_say(words, "%s of the device's %s are held", SIZE(row->other_bytes),
                SIZE(row->device_bytes));
    oom_say(words,
            " by other processes, or by this one outside of PyTorch's allocator (CUDA context, "
            "NCCL, other libraries)");
}

static void say_sentence(const struct words *words, const struct oom_row *row, const char *doubt)
{
    const struct oom_layout *layout = &row->layout;
    switch (row->verdict) {
    case OOM_PROCESS_LIMIT:
        oom_say(
            words,
            "the device had %s free, enough for the segment of %s that it takes: a limit on this "
            "process refused it",
            SIZE(row->device_free_bytes), SIZE(row->segment_bytes));
        break;
    case OOM_FRAGMENTATION:
        oom_say(
            words,
            "fragmentation: %s free on the device and %s unused in the pool's segments are enough, "
            "but the largest hole is %s",
            SIZE(row->device_free_bytes), SIZE(layout->pool_bytes), SIZE(layout->largest_bytes));
        break;
    case OOM_OTHER_POOL:
        oom_say_elsewhere(words, layout);
        break;
    case OOM_OTHER_PROCESS:
        say_other_process(words, row);
        break;
    case OOM_SHORTAGE:
        oom_say(words, "a true shortage: %s are in use, and %s free on the device",
                SIZE(positive(row->at.active_bytes)), SIZE(row->device_free_bytes));
        if (layout->inactive_bytes > 0)
            oom_say(words, " with %s unused in segments", SIZE(layout->inactive_bytes));
        oom_say(words, " are too little for %s", SIZE(row->requested_bytes));
        break;
    case OOM_UNKNOWN:
        if (doubt)
            oom_say(
                words,
                "up to %s were reserved but unused, which may have been enough, but how they were "
                "cut up is not known: %s",
                SIZE(oom_most_unused(row)), doubt);
        else
            oom_say(
                words,
                "a hole of %s in the pool of this request would have served it, and the capture "
                "does not tell why it did not",
                SIZE(layout->largest_bytes));
        break;
    }
}

/* Labels in parentheses stand for no place in the code. */
static bool is_place(const char *label)
{
    return label[0] != '(';
}

static void say_pins(const struct words *words, const struct oom_row *row, const char *lead)
{
    if (row->pinned.count == 0)
        return;
    const struct pin_row *pin = &row->pinned.items[0];
    bool many = pin->segments != 1;
    oom_say(
        words, "%s%llu block%s %s%.*s, %s%s, keep%s %s of segments from going back to the device",
        lead, (unsigned long long)pin->segments, many ? "s" : "", is_place(pin->label) ? "of " : "",
        utf8_clip(pin->label, LABEL_MOST), pin->label, SIZE(pin->block_bytes),
        many ? " in all" : "", many ? "" : "s", SIZE(pin->pinned_bytes));
}

/* What helps against most of what was in use. */
static const char *remedy(enum category category)
{
    switch (category) {
    case CATEGORY_PARAMETER:
        return "lower precision or sharded parameters (FSDP)";
    case CATEGORY_GRADIENT:
        return "sharded gradients (FSDP, ZeRO-2), or zero_grad(set_to_none=True) earlier";
    case CATEGORY_OPTIMIZER_STATE:
        return "sharded optimizer state (ZeRO-1), or an optimizer that keeps less";
    case CATEGORY_ACTIVATION:
        return "a smaller batch or sequence, mixed precision, or torch.utils.checkpoint";
    case CATEGORY_INPUT:
        return "a smaller batch, or inputs that move to the device later";
    case CATEGORY_TEMPORARY:
    case CATEGORY_AUTOGRAD_DETAIL:
        return "a smaller batch, or operators that work in place or are fused";
    case CATEGORY_COMMUNICATION:
        return "smaller communication buckets";
    case CATEGORY_WORKSPACE:
        return "a smaller CUBLAS_WORKSPACE_CONFIG";
    default:
        return NULL;
    }
}

static void say_largest(const struct words *words, const struct oom_row *row)
{
    if (row->category_count == 0 || row->site_count == 0)
        return;
    enum category category = row->categories[0].category;
    const struct oom_site *site = &row->sites[0];
    const char *helps = remedy(category), *separator = "";
    if (!helps && !is_place(site->label)) {
        oom_say(words,
                "record the history from the start of the run, with stacks, to see what holds "
                "so much");
        return;
    }
    if (helps) {
        oom_say(words, "most is %s (%s), and what helps is %s", category_name(category),
                SIZE(positive(row->categories[0].bytes)), helps);
        separator = "; ";
    }
    if (is_place(site->label))
        oom_say(words, "%sthe largest call site is %.*s (%s, %s)", separator,
                utf8_clip(site->label, LABEL_MOST), site->label, category_name(site->category),
                SIZE(positive(site->bytes)));
}

static void say_next(const struct words *words, const struct oom_row *row,
                     const struct allocator_rules *rules)
{
    switch (row->verdict) {
    case OOM_PROCESS_LIMIT:
        oom_say(words, "look for torch.cuda.set_per_process_memory_fraction() or "
                       "per_process_memory_fraction, and raise it");
        break;
    case OOM_FRAGMENTATION:
        if (!rules->expandable_segments) {
            oom_say(words,
                    "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the first CUDA "
                    "call");
            say_pins(words, row, "; ");
        } else {
            oom_say(words, "expandable_segments is on already: free what is long-lived earlier, or "
                           "allocate it first");
        }
        break;
    case OOM_OTHER_POOL:
        oom_say_elsewhere_next(words, &row->layout.elsewhere, rules);
        say_pins(words, row, "; ");
        break;
    case OOM_OTHER_PROCESS:
        oom_say(words, "look with nvidia-smi for what else runs on the device, and end or move it");
        break;
    case OOM_SHORTAGE:
        say_largest(words, row);
        break;
    case OOM_UNKNOWN:
        oom_say(words, row->layout.after_range
                           ? "analyze the whole capture, without --range"
                           : "record again, and dump as soon as the error is raised");
        break;
    }
}

void oom_put_into_words(struct oom_row *row, const struct allocator_rules *rules, const char *doubt,
                        enum unit unit)
{
    row->sentence[0] = row->next[0] = '\0';
    say_sentence(&(struct words){row->sentence, sizeof(row->sentence), unit}, row, doubt);
    say_next(&(struct words){row->next, sizeof(row->next), unit}, row, rules);
}
