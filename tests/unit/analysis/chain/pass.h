/* A forward pass and its backward pass, given by the lines of stacks, and the chain made of them.
 */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_CHAIN_PASS_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_CHAIN_PASS_H

#include "analysis/chain/forward_chain.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define MOST_KEPT 512

extern struct capture capture;
extern struct forward_chain chain;
extern struct chain_options options;
extern uint64_t addresses[MOST_KEPT], sizes[MOST_KEPT], next;
extern size_t kept;
extern const char *operator_frame; /* of what is allocated */

/* The fixture. */
void pass_create(void);
void pass_destroy(void);

/* "t9 m50 b3": the frames of a path, outermost first. */
const char *frames_of(const char *path);
/* Allocates what lives into the backward pass. */
void keep(uint64_t size, const char *path);
/* Allocates and frees. */
void pass_by(uint64_t size, const char *path);
/* A block of three lines, with something that comes and goes. */
void block(const char *caller, uint64_t output);
/* Frees what is kept, the last first; each free stands for the backward of what it was kept for,
 * which takes `scratch` bytes meanwhile. */
void backward(uint64_t scratch);

/* Loads the capture, and makes the chain. */
void build(void);
const char *name_of(size_t element);
void expect(size_t element, const char *name, int64_t bytes, int64_t output);

#endif
