/* Memory that survives from step to step, by call site and category: growing, allocated once, or no
 * longer growing. Only complete steps are compared, by the memory that is allocated at their ends.
 * With fewer than GROWTH_LEAST of them nothing counts as growing. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_GROWTH_H
#define MEMSNAP_ANALYSIS_GROWTH_GROWTH_H

#include "analysis/code/labels.h"
#include "analysis/gradients/gradients.h"
#include "analysis/growth/fit.h"
#include "analysis/growth/kept_graph.h"
#include "analysis/growth/private_growth.h"
#include "analysis/phase/steps.h"

#define GROWTH_LEAST 3
#define GROWTH_ROWS  100 /* the most rows that are kept */

/* What holds the memory of a row that grew and then stopped. */
enum growth_keeper {
    KEEPER_UNKNOWN, /* most likely the program: a cache that is now full */
    KEEPER_GRAPHS,  /* autograd graphs, for a backward pass that does not come */
    KEEPER_LIBRARY, /* a library, which keeps its workspace from the first use on */
};

struct growth_row {
    /* fit.bytes_per_step is for one step, even if not every step is compared. */
    struct growth_fit fit;
    enum category category;
    stack_id stack; /* STACK_NONE: GROWTH_KEPT_GRADIENTS, or none recorded */
    struct site site;
    struct label label;
    int64_t bytes_at_first; /* at the end of the first compared step */
    int64_t bytes_at_end;   /* at the end of the last */
    uint64_t blocks_at_end; /* allocations */
    /* The reduction of the active peak without it. GROWTH_GROWING: the bytes left over from earlier
     * steps (without stacks, at least these), but 0 if in use, because they are needed;
     * GROWTH_KEPT_GRADIENTS: see gradients.h; other kinds: 0. */
    int64_t save_bytes;
    bool in_use; /* GROWTH_GROWING: a cache of keys and values that grows with its sequence, without
                    caches of earlier sequences; or of a model that grows (grown_model.h) */
    enum growth_keeper keeper; /* GROWTH_STOPPED only */
};

struct growth {
    size_t compared; /* number of step ends */
    size_t
        complete; /* number of complete steps; may exceed GROWTH_STEPS, the limit of `compared` */
    /* By kind, then by bytes per step, or bytes at the end: the most first. */
    struct growth_row *rows;
    size_t row_count;
    size_t rows_left_out; /* because there are more than GROWTH_ROWS */
    /* Sums over all call sites that are GROWTH_GROWING. */
    int64_t bytes_per_step;
    size_t growing; /* number of call sites; may exceed the rows, some of which may be left out */
    size_t in_use;  /* the number of those that are in use, which are no leaks */
    int64_t in_use_bytes_per_step;
    int64_t activation_bytes_per_step;
    int64_t gradient_bytes_per_step;
    int64_t graph_bytes_per_step; /* activations, and memory that may be activations */
    int64_t save_bytes;
    bool may_be_needed; /* the program generates text with a cache of keys and values, and a request
                           that is not done may need a part of save_bytes, such as its scores */
    /* How much lower the active peak would be without these bytes, and without those that are no
     * input. Less than the bytes if another moment needs nearly as much. */
    int64_t peak_save_bytes, graph_peak_save_bytes;
    int64_t input_save_bytes; /* the part of save_bytes that is input, which graphs need not keep */
    int64_t gradient_save_bytes; /* the part that is gradients */
    /* All that these call sites hold at the peak, from whatever step, and that outlives its step:
     * more than that nobody saves by storing less. 0 for caches of keys and values, as above. */
    int64_t most_bytes;
    /* Parameters grow, and optimizer states do with them: each is of a model of its own, or a model
     * gets more and more of them. */
    bool grow_models;
    bool grows_one_model; /* grow_models, and it is one model, which goes on training */
    enum growth_graph graph;
    bool has_variables; /* more grows than graphs keep: see kept_graph.h */
    struct private_growth pools;
    /* Unless no graph is kept: the row of activations that are allocated last in a step, which is
     * the result that the graph belongs to. NO_ROW: none. */
    size_t last_row;
    size_t scalar_row; /* last_row if its allocations are of at most 16 bytes: likely a loss */
    /* The line that calls the model, or the installed package, which makes what growth_holder()
     * tells, if the row's own line is in it; else NULL. */
    const char *caller;
    bool in_function; /* that row's line may be in a torch.autograd.Function: site_in_function() */
    struct stale_gradients gradients;
    struct idle_gradients idle;
    struct summed_gradients summed;
};

#define NO_ROW SIZE_MAX

/* The bytes per step that leak: all growth except that of caches in use. */
static inline int64_t growth_leaking_bytes(const struct growth *growth)
{
    return growth->bytes_per_step - growth->in_use_bytes_per_step;
}

/* True if most of what grows is input, as in a replay memory that is not full yet. It has no graph.
 */
static inline bool growth_is_of_input(const struct growth *growth)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < growth->row_count; i++)
        if (growth->rows[i].fit.kind == GROWTH_GROWING &&
            growth->rows[i].category == CATEGORY_INPUT)
            bytes += growth->rows[i].fit.bytes_per_step;
    return bytes > growth->bytes_per_step / 2;
}

/* True if most of what grows is gradients, which something stores. */
static inline bool growth_is_of_gradients(const struct growth *growth)
{
    return growth->gradient_bytes_per_step > growth->bytes_per_step / 2;
}

/* Returns the row whose line of code most likely keeps what grows. If a graph is kept, that is the
 * row of the result which the graph belongs to. Otherwise it is the largest row, of parameters if
 * models grow; caches in use come last. There must be rows. */
size_t growth_holder(const struct growth *growth);

/* Fills in `gradients` and `idle`, before growth_find(). Takes only facts about stacks from
 * `sites`, and leaves the symbols alone. */
bool growth_find_gradients(struct growth *growth, const struct timeline *timeline,
                           struct site_table *sites, const struct categories *categories,
                           const struct phases *phases, const struct held_gradients *held,
                           struct error *err);
/* Fills in the rest. `is_dropped`, by lifetime, has the tensors of graphs that no backward pass
 * uses (dropped_graphs.h); NULL: none. Release `growth` also after a failure. */
bool growth_find(struct growth *growth, const struct timeline *timeline, struct site_table *sites,
                 const struct categories *categories, const struct phases *phases,
                 const struct steps *steps, const uint8_t *is_dropped, struct error *err);
void growth_release(struct growth *growth);

#endif
