#include "analysis/oom/words.h"

#include "analysis/oom/shared_words.h"
#include "base/utf8.h"

#define LABEL_MOST 120 /* bytes */

#define LITTLE_SHARE 20 /* one 20th of reserved memory */

static uint64_t positive(int64_t bytes)
{
    return bytes > 0 ? (uint64_t)bytes : 0;
}

static void say_other_process(const struct words *words, const struct oom_row *row)
{
    if (row->device_is_least)
        say(words, "at least %s of the device's memory (%s or more)", SIZE(row->other_bytes),
            SIZE(row->device_bytes));
    else
        say(words, "%s of the device's %s", SIZE(row->other_bytes), SIZE(row->device_bytes));
    say_held_outside(words);
}

/* "private pool (0, 3) of a CUDA graph", "the default pool" */
static void say_pool(const struct words *words, const struct pool_key *key)
{
    if (pool_key_is_private(key))
        say(words, "private pool (%llu, %llu) of a CUDA graph", (unsigned long long)key->pool[0],
            (unsigned long long)key->pool[1]);
    else
        say(words, "the default pool");
}

/* "private pool (0, 3) of a CUDA graph", "the default pool of stream 0x7", "the default pool, for
 * requests up to 1 MiB" */
static void say_place(const struct words *words, const struct oom_elsewhere *elsewhere)
{
    const struct pool_key *key = &elsewhere->most;
    char stream[STREAM_TEXT_SIZE];
    say_pool(words, key);
    if (elsewhere->kind == ELSEWHERE_SIZES)
        say(words, ", for requests %s 1 MiB", key->is_small ? "up to" : "above");
    else if (elsewhere->kind != ELSEWHERE_GRAPHS)
        say(words, " of stream %s", stream_text(stream, key->stream));
}

/* "6 private pools of CUDA graphs, 168.00 MiB each", "the pools of 3 other streams, of which stream
 * 0x7 has the most, 12.00 MiB" */
static void say_places(const struct words *words, const struct oom_elsewhere *elsewhere)
{
    const struct pool_key *most = &elsewhere->most;
    unsigned long long places = elsewhere->places;
    char stream[STREAM_TEXT_SIZE];
    if (elsewhere->kind == ELSEWHERE_GRAPHS)
        say(words, "%llu private pools of CUDA graphs", places);
    else
        say(words, "the %spools of %llu %sstreams",
            elsewhere->kind == ELSEWHERE_DEFAULT ? "default " : "", places,
            elsewhere->kind == ELSEWHERE_DEFAULT ? "" : "other ");
    if (elsewhere->least_bytes == elsewhere->most_bytes)
        say(words, ", %s each", SIZE(elsewhere->most_bytes));
    else if (elsewhere->kind == ELSEWHERE_GRAPHS)
        say(words, ", of which (%llu, %llu) has the most, %s", (unsigned long long)most->pool[0],
            (unsigned long long)most->pool[1], SIZE(elsewhere->most_bytes));
    else
        say(words, ", of which stream %s has the most, %s", stream_text(stream, most->stream),
            SIZE(elsewhere->most_bytes));
}

static void say_elsewhere(const struct words *words, const struct oom_layout *layout)
{
    const struct oom_elsewhere *elsewhere = &layout->elsewhere;
    say(words, "memory is free, but this request cannot use it: ");
    if (elsewhere->bytes < layout->elsewhere_bytes)
        say(words, "of %s unused in other pools, ", SIZE(layout->elsewhere_bytes));
    say(words, "%s lie %sin ", SIZE(elsewhere->bytes),
        elsewhere->bytes < layout->elsewhere_bytes ? "" : "unused ");
    if (elsewhere->places > 1)
        say_places(words, elsewhere);
    else
        say_place(words, elsewhere);
    if (layout->largest_bytes > 0)
        say(words, "; the largest hole in the pool of this request is %s",
            SIZE(layout->largest_bytes));
    else
        say(words, "; the pool of this request has no hole");
}

