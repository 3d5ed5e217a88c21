#include "render/shard/notes.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "render/shard/stops.h"

static void paragraph(const struct page *page, const char *text)
{
    page_paragraph(page, 0, 0, text);
}

/* Prints the text, and releases it. False if it failed. */
static bool put_paragraph(const struct page *page, struct buffer *text)
{
    bool ok = !text->failed;
    if (ok)
        paragraph(page, text->bytes);
    buffer_release(text);
    return ok;
}

static const char only_rank[] =
    "One rank has nothing to share: ddp is the plain program, without DistributedDataParallel, and "
    "the other strategies are of use only with --offload, for what they keep on the host.";

/* What the step of each rank is assumed to be, and what its memory does not include. */
static bool put_basis(const struct page *page, const struct shard_report *report)
{
    const struct shard_options *options = report->options;
    struct buffer text = BUFFER_INIT;
    double batches = (double)options->world * (double)options->accumulation * options->batch;
    if (report->is_recorded) {
        buffer_puts(&text, "In a backward pass each rank trains ");
        if (options->batch != 1)
            buffer_printf(&text, "%g times ", options->batch);
        buffer_printf(&text, "the recorded batch; a step of all ranks trains %g recorded %s. ",
                      batches, batches == 1 ? "batch" : "batches");
    }
    if (report->assumes_optimizer)
        buffer_printf(&text, "The optimizer is assumed to be %s%s; --optimizer names another. ",
                      options->optimizer->name,
                      report->is_recorded ? ", whatever was recorded" : "");
    buffer_puts(&text, "Peaks are active memory. Not included: the CUDA context, NCCL's own "
                       "buffers, workspaces of libraries that the input does not show, rounding "
                       "and fragmentation in the allocator.");
    return put_paragraph(page, &text);
}

/* A program with several devices may have parts of its model on each. */
static bool put_devices(const struct page *page, const struct shard_report *report)
{
    struct buffer text = BUFFER_INIT;
    buffer_printf(&text,
                  "Only device %" PRIu32 " was read, of %zu: what the program has on the others is "
                  "not part of the prediction. --device names another.",
                  report->device, report->other_devices + 1);
    return put_paragraph(page, &text);
}

/* The placement is the same for all strategies. */
static bool put_recomputation(const struct page *page, const struct shard_report *report)
{
    const struct shard_choice *choice = report->choice;
    struct buffer text = BUFFER_INIT;
    const struct shard_extra *extra = &choice->rows[choice->count - 1].extra;
    buffer_puts(&text, "Checkpoints run modules again in the backward pass. ");
    if (extra->is_time)
        buffer_printf(&text, "With the times of the input, a step computes %.1f%% longer (extra).",
                      100 * extra->share);
    else
        buffer_printf(&text,
                      "They make %.1f%% of all activations again; the input does not tell how "
                      "much longer a step takes.",
                      100 * extra->share);
    if (report->is_recorded && !report->has_modules)
        buffer_puts(&text,
                    " The code wraps the modules that loops call. What an iteration computes "
                    "beside them is kept, and counts here as if it was made again.");
    return put_paragraph(page, &text);
}

static bool knows_rows(const struct shard_model *model)
{
    for (size_t i = 0; i < model->tensor_count; i++)
        if (model->tensors[i].rows == 0 || model->tensors[i].least_rows > 0)
            return false;
    return true;
}

/* Nothing if both ends of the range print the same. */
static void put_range(struct buffer *text, const struct page *page, const struct shard_row *row)
{
    char least[UNITS_TEXT_SIZE], most[UNITS_TEXT_SIZE];
    page_size(page, least, (uint64_t)row->least_bytes);
    page_size(page, most, (uint64_t)row->most_bytes);
    if (strcmp(least, most) != 0)
        buffer_printf(text, " Depending on the number of rows, its peak%s is between %s and %s.",
                      row->is_checkpointed ? " with checkpoints" : "", least, most);
}

