/* What the reader of snapshots finds out about the backward pass of a step. */
#ifndef MEMSNAP_ANALYSIS_SHARD_SNAPSHOT_READER_H
#define MEMSNAP_ANALYSIS_SHARD_SNAPSHOT_READER_H

#include "analysis/shard/from_snapshot.h"

#define ELEMENT 4 /* bytes; a snapshot has no types: float32 */

/* A gradient, in the order of the backward pass. */
struct made_gradient {
    uint32_t item;
    uint32_t layer;
    int64_t bytes;
    bool is_swapped; /* with the next one: both count as made by now */
    bool packs;      /* of all parameters of a recurrent layer, which cuDNN takes as one tensor */
    bool is_table;   /* of embeddings */
    bool is_behind;  /* of no module of the layer, but of what runs behind it in no unit */
    uint32_t list;   /* one of a list that the chain does not tell: how many it still has */
    int64_t output;  /* of a table */
};

#define HELD_IN_TRACE (UINT64_C(1) << 63)

/* A parameter, or a buffer of a module, that is there when backward begins. */
struct held_parameter {
    int64_t bytes;
    uint64_t order; /* HELD_IN_TRACE + of allocation, or of address if older than the trace */
    uint32_t place; /* in that order */
    frame_id line;  /* of the program, that had its model made; NO_FRAME if unknown */
    frame_id maker; /* the innermost line of the program; NO_FRAME if unknown */
    uint32_t layer; /* frozen ones: where FROZEN_... or a layer says */
    bool is_trained, is_buffer;
    bool is_of_model; /* the model moved it, not a module within */
    bool is_other;    /* nothing of its size is trained */
    bool was_trained; /* before the blocks were known */
};

#define FROZEN_NOWHERE UINT32_MAX          /* it is no parameter of the model under study */
#define FROZEN_ROOT    (UINT32_MAX - 1)    /* of no block */
#define FROZEN_FRONT   (UINT32_C(1) << 31) /* + i: of block i of those before the first layer */

struct held_parameters {
    struct held_parameter *rows; /* by line, and then by order */
    size_t count, capacity;
    size_t front;    /* blocks before the first layer: nothing in them is trained */
    size_t called;   /* of which those from here on are blocks of reader->front */
    bool has_called; /* there are such */
};

/* What a module of torch.nn has that ran before the pass keeps anything. */
enum front_kind {
    FRONT_NONE, /* no parameters */
    FRONT_CONVOLUTION,
    FRONT_LINEAR,
    FRONT_ONE, /* one tensor, and so on */
    FRONT_TWO,
    FRONT_FOUR,
};

#define SNAPSHOT_MOST_FRAMES 64 /* of a path */

/* The frames of a stack, outermost first, without those that only call modules. If a module of
 * torch.nn made the allocation, the path ends with it. */
struct snapshot_path {
    frame_id frames[SNAPSHOT_MOST_FRAMES];
    size_t count;
    enum front_kind kind;
};

#define FRONT_ROOT UINT32_MAX /* of no block */

struct front_call {
    enum front_kind kind;
    uint32_t block;
};

/* In the order of the forward pass. */
struct front_calls {
    struct front_call *calls;
    size_t count, capacity;
    struct front_block {
        uint32_t first; /* item */
    } * blocks;
    size_t block_count, block_capacity;
};

struct snapshot_reader {
    struct shard_model *model;
    const struct timeline *timeline;
    struct site_table *sites;
    const struct forward_chain *chain;
    const struct symbols *symbols;
    struct phases phases;
    struct categories categories;
    int64_t *change;   /* by item of the pass: of all that the points count */
    int64_t *fixed;    /* and of those that a larger batch does not enlarge */
    uint32_t *latest;  /* by item of backward: 1 + the last forward item of which something that
                          backward frees is still there */
    uint32_t *running; /* by item of backward: the layer; falls */
    struct made_gradient *made;
    size_t all_made, made_count; /* of all, and those that are no tensors yet */
    struct front_calls front;
    int64_t start_bytes;     /* counted, before the pass */
    int64_t parameter_bytes; /* when backward begins */
};

