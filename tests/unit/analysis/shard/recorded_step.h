/* A step that a snapshot recorded, written event by event, and the model that is made of it. */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_SHARD_RECORDED_STEP_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_SHARD_RECORDED_STEP_H

#include "analysis/shard/from_snapshot.h"

#include <stdio.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define MOST_KEPT   64
#define CALL_MODEL  SCRIPT
#define SEQUENTIAL  PY("forward", TORCH "nn/modules/container.py", 250) "," CALL
#define MODEL(line) PY("forward", "/home/u/model.py", line) "," CALL "," CALL_MODEL
#define BLOCK(line) PY("forward", "/home/u/block.py", line) "," CALL
#define LINEAR                                                                                     \
    CPP("at::_ops::mm::call(x)") "," PY("forward", TORCH "nn/modules/linear.py", 125) "," CALL
#define TABLE(line) PY("forward", TORCH "nn/modules/sparse.py", 189) "," CALL "," MODEL(line)
#define MADE(line)  PY("<module>", "/home/u/train.py", line)
#define LOSS        CPP("at::_ops::mm::call(x)") "," PY("<module>", "/home/u/train.py", 10)

static struct capture capture;
static struct forward_chain chain;
static struct shard_model model;
static uint64_t kept[MOST_KEPT], kept_bytes[MOST_KEPT], next;
static bool is_trained[MOST_KEPT];
static size_t count, tables;
static size_t copies;          /* of gradients, which the program makes behind the backward pass */
static uint64_t scratch_bytes; /* of operators of the backward pass, behind their gradients */
static uint64_t left_bytes; /* of a tensor that the program frees after the step of the optimizer,
                               which allocates nothing */
static uint64_t tail_bytes; /* of a layer's last operator, when nothing that it kept is left */

static void create(void)
{
    capture_init(&capture);
    chain = (struct forward_chain){0};
    model = (struct shard_model){0};
    next = 4096;
    count = tables = copies = 0;
    scratch_bytes = 8;
    left_bytes = tail_bytes = 0;
}

static void destroy(void)
{
    shard_model_release(&model);
    forward_chain_release(&chain);
    capture_release(&capture);
}

/* What a layer saves for the backward pass, in which parameters get a gradient, and its output. */
static inline void keep_more(const char *frames, bool trained, uint64_t bytes)
{
    ck_assert_uint_lt(count, MOST_KEPT);
    is_trained[count] = trained;
    kept_bytes[count] = bytes;
    kept[count++] = next;
    capture_event(&capture, "alloc", next++, bytes, frames);
    capture_event(&capture, "alloc", next++, 64, frames);
}

static inline void keep(const char *frames, bool trained)
{
    keep_more(frames, trained, 16);
}

/* The output of the model, which nothing saves. */
static inline void leave(const char *frames, uint64_t bytes)
{
    left_bytes = bytes;
    capture_event(&capture, "alloc", 1, bytes, frames);
}

/* A parameter that a line of the program makes. */
static inline void hold(uint64_t bytes, const char *line)
{
    capture_event_with(&capture, "alloc", next++, bytes, line, ",\"category\":\"parameter\"");
}

static inline void hold_blocks(size_t blocks, bool adapted, const char *line)
{
    hold(4000, line);
    for (size_t i = 0; i < blocks; i++) {
        hold(800, line);
        if (adapted)
            hold(400, line);
        hold(1200, line);
    }
    hold(8, line);
}

static inline void keep_blocks(size_t blocks)
{
    for (size_t i = 0; i < blocks; i++) {
        keep(LINEAR "," BLOCK(20) "," SEQUENTIAL "," MODEL(6), true);
        keep(LINEAR "," BLOCK(21) "," SEQUENTIAL "," MODEL(6), false);
    }
}

/* A call of a table keeps nothing. Behind it, the line that calls it may allocate, too. */
static inline void look_up(const char *frames, const char *own)
{
    capture_event(&capture, "alloc", next, 64, frames);
    capture_free(&capture, next++, 64, frames);
    if (own) {
        capture_event(&capture, "alloc", next, 32, own);
        capture_free(&capture, next++, 32, own);
    }
    tables++;
}

static inline int64_t elements(size_t unit, bool frozen)
{
    int64_t sum = 0;
    for (size_t i = 0; i < model.tensor_count; i++)
        if (model.tensors[i].unit == unit && model.tensors[i].frozen == frozen)
            sum += model.tensors[i].elements;
    return sum;
}

static inline void build(void)
{
    struct error err;
    for (size_t i = count; i-- > 0;) {
        capture_free(&capture, kept[i] + 1, 64, STACK_BACKWARD);
        if (is_trained[i])
            capture_event_with(&capture, "alloc", next++, 400, STACK_BACKWARD,
                               ",\"category\":\"gradient\"");
        if (scratch_bytes > 0) {
            capture_event(&capture, "alloc", next, scratch_bytes, STACK_BACKWARD);
            capture_free(&capture, next++, scratch_bytes, STACK_BACKWARD);
        }
        capture_free(&capture, kept[i], kept_bytes[i], STACK_BACKWARD);
        if (tail_bytes > 0 && i > 0) {
            capture_event(&capture, "alloc", next, tail_bytes, STACK_BACKWARD);
            capture_free(&capture, next++, tail_bytes, STACK_BACKWARD);
            capture_event(&capture, "alloc", next++, 8, STACK_BACKWARD);
        }
    }
    for (size_t i = 0; i < tables; i++) /* the last comes first */
        capture_event_with(&capture, "alloc", next++, 4000 - i * 400, STACK_BACKWARD,
                           ",\"category\":\"gradient\"");
    for (size_t i = 0; i < copies; i++)
        capture_event_with(&capture, "alloc", next++, 800, MADE(20), ",\"category\":\"gradient\"");
    if (left_bytes > 0) {
        capture_free(&capture, 1, left_bytes, MADE(30));
        capture_event(&capture, "alloc", next++, 8, LINEAR "," MODEL(5)); /* the next step */
    } else {
        capture_event(&capture, "alloc", next++, 8, STACK_STEP);
    }
    capture_load(&capture);
    const struct chain_options options = {.level = CHAIN_LOOPS, .most = 1000};
    ck_assert(forward_chain_build(&chain, capture.timeline, capture.sites, &options, &err));
    ck_assert_int_eq(chain.absence, CHAIN_FOUND);
    shard_model_init(&model, capture.snapshot->budget);
    ck_assert_msg(shard_model_from_snapshot(&model, capture.timeline, capture.sites, &chain,
                                            capture.snapshot->symbols, &err),
                  "%s", err.text);
}

#endif