/* The range of fsdp2 where the first dimensions are not known. */
static bool put_padding(const struct page *page, const struct shard_report *report)
{
    struct buffer text = BUFFER_INIT;
    const struct shard_choice *choice = report->choice;
    buffer_puts(&text, "The input does not tell the shapes of parameters. fsdp2 pads those that "
                       "have fewer rows than there are ranks, such as the weights of all experts "
                       "in one tensor.");
    for (size_t i = 0; i < choice->count; i++) {
        const struct shard_row *row = &choice->rows[i];
        if (row->result.strategy == SHARD_FSDP2 && row->most_bytes > row->least_bytes)
            put_range(&text, page, row);
    }
    buffer_puts(&text, " A layer trace has the shapes.");
    return put_paragraph(page, &text);
}

/* Less of a difference than this is not worth a sentence. */
#define EARLY_SHARE 0.05

/* Tells the lower peak of sdp if reductions take no time: sdp frees the gradient of another rank's
 * parameter as soon as it sees that its reduction has ended. */
static bool put_early(const struct page *page, const struct shard_report *report)
{
    const struct shard_row *row = shard_choice_row(report->choice, SHARD_SDP);
    struct buffer text = BUFFER_INIT;
    char late[UNITS_TEXT_SIZE], early[UNITS_TEXT_SIZE];
    int64_t peak = row->early_bytes > 0 ? row->result.ranks[row->early_rank].peak_bytes : 0;
    if ((double)(peak - row->early_bytes) <= EARLY_SHARE * (double)row->early_bytes)
        return true;
    buffer_printf(&text,
                  "FairScale's sdp frees the gradient of another rank's parameter when the next "
                  "gradient has been made, at the earliest. In a dry run, where reductions take no "
                  "time, the peak of rank %lu may be %s instead of %s.",
                  (unsigned long)row->early_rank,
                  page_size(page, early, (uint64_t)row->early_bytes),
                  page_size(page, late, (uint64_t)peak));
    return put_paragraph(page, &text);
}

static bool put_masters(const struct page *page, const struct shard_model *model)
{
    struct buffer text = BUFFER_INIT;
    char size[UNITS_TEXT_SIZE];
    buffer_printf(&text,
                  "The program has copies of its parameters that are twice as large, %s, and the "
                  "optimizer has state of their sizes: so parameters have 16 bits, and the copies "
                  "count as optimizer state, as with --master-copy.",
                  page_size(page, size, (uint64_t)model->master_bytes));
    if (model->main_gradient_bytes > 0)
        buffer_printf(&text,
                      " It also keeps gradients of these sizes, %s, as with --main-gradients.",
                      page_size(page, size, (uint64_t)model->main_gradient_bytes));
    return put_paragraph(page, &text);
}

static bool put_averages(const struct page *page, const struct shard_model *model)
{
    struct buffer text = BUFFER_INIT;
    char size[UNITS_TEXT_SIZE];
    buffer_printf(&text,
                  "The program has tensors of the sizes of optimizer state, %s, that its optimizer "
                  "does not seem to update, such as averages of the parameters: they count as "
                  "buffers, which every rank has.",
                  page_size(page, size, (uint64_t)model->average_bytes));
    return put_paragraph(page, &text);
}

/* A profile does not tell frozen parameters from anything else that was there before. */
static bool put_before(const struct page *page, const struct shard_model *model)
{
    struct buffer text = BUFFER_INIT;
    char size[UNITS_TEXT_SIZE], unknown[UNITS_TEXT_SIZE];
    buffer_printf(&text, "Of what was there before the profile began, it has only the sum, %s.",
                  page_size(page, size, (uint64_t)model->before_bytes));
    if (model->unknown_bytes > 0)
        buffer_printf(&text,
                      " Of that, %s is neither trained parameters nor their state. It counts as "
                      "buffers, which every rank has, even if it is frozen parameters.",
                      page_size(page, unknown, (uint64_t)model->unknown_bytes));
    if (model->lacks_lines)
        buffer_puts(&text, " The profile does not tell which line of a function was running, so "
                           "units may be parts of modules; one of PyTorch 2.15 does.");
    buffer_puts(&text, " A snapshot or a layer trace shows more.");
    return put_paragraph(page, &text);
}

