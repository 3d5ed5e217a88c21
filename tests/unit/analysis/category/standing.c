#include "unit/analysis/category/standing.h"

#include "unit/analysis/analysis.h"

void standing_init(struct standing *standing)
{
    capture_init(&standing->capture);
    standing->next = 1;
}

void standing_release(struct standing *standing)
{
    capture_release(&standing->capture);
}

void standing_block(struct standing *standing, uint64_t size)
{
    capture_block(&standing->capture, standing->next++, size, "");
}

uint64_t standing_model(struct standing *standing, unsigned wide)
{
    uint64_t first = standing->next;
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&standing->capture, standing->next++, (SIZE + 100 * i) * wide, "");
    return first;
}

void standing_optimize(struct standing *standing, const char *optimizer)
{
    if (optimizer)
        capture_annotate(&standing->capture, "START", optimizer, 0);
    capture_event(&standing->capture, "alloc", 1001, 50, STACK_STEP);
    capture_free(&standing->capture, 1001, 50, STACK_STEP);
    if (optimizer)
        capture_annotate(&standing->capture, "END", optimizer, 0);
}

void standing_step(struct standing *standing, const char *optimizer)
{
    capture_event(&standing->capture, "alloc", 1000, 50, STACK_FORWARD);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&standing->capture, "alloc", 2000 + i, SIZE + 100 * i, STACK_BACKWARD);
    capture_free(&standing->capture, 1000, 50, ENGINE);
    standing_optimize(standing, optimizer);
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&standing->capture, 2000 + i, SIZE + 100 * i, SCRIPT);
}

void standing_expect(struct standing *standing, uint64_t first, unsigned count,
                     enum category category)
{
    for (uint64_t addr = first; addr < first + count; addr++) {
        uint8_t reason;
        enum category found = capture_category_why(&standing->capture, addr, &reason);
        ck_assert_msg(found == category, "%d: %s: %s", (int)addr, category_name(found),
                      reason_name(reason));
    }
}
