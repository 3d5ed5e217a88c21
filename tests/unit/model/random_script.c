#include "unit/model/random_script.h"

#define ADDRESSES 12

struct dice dice_init(uint64_t seed)
{
    return (struct dice){seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
}

uint64_t dice_roll(struct dice *dice, uint64_t sides)
{
    dice->state ^= dice->state << 13;
    dice->state ^= dice->state >> 7;
    dice->state ^= dice->state << 17;
    return (dice->state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % sides;
}

/* Times that mostly increase, sometimes stay equal or decrease, and are sometimes absent. */
static void set_times(struct dice *dice, struct script *script)
{
    int64_t now = 5000 + (int64_t)dice_roll(dice, 100);
    bool absent = dice_roll(dice, 4) == 0, falling = dice_roll(dice, 4) == 0;
    for (size_t i = 0; i < script->event_count; i++) {
        now += (int64_t)dice_roll(dice, 8) - (falling ? 3 : 0);
        script->events[i].row.time_us = absent && dice_roll(dice, 5) == 0 ? TIME_NONE : now;
    }
}

static uint64_t address_of(size_t place)
{
    return UINT64_C(0xfffffffffffff000) + place * 16;
}

struct cell {
    bool allocated, pending;
    uint64_t size;
};

static void valid_step(struct dice *dice, struct script *script, struct cell *cells, bool record)
{
    size_t place = dice_roll(dice, ADDRESSES);
    struct cell *cell = &cells[place];
    enum action action = ACTION_ALLOC;
    if (!cell->allocated && !cell->pending) {
        *cell = (struct cell){.allocated = true, .size = 1 + dice_roll(dice, 1000)};
    } else if (cell->allocated) {
        action = ACTION_FREE_REQUESTED;
        cell->allocated = false;
        cell->pending = true;
    } else {
        action = ACTION_FREE_COMPLETED;
        cell->pending = false;
    }
    if (record)
        script_event(script, action, address_of(place), cell->size);
}

void random_valid_script(struct dice *dice, struct script *script)
{
    script_init(script);
    script->devices = 1 + dice_roll(dice, SCRIPT_DEVICES);
    for (script->device = 0; script->device < script->devices; script->device++) {
        struct cell cells[ADDRESSES] = {{0}};
        int64_t reserved = 100000;
        for (uint64_t before = dice_roll(dice, 60); before > 0; before--)
            valid_step(dice, script, cells, false);
        for (uint64_t events = dice_roll(dice, 80); events > 0; events--) {
            bool grow = dice_roll(dice, 2);
            if (dice_roll(dice, 8)) {
                valid_step(dice, script, cells, true);
                continue;
            }
            reserved += grow ? 100 : -100;
            script_event(script, grow ? ACTION_SEGMENT_MAP : ACTION_SEGMENT_FREE, 1, 100);
        }
        script_segment(script, (uint64_t)reserved);
        for (size_t i = 0; i < ADDRESSES; i++) {
            enum block_state state = cells[i].allocated ? BLOCK_ACTIVE_ALLOCATED
                                     : cells[i].pending ? BLOCK_ACTIVE_PENDING_FREE
                                                        : BLOCK_INACTIVE;
            uint64_t size = cells[i].size;
            script_block(script, address_of(i), (size + 511) / 512 * 512, size, state);
        }
    }
    set_times(dice, script);
}

void random_wild_script(struct dice *dice, struct script *script)
{
    script_init(script);
    script->devices = 1 + dice_roll(dice, SCRIPT_DEVICES);
    uint64_t addresses = 1 + dice_roll(dice, 6), sizes = 1 + dice_roll(dice, 3);
    uint64_t actions = dice_roll(dice, 4) ? 3 : ACTION_OTHER + 1;
    for (uint64_t events = dice_roll(dice, 60); events > 0; events--) {
        script->device = (uint32_t)dice_roll(dice, script->devices);
        script_event(script, (enum action)dice_roll(dice, actions), dice_roll(dice, addresses),
                     dice_roll(dice, 20) ? 1 + dice_roll(dice, sizes) : 0)
            ->action_name = 1;
    }
    for (uint64_t segments = dice_roll(dice, 4); segments > 0; segments--) {
        script->device = (uint32_t)dice_roll(dice, script->devices);
        script_segment(script, dice_roll(dice, 50));
        for (uint64_t blocks = dice_roll(dice, 6); blocks > 0; blocks--)
            script_block(script, dice_roll(dice, addresses), dice_roll(dice, 9),
                         1 + dice_roll(dice, sizes), (enum block_state)dice_roll(dice, 3));
    }
    set_times(dice, script);
}
