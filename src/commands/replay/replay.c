#include <stdlib.h>
#include <unistd.h>

#include "base/budget.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "commands/cli/watch.h"
#include "commands/cli/worker_pool.h"
#include "commands/replay/options.h"
#include "decode/core/sniff.h"
#include "model/device.h"
#include "render/replay/replay.h"

/* One setting of one device. */
struct piece {
    struct device_replay *replay;
    size_t row;
    struct budget budget;
    struct error err;
    bool ok;
};

/* The items of the trace that lie in the range. */
static struct item_range range_of(const struct timeline *timeline, const struct window *window)
{
    const struct trace *trace = timeline->trace;
    struct item_range range = {trace->count, trace->count};
    struct window_gate gate;
    window_gate_init(&gate, window);
    for (size_t i = 0; i < trace->count; i++) {
        enum window_phase phase = window_gate_pass(&gate, trace_time(trace, i));
        if (phase != WINDOW_BEFORE && range.from == trace->count)
            range.from = i;
        if (phase == WINDOW_AFTER) {
            range.to = i;
            break;
        }
    }
    return range;
}

static bool begin(const struct replay_command *command, const struct capture *capture,
                  struct device_replay *replays, size_t *begun, struct error *err)
{
    size_t usable = 0;
    for (size_t i = 0; i < capture->device_count; i++) {
        const struct timeline *timeline = capture->timelines[i];
        struct item_range range = range_of(timeline, &command->range);
        if (!device_replay_begin(timeline, capture->sites, &range, &command->replay, &replays[i],
                                 err))
            return false;
        ++*begun;
        usable += !*replays[i].obstacle;
    }
    return usable > 0 || error_set(err, STATUS_BAD_INPUT, "cannot be replayed: %.190s",
                                   *begun > 0 ? replays[0].obstacle : "the snapshot is empty");
}

static void do_piece(void *self, size_t index, FILE *out)
{
    struct piece *piece = (struct piece *)self + index;
    (void)out;
    piece->ok = device_replay_row(piece->replay, piece->row, &piece->budget, &piece->err);
}

/* A piece leaves its result in the row, and prints nothing. */
static void no_output(void *self)
{
    (void)self;
}

static void piece_done(void *self, size_t index)
{
    (void)self;
    (void)index;
}

static size_t add_pieces(struct device_replay *replays, size_t count, struct piece *pieces)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < replays[i].row_count; r++, made++)
            if (pieces)
                pieces[made] = (struct piece){.replay = &replays[i], .row = r};
    return made;
}

/* Every thread may use an equal part of the memory that is left. */
static bool run_all(const struct replay_command *command, const struct budget *budget,
                    struct device_replay *replays, size_t count, FILE *out, struct error *err)
{
    size_t total = add_pieces(replays, count, NULL);
    size_t jobs = command->jobs ? command->jobs : worker_pool_cores();
    struct piece *pieces = calloc(total + 1, sizeof(*pieces));
    if (!pieces)
        return error_out_of_memory(err);
    add_pieces(replays, count, pieces);
    jobs = jobs < total ? jobs : total;
    for (size_t i = 0; i < total; i++)
        pieces[i].budget.limit = (budget->limit - budget->used) / (jobs ? jobs : 1);
    const struct pool_work work = {.count = total,
                                   .jobs = jobs,
                                   .out = out,
                                   .separator = "",
                                   .work = do_piece,
                                   .before_output = no_output,
                                   .finish = piece_done,
                                   .self = pieces};
    bool ok = worker_pool_run(&work, err);
    for (size_t i = 0; ok && i < total; i++)
        if (!pieces[i].ok) {
            *err = pieces[i].err;
            ok = false;
        }
    free(pieces);
    for (size_t i = 0; ok && i < count; i++)
        device_replay_finish(&replays[i]);
    return ok;
}

static bool print(const struct replay_command *command, const char *path,
                  const struct snapshot *snapshot, const struct device_replay *replays,
                  size_t count, FILE *out, struct error *err)
{
    const struct replay_report report = {
        .input = {.path = path,
                  .bytes = snapshot->input_bytes,
                  .encoding = snapshot->encoding,
                  .protocol = snapshot->protocol,
                  .compression = snapshot->compression},
        .devices = replays,
        .device_count = count,
    };
    struct page page = page_for(out, command->unit);
    switch (command->format) {
    case REPLAY_CSV:
        return replay_csv(out, &report, err);
    case REPLAY_JSON:
        return replay_json(out, &report) || error_out_of_memory(err);
    default:
        return replay_text(&page, &report) || error_out_of_memory(err);
    }
}

static bool replay_devices(const struct replay_command *command, const char *path,
                           const struct capture *capture, FILE *out, struct error *err)
{
    size_t begun = 0;
    struct device_replay *replays = calloc(capture->device_count + 1, sizeof(*replays));
    if (!replays)
        return error_out_of_memory(err);
    bool ok =
        begin(command, capture, replays, &begun, err) &&
        run_all(command, capture->snapshot->budget, replays, capture->device_count, out, err) &&
        print(command, path, capture->snapshot, replays, capture->device_count, out, err);
    for (size_t i = 0; i < begun; i++)
        device_replay_release(&replays[i]);
    free(replays);
    return ok;
}

static bool replay_file(const void *self, struct inputs *inputs, FILE *out, struct error *err)
{
    const struct replay_command *command = self;
    struct capture capture;
    if (!capture_open_first(&capture, inputs, &command->capture, out, "", err))
        return false;
    bool ok = replay_devices(command, inputs->paths[0], &capture, out, err);
    capture_close(&capture);
    return ok;
}

static enum status replay(void *self, struct inputs *inputs)
{
    const struct replay_command *command = self;
    return files_write(command->output, inputs, replay_file, self);
}

static bool is_replayed(enum file_kind kind)
{
    return kind == KIND_SNAPSHOT;
}

static enum status run(int argc, char **argv)
{
    struct replay_command command = {
        .capture = {.max_memory = budget_default_limit(), .device = ALL_DEVICES, .gpus_only = true},
        .replay.tie_break = TIE_BREAKS,
        .files = {.what.kinds = is_replayed, .most = 1},
    };
    enum status status;
    if (!options_read(&command_replay, argc, argv, replay_option, &command, &status))
        return status;
    if (argc - optind > 1 && !command.files.has_rank)
        return complain_usage("replay: expected one file");
    return files_run(argv + optind, argc - optind, &command.files, replay, &command);
}

const struct command command_replay = {
    .name = "replay",
    .summary = "replay a trace with other allocator settings, or on a smaller GPU",
    .arguments = "[OPTION]... [FILE]",
    .about = "Replays the trace of an allocator snapshot through a model of PyTorch's CUDA\n"
             "caching allocator: first with the settings of the recording, which checks the\n"
             "model event by event, then with other settings of PYTORCH_CUDA_ALLOC_CONF. For\n"
             "each setting it prints how much memory the program would have reserved, and the\n"
             "least with which it would still run. FILE is as in memsnap analyze.\n",
    .examples = "  memsnap replay snapshot.pickle\n"
                "  memsnap replay --gpu-memory 40GiB --other-use 1GiB snapshot.pickle\n"
                "  memsnap replay --alloc-conf expandable_segments:True,max_split_size_mb:256 \\\n"
                "      snapshot.pickle\n",
    .options = replay_option_specs,
    .words = replay_option_words,
    .run = run,
};