/* The tensor of a gradient: they are in the reverse order. */
static inline size_t snapshot_tensor_of(const struct snapshot_reader *reader, size_t made)
{
    return reader->all_made - 1 - made;
}

/* A category that the points count. */
bool snapshot_is_counted(uint8_t category);
/* When a block was freed, of the moments when that was requested and completed. */
uint32_t snapshot_end_of(uint32_t free_requested, uint32_t free_completed);
/* The step only keeps it: a workspace of backward's thread, or what an optimizer has of its own. No
 * gradient of the model outlives two steps. `alloc` is negative for what is older than the trace.
 */
bool snapshot_keeps_gradient(const struct snapshot_reader *reader, int64_t alloc, uint32_t freed,
                             uint8_t category);
/* Fills `change`, `made` and the sums. */
void snapshot_count_blocks(struct snapshot_reader *reader);
/* Bytes that are there when the optimizer steps, beside what it has. Requires `change` and `made`.
 */
int64_t snapshot_end_bytes(const struct snapshot_reader *reader);
/* Finds the layer of every item of backward, and of every gradient. Requires a gradient. */
void snapshot_set_layers(struct snapshot_reader *reader);
/* If the latest that is there at an item of backward is of the operator that made the output of its
 * layer, and the output is there, too: when that is freed. Otherwise EVENT_NEVER. */
uint32_t snapshot_output_end(const struct snapshot_reader *reader, uint32_t item);
/* The last part of that: moves gradients of what runs behind a loop to the layer there. */
void snapshot_move_behind_loops(struct snapshot_reader *reader);
/* Layer 0 is what keeps nothing and comes before all elements: its gradients are made when nothing
 * is left of them. It is part of a loop if the first element is, as the first of several modules
 * that take what the one before keeps. */
const struct chain_part *snapshot_part(const struct snapshot_reader *reader, size_t layer);
/* The line of the program that made it; NO_FRAME if unknown. */
bool snapshot_line_of(const struct snapshot_reader *reader, stack_id stack, frame_id *line,
                      struct error *err);
/* An iteration of a loop, or a module that a torch.nn.Sequential calls once. */
bool snapshot_is_unit(const struct snapshot_reader *reader, size_t layer);
/* Bytes that a layer of a loop keeps, but no module that the loop calls makes, apart from its
 * output. */
int64_t snapshot_beside(const struct snapshot_reader *reader, size_t layer);
/* The same of a line in a loop that calls a module for the layer. */
int64_t snapshot_beside_line(const struct snapshot_reader *reader, size_t layer, frame_id line);
/* True if the forward pass frees the output of a layer. */
bool snapshot_passes(const struct snapshot_reader *reader, size_t layer);
/* True if what seems to be the output of a layer is a sum that the next layer does not take. */
bool snapshot_is_sum(const struct snapshot_reader *reader, size_t layer);
/* Makes units of what lines of an iteration call, if several call modules. Requires the model's
 * layers. */
bool snapshot_join_lines(struct snapshot_reader *reader, struct error *err);
/* True if a loop of one line seems to call the same module in every iteration. */
bool snapshot_repeats(const struct snapshot_reader *reader);
/* True for units inside of modules that a torch.nn.Sequential calls, and that cannot be told apart
 * because each allocates at one line only. */
bool snapshot_hides_units(const struct snapshot_reader *reader);
/* True if the modules that the printed code wraps may be others than the units. Requires the
 * model's layers. */
bool snapshot_guesses_units(const struct snapshot_reader *reader);
/* Moves what only looks like a loop to the root. Requires the model's layers. */
bool snapshot_undo_false_loops(struct snapshot_reader *reader, struct error *err);
/* A frame of that file of torch.nn.modules. */
bool snapshot_is_torch_file(const struct snapshot_reader *reader, frame_id id, const char *name);
/* A function of the name forward. */
bool snapshot_is_forward(const struct snapshot_reader *reader, frame_id id);
/* The forward of torch.nn.Sequential. */
bool snapshot_is_list(const struct snapshot_reader *reader, frame_id id);
/* That of a module of torch.nn that has no others in it. */
bool snapshot_is_leaf(const struct snapshot_reader *reader, frame_id id);
void snapshot_read_path(const struct snapshot_reader *reader, struct stack stack,
                        struct snapshot_path *path);
