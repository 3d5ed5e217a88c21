#include "unit/analysis/replay/torch_programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/replay/conf.h"

#define SLOTS   8192
#define POOLS   64
#define STREAMS 3

struct player {
    struct torch_programs *result;
    struct budget budget;
    struct allocator *allocator;
    struct allocator_place places[POOLS * STREAMS];
    struct memory_block *slots[SLOTS];
    uint32_t pending[SLOTS];
    size_t pending_count, line;
    bool differs;
    struct error err;
};

static void differ(struct player *player, const char *what, uint64_t wanted, uint64_t found)
{
    struct torch_programs *result = player->result;
    if (!player->differs && result->differing++ == 0)
        snprintf(result->first, sizeof(result->first),
                 "program %zu, line %zu: %s is %" PRIx64 " in torch, %" PRIx64 " here",
                 result->programs, player->line, what, wanted, found);
    player->differs = true;
}

static void expect(struct player *player, const char *what, uint64_t wanted, uint64_t found)
{
    if (wanted != found)
        differ(player, what, wanted, found);
}

static void begin(struct player *player, const char *line)
{
    unsigned tie;
    uint64_t limits[3];
    char conf[200] = "";
    struct allocator_settings settings;
    const struct allocator_places places = {player->places, POOLS * STREAMS, POOLS};
    int read = sscanf(line, "program %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %199s", &tie,
                      &limits[0], &limits[1], &limits[2], conf);
    player->result->programs++;
    player->differs = false;
    player->pending_count = 0;
    memset((void *)player->slots, 0, sizeof(player->slots));
    allocator_destroy(player->allocator);
    player->allocator = NULL;
    if (read < 4 || !conf_parse(conf, &settings, &player->err)) {
        differ(player, "line", 1, 0);
        return;
    }
    const struct allocator_device device = {limits[0] ? limits[0] : CAPACITY_NONE, limits[1],
                                            limits[2] ? limits[2] : CAPACITY_NONE};
    player->allocator = allocator_create(&settings, &device, (enum tie_break)tie, &places, NULL,
                                         &player->budget, &player->err);
}

static void run_malloc(struct player *player, const char *line)
{
    uint64_t slot, size, pool, reserved;
    int64_t stream;
    char addr[32];
    if (sscanf(line, "a %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNu64 " %31s %" SCNu64, &slot,
               &size, &stream, &pool, addr, &reserved) != 6 ||
        slot >= SLOTS || pool >= POOLS || stream < 0 || stream / 16 >= STREAMS) {
        differ(player, "line", 1, 0);
        return;
    }
    uint32_t place = (uint32_t)(pool * STREAMS) + (uint32_t)(stream / 16);
    if (!allocator_malloc(player->allocator, place, size, &player->slots[slot], &player->err)) {
        differ(player, "result", 1, 0);
        return;
    }
    const struct memory_block *block = player->slots[slot];
    expect(player, "address", *addr == '-' ? 0 : strtoull(addr, NULL, 16), block ? block->addr : 0);
    expect(player, "reserved", reserved, allocator_totals(player->allocator)->reserved);
}

static void finish(struct player *player, const char *line)
{
    uint64_t peak, ooms, retries;
    const struct allocator_totals *totals = allocator_totals(player->allocator);
    if (sscanf(line, "end %" SCNu64 " %" SCNu64 " %" SCNu64, &peak, &ooms, &retries) != 3)
        differ(player, "line", 1, 0);
    expect(player, "peak", peak, totals->peak_reserved);
    expect(player, "out of memory", ooms, totals->ooms);
    expect(player, "retries", retries, totals->retries);
}

static void run_other(struct player *player, const char *line)
{
    uint64_t number = 0, reserved = 0;
    bool ok = true;
    if (*line == 'w') {
        for (size_t i = 0; i < player->pending_count; i++)
            ok = ok && allocator_free_completed(player->allocator,
                                                &player->slots[player->pending[i]], &player->err);
        player->pending_count = 0;
        return;
    }
    if (*line == 'e') {
        ok = sscanf(line, "e %" SCNu64, &reserved) == 1 &&
             allocator_empty_cache(player->allocator, &player->err);
    } else {
        ok = sscanf(line + 1, "%" SCNu64 " %" SCNu64, &number, &reserved) == 2 && number < SLOTS;
    }
    if (ok && *line == 'f')
        ok = allocator_free_completed(player->allocator, &player->slots[number], &player->err);
    if (ok && *line == 'r')
        allocator_end_pool(player->allocator, (uint32_t)(number % POOLS * STREAMS));
    if (ok && *line == 'q') {
        ok = allocator_free_requested(player->allocator, &player->slots[number], &player->err);
        player->pending[player->pending_count++] = (uint32_t)number;
    }
    if (!ok)
        differ(player, "line", 1, 0);
    expect(player, "reserved", reserved, allocator_totals(player->allocator)->reserved);
}

static void run_line(struct player *player, const char *line)
{
    player->line++;
    if (strncmp(line, "program ", 8) == 0) {
        begin(player, line);
        return;
    }
    if (player->differs || !player->allocator || *line == '#')
        return;
    player->result->calls++;
    if (strncmp(line, "end ", 4) == 0)
        finish(player, line);
    else if (*line == 'a')
        run_malloc(player, line);
    else
        run_other(player, line);
}

bool torch_programs_run(const char *path, struct torch_programs *result)
{
    static struct player player; /* too large for the stack */
    FILE *file = fopen(path, "r");
    char line[400];
    *result = (struct torch_programs){0};
    if (!file)
        return false;
    player = (struct player){.result = result, .budget = {.limit = SIZE_MAX / 2}};
    for (uint32_t i = 0; i < POOLS * STREAMS; i++)
        player.places[i] = (struct allocator_place){
            .pool = {0, i / STREAMS}, .stream = 16 * (i % STREAMS), .pool_index = i / STREAMS};
    while (fgets(line, sizeof(line), file))
        run_line(&player, line);
    fclose(file);
    allocator_destroy(player.allocator);
    return true;
}