static void say_elsewhere_next(const struct words *words, const struct oom_row *row,
                               const struct allocator_rules *rules)
{
    const struct oom_elsewhere *elsewhere = &row->layout.elsewhere;
    bool is_only_graph = elsewhere->places == 1 && !pool_key_is_private(&row->key);
    if (elsewhere->kind == ELSEWHERE_DEFAULT)
        say(words, "free that memory before the capture begins, which releases it "
                   "(torch.cuda.graph() calls empty_cache()): while a CUDA graph is captured, no "
                   "memory is released to the device");
    else if (elsewhere->kind == ELSEWHERE_GRAPHS && is_only_graph)
        say(words, "delete that CUDA graph once it is no longer needed, or capture it for a "
                   "smaller batch: until then, nothing else can use its memory");
    else if (elsewhere->kind == ELSEWHERE_GRAPHS) {
        say_share_pool(words);
        say(words, ": until then, nothing else can use their memory");
    } else if (elsewhere->kind == ELSEWHERE_STREAMS)
        say(words, "allocate on a single stream where possible: a block can be reused only on the "
                   "stream it was allocated for");
    else if (rules->expandable_segments)
        say(words, "expandable_segments is already on, but a page is released to the device only "
                   "when it holds no block: free the long-lived blocks of that pool earlier");
    else
        say(words, "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, so that unused pages of "
                   "a pool are released to the device");
}

static void say_sentence(const struct words *words, const struct oom_row *row, const char *doubt)
{
    const struct oom_layout *layout = &row->layout;
    switch (row->verdict) {
    case OOM_PROCESS_LIMIT:
        say(words,
            "the device had %s free, enough for the segment of %s that the request needs: a memory "
            "limit on this process refused it",
            SIZE(row->device_free_bytes), SIZE(row->segment_bytes));
        break;
    case OOM_FRAGMENTATION:
        say(words,
            "fragmentation: %s free on the device and %s unused in the pool's segments would be "
            "enough together, but the largest hole is only %s",
            SIZE(row->device_free_bytes), SIZE(layout->pool_bytes), SIZE(layout->largest_bytes));
        break;
    case OOM_OTHER_POOL:
        say_elsewhere(words, layout);
        break;
    case OOM_OTHER_PROCESS:
        say_other_process(words, row);
        break;
    case OOM_SHORTAGE:
        say(words, "a true shortage: %s are in use, and the %s free on the device",
            SIZE(positive(row->at.active_bytes)), SIZE(row->device_free_bytes));
        if (layout->inactive_bytes > 0)
            say(words, " plus %s unused in segments", SIZE(layout->inactive_bytes));
        say(words, " are too little for %s", SIZE(row->requested_bytes));
        break;
    case OOM_TOO_LARGE:
        say_too_large(words, row->requested_bytes, row->device_bytes);
        break;
    case OOM_HOST: /* a capture has no such events */
    case OOM_ON_CHIP:
        break;
    case OOM_UNKNOWN:
        if (doubt)
            say(words,
                "up to %s were reserved but unused, which may have been enough, but their layout "
                "in segments is not known: %s",
                SIZE(oom_most_unused(row)), doubt);
        else
            say(words,
                "a hole of %s in the pool of this request was large enough, and the capture does "
                "not show why it was not used",
                SIZE(layout->largest_bytes));
        break;
    }
}

/* Labels in parentheses do not name a place in the code. */
static bool names_code(const char *label)
{
    return label[0] != '(';
}

static void say_pins(const struct words *words, const struct oom_row *row, const char *lead)
{
    if (row->pinned.count == 0)
        return;
    const struct pin_row *pin = &row->pinned.items[0];
    bool many = pin->segments != 1;
    say(words,
        "%s%llu block%s %s%.*s, %s%s, keep%s %s of segments from being released to the device",
        lead, (unsigned long long)pin->segments, many ? "s" : "",
        names_code(pin->label) ? "of " : "", utf8_clip(pin->label, LABEL_MOST), pin->label,
        SIZE(pin->block_bytes), many ? " in all" : "", many ? "" : "s", SIZE(pin->pinned_bytes));
}

