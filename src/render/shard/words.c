#include "render/shard/words.h"

#include <inttypes.h>

#include "render/core/escape.h"
#include "render/shard/stops.h"

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
    buffer_printf(text, ", on rank %" PRIu32 ".", rank->rank);
}

static void add_library(struct buffer *text, const struct shard_choice *choice)
{
    enum shard_strategy strategy = choice->rows[choice->row].result.strategy;
    if (strategy == SHARD_OSS || strategy == SHARD_SDP || strategy == SHARD_FSDP)
        buffer_printf(text, " %s is part of FairScale, whose last release is 0.4.13.",
                      shard_strategy_name(strategy));
}

static void add_reason(struct buffer *text, const struct shard_choice *choice)
{
    const struct shard_row *row = &choice->rows[choice->row];
    const char *name = shard_strategy_name(row->result.strategy);
    const char *checkpoints = row->is_checkpointed ? " with checkpoints" : "";
    switch (choice->reason) {
    case SHARD_SIMPLEST:
        buffer_printf(text, "Use %s%s: every rank fits without sharding, and nothing sends less.",
                      name, checkpoints);
        break;
    case SHARD_LEAST_COST:
        buffer_printf(text, "Use %s%s: of those that fit, it %s.", name, checkpoints,
                      row->is_checkpointed ? "costs the least time" : "sends the least");
        break;
    case SHARD_NONE_FITS:
        buffer_printf(text, "None fits; %s%s needs the least.", name, checkpoints);
        break;
    default:
        buffer_puts(text, "Give --gpu for a recommendation.");
    }
    if (choice->is_stateless)
        buffer_puts(text, " The optimizer has no state, so zero and oss save nothing.");
}

static void add_size(struct buffer *text, const struct page *page, uint64_t bytes)
{
    char size[UNITS_TEXT_SIZE];
    buffer_puts(text, page_size(page, size, bytes));
}

/* What the allocator and CUDA take besides may be more than what is left. */
static void add_tight(struct buffer *text, const struct page *page,
                      const struct shard_report *report)
{
    const struct shard_choice *choice = report->choice;
    const struct shard_result *result = &choice->rows[choice->row].result;
    buffer_puts(text, "It leaves only ");
    add_size(text, page, choice->gpu_bytes - (uint64_t)result->peak_bytes);
    buffer_puts(text, " of the GPU for the CUDA context, about ");
    add_size(text, page, SHARD_CONTEXT_BYTES);
    buffer_printf(text,
                  ", and for fragmentation. PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True keeps "
                  "fragmentation low. Run the program with this code under memsnap dryrun --world "
                  "%" PRId64 " --rank %" PRIu32 " to see whether it fits.",
                  report->options->world, result->peak_rank);
    if (choice->safer == choice->count)
        return;
    const struct shard_row *safer = &choice->rows[choice->safer];
    buffer_printf(text, " If it does not, use %s%s, which needs ",
                  shard_strategy_name(safer->result.strategy),
                  safer->is_checkpointed ? " with checkpoints" : "");
    add_size(text, page, (uint64_t)safer->result.peak_bytes);
    buffer_puts(text, ".");
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
    if (!report->checkpointed && report->model->has_backward)
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
    else if (report->choice->is_tight)
        add_tight(&text, page, report);
    else
        return true;
    bool ok = !text.failed;
    if (ok)
        paragraph(page, text.bytes);
    buffer_release(&text);
    return ok;
}

static bool knows_rows(const struct shard_model *model)
{
    for (size_t i = 0; i < model->tensor_count; i++)
        if (model->tensors[i].rows == 0)
            return false;
    return true;
}

/* By how much fsdp2 may err where the first dimensions are not known. */
static bool put_padding(const struct page *page, const struct shard_options *options)
{
    struct buffer text = BUFFER_INIT;
    int64_t ranks = options->group > 0 ? options->group : options->world;
    buffer_printf(&text,
                  "The input does not tell the shapes of parameters. fsdp2 pads those that have "
                  "fewer rows than there are ranks, such as the weights of all experts in one "
                  "tensor, so it may take more than predicted: a parameter of r rows takes "
                  "%" PRId64 "/r times its size on %" PRId64
                  " ranks. A layer trace has the shapes.",
                  ranks, ranks);
    bool ok = !text.failed;
    if (ok)
        paragraph(page, text.bytes);
    buffer_release(&text);
    return ok;
}

static const char divides_flat[] =
    "Some units have parameters of several types, or both trained and frozen ones. The code of "
    "fsdp1 makes units of modules that differ from the rest of their unit, because a flat "
    "parameter has one type, and gets gradients as a whole.";

static const char divides_both[] =
    "Some units have trained parameters of several types. The code of fsdp1 and fsdp2 makes units "
    "of modules that differ from the rest of their unit, because the libraries take trained "
    "parameters of one type in a unit.";

bool shard_tell(const struct page *page, const struct shard_report *report)
{
    struct buffer text = BUFFER_INIT;
    add_reason(&text, report->choice);
    if (report->choice->reason != SHARD_NO_GPU) {
        add_peak(&text, report);
        add_library(&text, report->choice);
    }
    bool ok = !text.failed;
    fputc('\n', page->out);
    if (ok)
        paragraph(page, text.bytes);
    buffer_release(&text);
    ok &= put_room(page, report);
    fputc('\n', page->out);
    paragraph(page, "Peaks are active memory. Not included: the CUDA context, NCCL's own buffers, "
                    "workspaces of libraries that the input does not show, rounding and "
                    "fragmentation in the allocator.");
    if (report->model->unit_count == 1)
        paragraph(page,
                  "No units were found, so fsdp, fsdp1 and fsdp2 gather the whole model at once; "
                  "--granularity tells where to divide it.");
    if (report->model->hides_units)
        paragraph(
            page,
            "The modules of a Sequential all allocate at the same line of code, as far as the "
            "file shows, so they cannot be told apart: units are parts of them, but the code "
            "wraps the whole modules. fsdp, fsdp1, fsdp2 and checkpoints may take less or more "
            "than predicted; "
            "a layer trace has the modules.");
    ok &= shard_put_stops(page, report->choice);
    if (report->choice->divides[SHARD_FSDP1])
        paragraph(page, report->choice->divides[SHARD_FSDP2] ? divides_both : divides_flat);
    if (!report->model->has_tensors)
        paragraph(page, "The input has the sum of each module's parameters, not the tensors: the "
                        "balance of zero, oss and sdp and the padding of fsdp2 are estimates.");
    else if (!knows_rows(report->model))
        ok &= put_padding(page, report->options);
    if (report->model->assumes_type)
        paragraph(page, "The input does not tell the type of parameters; float32 is assumed, and "
                        "--recorded-dtype names another one. Recorded in bfloat16, there are twice "
                        "as many parameters as said here, and what --dtype and --param-dtype make "
                        "of them is twice as large. Where parameters have several types, the code "
                        "may stop, unless it is that of ddp; a layer trace has the types.");
    if (!report->model->has_backward)
        paragraph(page, "The input does not show the memory of the backward pass; it was derived "
                        "from what layers keep.");
    return ok;
}