/* A torch.nn.Sequential called it. */
bool snapshot_is_listed(const struct snapshot_reader *reader, struct stack stack);
/* The same of an element's layer. */
bool snapshot_layer_is_listed(const struct snapshot_reader *reader, size_t layer);
/* Finds the gradients of tables of embeddings. Requires the layers of gradients. */
void snapshot_find_tables(const struct snapshot_reader *reader);
/* Marks units that are such tables: they take indices. Requires the model's layers. */
void snapshot_mark_tables(const struct snapshot_reader *reader);
/* Makes units of the tables of lists that the chain takes for one line. Requires a complete model.
 */
bool snapshot_add_tables(const struct snapshot_reader *reader, struct error *err);
/* The line of the program that calls the model, or else what made the allocation. */
bool snapshot_model_line(const struct snapshot_reader *reader, stack_id stack, frame_id *line,
                         struct error *err);
/* The first item of the forward phase, which begins before the first activation that the pass
 * keeps. */
uint32_t snapshot_front_first(const struct snapshot_reader *reader);
/* Sets the bytes of points before the pass: of the first one until the first of the `count` blocks
 * begins, and of one for each block. */
bool snapshot_front_points(const struct snapshot_reader *reader, const struct front_block *blocks,
                           size_t count, struct shard_point *points, struct error *err);
/* Fills `front`. */
bool snapshot_find_front(struct snapshot_reader *reader, struct error *err);
/* The parameters of a call: bit 0 of `biases` says that convolutions have one, bit 1 linear layers.
 */
size_t front_tensors(enum front_kind kind, unsigned biases);
/* The parameters of all calls, with the biases that come nearest to `count`. */
size_t front_sum(const struct front_calls *front, size_t count, unsigned *biases);
/* Divides the tensors that pack several parameters, if the trace shows these. Call it last. */
bool snapshot_split_packed(const struct snapshot_reader *reader, struct error *err);
/* Sets the least rows of tensors. Requires the model's layers, before frozen ones are added. */
bool snapshot_find_rows(const struct snapshot_reader *reader, struct error *err);
/* Sets `outside` of the layers. */
bool snapshot_find_loss(struct snapshot_reader *reader, struct error *err);
/* Finds the parameters, and which of them get gradients. Requires `made`. */
bool snapshot_find_held(struct snapshot_reader *reader, struct held_parameters *held,
                        struct error *err);
/* Removes the float32 copies that the optimizer updates in place of the parameters, and sums up
 * their bytes in the model. */
bool snapshot_take_masters(struct snapshot_reader *reader, struct held_parameters *held,
                           struct error *err);
/* Removes float32 gradients that the optimizer keeps beside its copies of the parameters. Requires
 * all points and master_bytes. */
bool snapshot_take_main_gradients(struct snapshot_reader *reader, struct error *err);
/* Sets the places of the parameters, and of the tensors if the parameters tell these. Call it again
 * when other ones are known to be trained. */
bool snapshot_order_tensors(struct shard_model *model, struct held_parameters *held,
                            struct error *err);
/* Finds the layers of those that do not, and with these, which blocks are trained. Requires the
 * model's layers. */
bool snapshot_place_frozen(struct snapshot_reader *reader, struct held_parameters *held,
                           struct error *err);
/* Marks what is trained of `blocks` blocks of `period` rows, by the gradients of their layers. If
 * these are not of the sizes of the rows, everything stays as it is. */
void snapshot_mark_blocks(const struct snapshot_reader *reader, struct held_parameters *held,
                          struct held_parameter *rows, size_t period, const uint32_t *layers,
                          size_t blocks);
/* Adds these to the model, whose points are complete. */
bool snapshot_add_frozen(struct snapshot_reader *reader, const struct held_parameters *held,
                         struct error *err);

#endif