/* Advice to reduce the memory of a category, or NULL. */
static const char *remedy(enum category category, bool trains)
{
    switch (category) {
    case CATEGORY_PARAMETER:
        return "lower precision or sharded parameters (FSDP)";
    case CATEGORY_GRADIENT:
        return "sharded gradients (FSDP, ZeRO-2), or zero_grad(set_to_none=True) earlier";
    case CATEGORY_OPTIMIZER_STATE:
        return "sharded optimizer state (ZeRO-1), or an optimizer with less state";
    case CATEGORY_ACTIVATION:
        return trains
                   ? "a smaller batch or sequence, lower precision, or torch.utils.checkpoint"
                   : "a smaller batch or sequence, lower precision, and torch.utils.checkpoint if "
                     "a backward pass follows, else torch.inference_mode()";
    case CATEGORY_INPUT:
        return "a smaller batch, or move the inputs to the device later";
    case CATEGORY_TEMPORARY:
    case CATEGORY_AUTOGRAD_DETAIL:
        return "a smaller batch, or in-place or fused operators";
    case CATEGORY_COMMUNICATION:
        return "smaller communication buckets";
    case CATEGORY_KV_CACHE:
        return "fewer or shorter requests at a time, a smaller pool, or a cache of lower precision";
    case CATEGORY_CAST_CACHE:
        return "weights in the lower precision (model.to(dtype)) instead of autocast, if they "
               "are not trained";
    case CATEGORY_WORKSPACE:
        return "a smaller CUBLAS_WORKSPACE_CONFIG";
    default:
        return NULL;
    }
}

/* True if say_largest() names a category or a line of code. */
static bool names_largest(const struct oom_row *row, bool trains)
{
    return row->category_count > 0 && row->site_count > 0 &&
           (remedy(row->categories[0].category, trains) || names_code(row->sites[0].label));
}

static void say_largest(const struct words *words, const struct oom_row *row, bool trains)
{
    if (row->category_count == 0 || row->site_count == 0)
        return;
    enum category category = row->categories[0].category;
    const struct oom_site *site = &row->sites[0];
    const char *helps = remedy(category, trains), *separator = "";
    if (!helps && !names_code(site->label)) {
        say(words, "record the history from the start of the run, with stacks, to see what holds "
                   "this memory");
        return;
    }
    if (helps) {
        say(words, "the largest category is %s (%s); to reduce it, use %s", category_name(category),
            SIZE(positive(row->categories[0].bytes)), helps);
        separator = "; ";
    }
    if (names_code(site->label))
        say(words, "%sthe largest call site is %.*s (%s, %s)", separator,
            utf8_clip(site->label, LABEL_MOST), site->label, category_name(site->category),
            SIZE(positive(site->bytes)));
}

bool oom_gains_little(const struct oom_row *row)
{
    return row->layout.pool_bytes < positive(row->at.reserved_bytes) / LITTLE_SHARE;
}

bool oom_names_pinned(const struct oom_row *row)
{
    return row->pinned.count > 0 && !oom_gains_little(row);
}

static void say_what_else(const struct words *words, const struct oom_row *row, bool trains)
{
    say(words, ", but that gains at most %s", SIZE(row->layout.pool_bytes));
    if (row->category_count > 0 && row->site_count > 0)
        say(words, "; ");
    say_largest(words, row, trains);
}

static void say_next(const struct words *words, const struct oom_row *row,
                     const struct allocator_rules *rules, bool trains)
{
    if (say_next_by_verdict(words, row->verdict, "nvidia-smi")) {
        if (row->verdict == OOM_OTHER_PROCESS && names_largest(row, trains)) {
            say(words, "; if there are none, ");
            say_largest(words, row, trains);
        }
        return;
    }
    switch (row->verdict) {
    case OOM_FRAGMENTATION:
        if (!rules->expandable_segments) {
            say_set_expandable(words, CUDA_ALLOC_CONF, BEFORE_CUDA);
            if (oom_gains_little(row))
                say_what_else(words, row, trains);
            else
                say_pins(words, row, "; ");
        } else {
            say(words, "expandable_segments is already on: free long-lived blocks earlier, or "
                       "allocate them first");
        }
        break;
    case OOM_OTHER_POOL:
        say_elsewhere_next(words, row, rules);
        say_pins(words, row, "; ");
        break;
    case OOM_SHORTAGE:
        say_largest(words, row, trains);
        break;
    case OOM_UNKNOWN:
        say(words, row->layout.after_range
                       ? "analyze the whole capture, without --range"
                       : "record again, and dump as soon as the error is raised");
        break;
    default:
        break;
    }
}

void oom_write_sentences(struct oom_row *row, const struct allocator_rules *rules,
                         const char *doubt, const struct oom_question *question)
{
    enum unit unit = question->unit;
    row->sentence[0] = row->next[0] = '\0';
    say_sentence(&(struct words){row->sentence, sizeof(row->sentence), unit}, row, doubt);
    say_next(&(struct words){row->next, sizeof(row->next), unit}, row, rules, question->trains);
}