static const char divides_flat[] =
    "Some units have parameters of several types, or both trained and frozen ones. The code of "
    "fsdp1 makes units of modules that differ from the rest of their unit, because a flat "
    "parameter has one type, and gets gradients as a whole.";

static const char divides_both[] =
    "Some units have trained parameters of several types. The code of fsdp1 and fsdp2 makes units "
    "of modules that differ from the rest of their unit, because the libraries take trained "
    "parameters of one type in a unit.";

#define GUESSES                                                                                    \
    "Some units are iterations of loops that call several modules, that are in other loops, or "   \
    "that call the same module again. The code wraps the modules of the outermost lists, which "   \
    "may be less or more: "

static const char guesses_units[] =
    GUESSES "peaks under fsdp, fsdp1 and fsdp2 may be lower or higher than predicted. A layer "
            "trace has the modules.";

static const char guesses_all[] =
    GUESSES "peaks under fsdp, fsdp1 and fsdp2 may be lower or higher than predicted, and those "
            "with checkpoints are not predicted. A layer trace has the modules.";

static bool has_frozen(const struct shard_model *model)
{
    for (size_t i = 0; i < model->tensor_count; i++)
        if (model->tensors[i].frozen)
            return true;
    return false;
}

bool shard_put_notes(const struct page *page, const struct shard_report *report)
{
    fputc('\n', page->out);
    bool ok = put_basis(page, report);
    if (report->options->world == 1)
        paragraph(page, only_rank);
    if (report->other_devices > 0)
        ok &= put_devices(page, report);
    if (report->checkpointed)
        ok &= put_recomputation(page, report);
    if (report->model->unit_count == 1)
        paragraph(page,
                  "No units were found, so fsdp, fsdp1 and fsdp2 gather the whole model at once; "
                  "--granularity tells where to divide it.");
    if (report->model->hides_units)
        paragraph(
            page,
            "A Sequential calls modules that allocate at one line of code each, as far as the file "
            "shows, so that they cannot be told apart. Units are parts of them, but the code wraps "
            "whole modules: fsdp, fsdp1, fsdp2 and checkpoints may take less or more than "
            "predicted. A layer trace has the modules.");
    if (report->model->guesses_units)
        paragraph(page, report->lacks_checkpoints ? guesses_all : guesses_units);
    ok &= shard_put_stops(page, report->choice);
    if (report->choice->divides[SHARD_FSDP1])
        paragraph(page, report->choice->divides[SHARD_FSDP2] ? divides_both : divides_flat);
    if (!report->model->has_tensors)
        paragraph(page, "The input has the sum of each module's parameters, not the tensors: the "
                        "balance of zero, oss and sdp and the padding of fsdp2 are estimates.");
    else if (!knows_rows(report->model) && report->options->world > 1)
        ok &= put_padding(page, report);
    ok &= put_early(page, report);
    if (report->model->master_bytes > 0)
        ok &= put_masters(page, report->model);
    if (report->model->before_bytes > 0)
        ok &= put_before(page, report->model);
    if (report->model->average_bytes > 0)
        ok &= put_averages(page, report->model);
    if (report->model->assumes_type)
        paragraph(page, "The input does not tell the type of parameters; float32 is assumed, and "
                        "--recorded-dtype names another one. If they are bfloat16, there are twice "
                        "as many as this report says, and with --dtype or --param-dtype it gives "
                        "them half the bytes that they take. If they have several types, the code "
                        "may stop, unless it is that of ddp; a layer trace has the types.");
    if (report->is_recorded && !report->has_modules && has_frozen(report->model))
        paragraph(page, "Parameters without a gradient count as frozen. If the program trains some "
                        "of them, but the step does not use them, DistributedDataParallel needs "
                        "find_unused_parameters=True; a layer trace tells which they are.");
    if (!report->model->has_backward)
        paragraph(page, "The input does not show the memory of the backward pass; it was derived "
                        "from what layers keep.");
    return ok;
}
