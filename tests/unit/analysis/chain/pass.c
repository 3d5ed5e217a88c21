#include "unit/analysis/chain/pass.h"

#include <stdio.h>
#include <string.h>

struct capture capture;
struct forward_chain chain;
struct chain_options options;
static struct buffer stack;
uint64_t addresses[MOST_KEPT], sizes[MOST_KEPT], next;
size_t kept;
const char *operator_frame;

void pass_create(void)
{
    capture_init(&capture);
    chain = (struct forward_chain){0};
    options = (struct chain_options){.level = CHAIN_BLOCKS, .most = 1000};
    stack = (struct buffer)BUFFER_INIT;
    next = 4096;
    kept = 0;
    operator_frame = CPP("at::_ops::mm::call(x)");
}

void pass_destroy(void)
{
    forward_chain_release(&chain);
    capture_release(&capture);
    buffer_release(&stack);
}

/* The frames that the letters of a path stand for. */
static const struct letter {
    char letter;
    const char *name, *file;
} sources[] = {
    {'t', "<module>", "/home/u/train.py"},
    {'m', "forward", "/home/u/model.py"},
    {'b', "forward", "/home/u/block.py"},
    {'a', "forward", "/home/u/attention.py"},
    {'q', "Block.forward", "/home/u/qualified.py"},
    {'l', "loss", "/home/u/loss.py"},
    {'S', "forward", TORCH "nn/modules/container.py"},
    {'R', "forward", TORCH "nn/modules/rnn.py"},
    {'L', "forward", TORCH "nn/modules/linear.py"},
    {'C', "checkpoint", TORCH "utils/checkpoint.py"},
};

const char *frames_of(const char *path)
{
    buffer_clear(&stack);
    buffer_puts(&stack, operator_frame);
    for (const char *at = path + strlen(path); at > path;) {
        const char *end = at;
        while (at > path && at[-1] != ' ')
            at--;
        const struct letter *source = sources;
        while (source->letter != *at)
            source++;
        buffer_printf(&stack, ",{\"name\":\"%s\",\"filename\":\"%s\",\"line\":%.*s},%s",
                      source->name, source->file, (int)(end - at - 1), at + 1, CALL);
        at -= at > path;
    }
    ck_assert(!stack.failed);
    return stack.bytes;
}

void keep(uint64_t size, const char *path)
{
    ck_assert_uint_lt(kept, MOST_KEPT);
    addresses[kept] = next++;
    sizes[kept] = size;
    capture_event(&capture, "alloc", addresses[kept++], size, frames_of(path));
}

void pass_by(uint64_t size, const char *path)
{
    capture_event(&capture, "alloc", next, size, frames_of(path));
    capture_free(&capture, next++, size, "");
}

void backward(uint64_t scratch)
{
    capture_event(&capture, "alloc", next, 1, STACK_BACKWARD);
    uint64_t gradient = next++;
    while (kept-- > 0) {
        capture_event(&capture, "alloc", next, scratch, STACK_BACKWARD);
        capture_free(&capture, next++, scratch, STACK_BACKWARD);
        capture_free(&capture, addresses[kept], sizes[kept], STACK_BACKWARD);
    }
    capture_free(&capture, gradient, 1, STACK_BACKWARD);
    kept = 0;
}

void build(void)
{
    struct error err;
    capture_load(&capture);
    ck_assert(forward_chain_build(&chain, capture.timeline, capture.sites, &options, &err));
}

const char *name_of(size_t element)
{
    ck_assert_uint_lt(element, chain.count);
    return symbols_text(capture.snapshot->symbols,
                        chain.parts[chain.elements[element].first_part].name)
        .bytes;
}

void expect(size_t element, const char *name, int64_t bytes, int64_t output)
{
    ck_assert_str_eq(name_of(element), name);
    ck_assert_int_eq(chain.elements[element].activation_bytes, bytes);
    ck_assert_int_eq(chain.elements[element].output_bytes, output);
}

void block(const char *caller, uint64_t output)
{
    char path[64];
    snprintf(path, sizeof(path), "%s b10", caller);
    keep(20, path);
    snprintf(path, sizeof(path), "%s b11 a3", caller);
    keep(30, path);
    pass_by(7, path);
    snprintf(path, sizeof(path), "%s b12", caller);
    keep(output, path);
}
