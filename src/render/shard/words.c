#include "render/shard/words.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/shard/room.h"
#include "render/core/escape.h"
#include "render/shard/notes.h"

#define LONGEST_NAME 200

static void paragraph(const struct page *page, const char *text)
{
    page_paragraph(page, 0, 0, text);
}

const struct shard_rank *shard_highest_rank(const struct shard_result *result)
{
    for (size_t i = 0; i < result->rank_count; i++)
        if (result->ranks[i].rank == result->peak_rank)
            return &result->ranks[i];
    return result->ranks;
}

const char *shard_row_name(enum shard_strategy strategy, int64_t world)
{
    return shard_is_plain(strategy, world) ? "the plain program" : shard_strategy_name(strategy);
}

const char *shard_name_on(const char *name, uint64_t world)
{
    bool is_ddp = strcmp(name, shard_strategy_name(SHARD_DDP)) == 0;
    return is_ddp && world == 1 ? shard_row_name(SHARD_DDP, 1) : name;
}

/* "Its peak is in the backward pass of blocks.5." */
static void add_peak(struct buffer *text, const struct shard_report *report)
{
    static const char *const phases[] = {
        [SHARD_FORWARD] = "in the forward pass",
        [SHARD_BACKWARD] = "in the backward pass",
        [SHARD_RECOMPUTATION] = "in the recomputation",
        [SHARD_REDUCTION] = "in the reduction of gradients",
        [SHARD_STEP] = "in the step of the optimizer",
    };
    const struct shard_choice *choice = report->choice;
    const struct shard_rank *rank = shard_highest_rank(&choice->rows[choice->row].result);
    struct text unit = report->model->units[rank->peak_unit].name;
    buffer_printf(text, " Its peak is %s", phases[rank->peak_phase]);
    if (unit.size > 0 && unit.size <= LONGEST_NAME) {
        buffer_puts(text, " of ");
        escape_text(text, unit.bytes, unit.size);
    }
    if (report->model->unit_count > 1 && rank->peak_unit == SHARD_ROOT &&
        rank->peak_phase != SHARD_STEP)
        buffer_puts(text, ", outside of the units");
    if (report->options->world > 1)
        buffer_printf(text, ", on rank %" PRIu32, rank->rank);
    buffer_puts(text, ".");
}

static void add_library(struct buffer *text, const struct shard_choice *choice)
{
    enum shard_strategy strategy = choice->rows[choice->row].result.strategy;
    if (strategy == SHARD_OSS || strategy == SHARD_SDP || strategy == SHARD_FSDP)
        buffer_printf(text, " %s is part of FairScale, whose last release is 0.4.13.",
                      shard_strategy_name(strategy));
}

/* FairScale's advice: buffers are faster where messages are slow, and take memory for nothing where
 * they are not. */
static void add_machines(struct buffer *text, const struct shard_options *options,
                         enum shard_strategy strategy)
{
    if (strategy == SHARD_SDP)
        buffer_puts(text, options->reduce_buffer > 0
                              ? " If all ranks are on one machine, --reduce-buffer 0 is best."
                              : " If ranks are on several machines, --reduce-buffer 8388608 sends "
                                "fewer and larger messages.");
    if ((strategy == SHARD_SDP || strategy == SHARD_OSS) && !options->half_broadcast)
        buffer_puts(text,
                    " Between machines, --broadcast-fp16 sends parameters in half the bytes.");
}

/* On one rank all strategies send nothing. */
static void add_only_rank(struct buffer *text, const struct shard_row *row, const char *name,
                          const char *checkpoints)
{
    if (row->result.strategy != SHARD_DDP)
        buffer_printf(text, "Use %s%s: one rank has no room for the plain program.", name,
                      checkpoints);
    else
        buffer_printf(text, "Use %s%s: it fits on one rank%s.", name, checkpoints,
                      row->is_checkpointed ? ", and nothing fits without checkpoints" : "");
}

/* Checkpoints are only recommended where nothing fits without them. */
static void add_reason(struct buffer *text, const struct shard_choice *choice)
{
    const struct shard_row *row = &choice->rows[choice->row];
    int64_t world = choice->options->world;
    const char *name = shard_row_name(row->result.strategy, world);
    const char *checkpoints = row->is_checkpointed ? " with checkpoints" : "";
    bool has_time = row->result.traffic.us > 0;
    switch (choice->reason) {
    case SHARD_ONLY_RANK:
        add_only_rank(text, row, name, checkpoints);
        break;
    case SHARD_SIMPLEST:
        buffer_printf(text, "Use %s%s: %severy rank fits without sharding, and nothing %s.", name,
                      checkpoints,
                      row->is_checkpointed ? "nothing fits without checkpoints; with them, " : "",
                      has_time ? "takes less time for its traffic" : "sends less");
        break;
    case SHARD_LEAST_COST:
        buffer_printf(text, "Use %s%s: %sof those that fit, it %s.", name, checkpoints,
                      row->is_checkpointed ? "nothing fits without checkpoints, and " : "",
                      has_time ? "takes the least time for its traffic" : "sends the least");
        break;
    case SHARD_MOST_ROOM:
        buffer_printf(text, "Use %s%s: none is sure to fit, and it leaves the most.", name,
                      checkpoints);
        break;
    case SHARD_NONE_FITS:
        buffer_printf(text, "None fits; %s%s needs the least.", name, checkpoints);
        break;
    default:
        buffer_puts(text, "Give --gpu for a recommendation.");
    }
    if (choice->is_stateless && world > 1)
        buffer_puts(text, " The optimizer has no state, so zero and oss save nothing.");
}

static void add_size(struct buffer *text, const struct page *page, uint64_t bytes)
{
    char size[UNITS_TEXT_SIZE];
    buffer_puts(text, page_size(page, size, bytes));
}

/* Says how much of the GPU a strategy leaves. CUDA and the allocator may need more than that. */
static void add_left(struct buffer *text, const struct page *page,
                     const struct shard_report *report, const struct shard_row *row)
{
    add_size(text, page, report->choice->gpu_bytes - (uint64_t)row->result.peak_bytes);
    buffer_puts(text, " of the GPU for the CUDA context, about ");
    add_size(text, page, SHARD_CONTEXT_BYTES);
    buffer_puts(text, row->result.strategy == SHARD_SDP
                          ? ", for fragmentation, and for the parameters, which the first step "
                            "holds twice"
                          : ", and for fragmentation");
}

static void add_try(struct buffer *text, const struct shard_report *report,
                    const struct shard_row *row)
{
    buffer_printf(text,
                  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True keeps fragmentation low. Run "
                  "the program with this code under memsnap dryrun --world %" PRId64
                  " --rank %" PRIu32 " to see whether it fits.",
                  report->options->world, row->result.peak_rank);
}

static void add_most_room(struct buffer *text, const struct page *page,
                          const struct shard_report *report)
{
    const struct shard_row *row = &report->choice->rows[report->choice->row];
    buffer_puts(text, "It leaves only ");
    add_left(text, page, report, row);
    buffer_puts(text, "; no strategy leaves as much as these may take. ");
    add_try(text, report, row);
}

static void add_tight(struct buffer *text, const struct page *page,
                      const struct shard_report *report)
{
    const struct shard_row *row = &report->choice->rows[report->choice->tight];
    enum shard_strategy strategy = row->result.strategy;
    buffer_printf(text, "It would cost less to use %s%s, but that is tight: it would leave only ",
                  shard_row_name(strategy, report->options->world),
                  row->is_checkpointed ? " with checkpoints" : "");
    add_left(text, page, report, row);
    buffer_printf(text, ". Its code is that of --code %s. ", shard_strategy_name(strategy));
    add_try(text, report, row);
}

/* What makes less of memory, and was not asked for. */
static void add_ways(struct buffer *text, const struct page *page,
                     const struct shard_report *report)
{
    const struct shard_choice *choice = report->choice;
    const struct shard_result *result = &choice->rows[choice->row].result;
    buffer_puts(text, "That is ");
    add_size(text, page, (uint64_t)result->peak_bytes - choice->gpu_bytes);
    buffer_puts(text, " more than the GPU has. Less is needed with ");
    if (!report->checkpointed && !report->lacks_checkpoints && report->model->has_backward)
        buffer_puts(text, "activation checkpoints (--checkpointed), ");
    if (!report->options->offload)
        buffer_puts(text, "fsdp2's states on the host (--offload), ");
    buffer_puts(text, "a smaller batch (--batch) or more ranks (--world).");
}

/* The room that the recommendation leaves, or what to try where nothing fits. */
static bool put_room(const struct page *page, const struct shard_report *report)
{
    struct buffer text = BUFFER_INIT;
    if (report->choice->reason == SHARD_NONE_FITS)
        add_ways(&text, page, report);
    else if (report->choice->reason == SHARD_MOST_ROOM)
        add_most_room(&text, page, report);
    else if (report->choice->tight < report->choice->count)
        add_tight(&text, page, report);
    else
        return true;
    bool ok = !text.failed;
    if (ok)
        paragraph(page, text.bytes);
    buffer_release(&text);
    return ok;
}

bool shard_tell(const struct page *page, const struct shard_report *report)
{
    struct buffer text = BUFFER_INIT;
    add_reason(&text, report->choice);
    if (report->choice->reason != SHARD_NO_GPU) {
        add_peak(&text, report);
        add_library(&text, report->choice);
        add_machines(&text, report->options,
                     report->choice->rows[report->choice->row].result.strategy);
    }
    bool ok = !text.failed;
    fputc('\n', page->out);
    if (ok)
        paragraph(page, text.bytes);
    buffer_release(&text);
    return ok && put_room(page, report) && shard_put_notes(page, report);
}
