#include "analysis/category/roles.h"

#include <stdlib.h>
#include <string.h>

#define MOST_COPIES      8
#define DEFAULT_STATES   2 /* Adam's, of an optimizer without a name */
#define MOST_DATA_BLOCKS 3
#define LEAST_IN_FEW     0.8  /* of the bytes without a gradient */
#define MOST_OFF         0.02 /* of the bytes of states that are looked for */

static double bytes_of(uint64_t size, uint64_t count)
{
    return (double)size * (double)count;
}

/* "Optimizer.step#AdamW.step" */
static uint32_t states_of_optimizer(struct text name)
{
    static const struct {
        const char *prefix;
        uint32_t states;
    } optimizers[] = {
        {"SGD", 1},       {"RMSprop", 2},  {"Adagrad", 1}, {"ASGD", 1},       {"Lion", 1},
        {"Adafactor", 1}, {"Muon", 1},     {"Adam", 2},    {"SparseAdam", 2}, {"NAdam", 2},
        {"RAdam", 2},     {"Adadelta", 2}, {"Rprop", 2},
    };
    const char *hash = memchr(name.bytes, '#', name.size);
    if (!hash)
        return 0;
    struct text class = {hash + 1, name.size - (size_t)(hash + 1 - name.bytes)};
    for (size_t i = 0; i < sizeof(optimizers) / sizeof(optimizers[0]); i++) {
        size_t size = strlen(optimizers[i].prefix);
        if (class.size >= size && memcmp(class.bytes, optimizers[i].prefix, size) == 0)
            return optimizers[i].states;
    }
    return 0;
}

bool roles_most_states(const struct timeline *timeline, uint32_t *most, struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    struct annotation_range range;
    string_id last = STRING_EMPTY;
    *most = 0;
    if (!annotations_like(&snapshot->annotation_index, timeline->device, "Optimizer.step#", false,
                          snapshot->symbols, &range, err))
        return false;
    for (size_t i = 0; i < range.count; i++) {
        string_id name = snapshot->annotations[range.items[i].index].name;
        if (name == last)
            continue;
        last = name;
        uint32_t states = states_of_optimizer(symbols_text(snapshot->symbols, name));
        *most = states > *most ? states : *most;
    }
    return true;
}

struct solver {
    struct size_tallies *tallies;
    struct size_tally **sizes; /* in ascending order */
    size_t count;
    uint32_t most_states;
    struct roles *roles;
};

static int compare_tallies(const void *a, const void *b)
{
    const struct size_tally *x = *(struct size_tally *const *)a;
    const struct size_tally *y = *(struct size_tally *const *)b;
    return (x->size > y->size) - (x->size < y->size);
}

static struct size_tally *tally_of(const struct solver *solver, uint64_t size)
{
    /* A size that was looked up is there to stay: no slot moves while roles are solved. */
    return (struct size_tally *)size_tallies_find(solver->tallies, size);
}

static uint64_t staying(const struct size_tally *tally)
{
    return (uint64_t)tally->persistent + tally->parameters;
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static uint32_t most_states_of(const struct solver *solver)
{
    return solver->most_states > 0 ? solver->most_states : DEFAULT_STATES;
}

/* Gradients stay if most of the bytes that passes add to belong to blocks that no pass leaves. */
static bool gradients_stay(const struct solver *solver)
{
    double left = 0, added = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t whole = staying(tally);
        if (whole == 0)
            continue;
        uint64_t most = tally->gradients.most < whole ? tally->gradients.most : whole;
        uint64_t used = tally->accumulated.most < whole ? tally->accumulated.most : whole;
        left += bytes_of(tally->size, most);
        added += bytes_of(tally->size, used);
    }
    return left * 4 < added;
}

/* A size that the steps make states of is trained, even if its gradients are sparse; and if none of
 * the staying sizes has a gradient, an optimizer with a name tells how many copies there are. */
static void count_sparse(struct solver *solver)
{
    double trained = 0, all = 0, fits = 0;
    uint32_t copies = solver->most_states + 1;
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        uint32_t made = tally->made_in_step > tally->replaced ? tally->made_in_step : 0;
        uint64_t whole = staying(tally);
        if (tally->count == 0 && made > 0 && whole > 0)
            tally->count = least(whole, (made - 1) / most_states_of(solver) + 1);
        trained += tally->count > 0 ? bytes_of(tally->size, whole) : 0;
        all += bytes_of(tally->size, whole);
        fits += whole % copies == 0 ? bytes_of(tally->size, whole) : 0;
    }
    if (solver->most_states == 0 || trained * 20 > all || fits < all * 0.9)
        return;
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        if (staying(tally) % copies == 0)
            tally->count = (uint32_t)(staying(tally) / copies);
    }
}

/* Finds the gradients that are copies of others in a type twice as wide: all sizes pair up. */
static void find_wide_gradients(struct solver *solver)
{
    double paired = 0, alone = 0;
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        uint32_t rest = tally->count - tally->wide;
        struct size_tally *twice = rest > 0 ? tally_of(solver, tally->size * 2) : NULL;
        if (twice && twice->count - twice->wide >= rest) {
            twice->wide += rest;
            paired += bytes_of(tally->size, rest);
        } else {
            alone += bytes_of(tally->size, rest);
        }
    }
    bool all = paired > alone * 20;
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        tally->wide = all ? tally->wide : 0;
        tally->count -= tally->wide;
    }
}

/* The number of staying blocks per gradient that most bytes agree on. */
static uint32_t count_copies(const struct solver *solver)
{
    double bytes[MOST_COPIES + 1] = {0};
    uint32_t best = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        if (tally->count == 0)
            continue;
        uint64_t copies = staying(tally) / tally->count;
        bytes[copies < MOST_COPIES ? copies : MOST_COPIES] += bytes_of(tally->size, tally->count);
    }
    for (uint32_t copies = 1; copies <= MOST_COPIES; copies++)
        if (bytes[copies] > bytes[best] || (best == 0 && bytes[copies] > 0))
            best = copies;
    return best;
}

/* Gradients that stay are not seen themselves, and other blocks of their sizes are used up, too. A
 * size with as many blocks as the whole model has copies, or a multiple, tells their number. */
static void count_staying_gradients(struct solver *solver)
{
    for (uint32_t copies = most_states_of(solver) + 2; copies >= 2; copies--) {
        double fits = 0, all = 0;
        for (size_t i = 0; i < solver->count; i++) {
            const struct size_tally *tally = solver->sizes[i];
            uint64_t whole = staying(tally);
            all += bytes_of(tally->size, tally->count > 0 ? whole : 0);
            fits += bytes_of(tally->size, tally->count > 0 && whole % copies == 0 ? whole : 0);
        }
        if (fits < all * 0.9)
            continue;
        for (size_t i = 0; i < solver->count; i++) {
            struct size_tally *tally = solver->sizes[i];
            if (tally->count > 0 && staying(tally) % copies == 0)
                tally->count = (uint32_t)(staying(tally) / copies);
        }
        return;
    }
}

static bool states_are_made_in_trace(const struct solver *solver)
{
    double made = 0, gradients = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint32_t states =
            tally->made_in_step > tally->replaced ? tally->made_in_step - tally->replaced : 0;
        uint32_t count = tally->count + tally->wide;
        made += bytes_of(tally->size, states < count ? states : count);
        gradients += bytes_of(tally->size, count);
    }
    return made * 2 > gradients;
}

static uint32_t count_states(const struct solver *solver)
{
    if (states_are_made_in_trace(solver))
        return 0;
    uint32_t copies = count_copies(solver), base = 1u + solver->roles->stay;
    uint32_t most = most_states_of(solver);
    uint32_t states = copies > base ? copies - base : 0;
    return states < most ? states : most;
}

/* Copies of the model in a wider type, and their states: the same for every size that has no
 * gradient itself. */
static uint32_t count_masters(const struct solver *solver)
{
    double bytes[MOST_COPIES + 1] = {0};
    uint32_t best = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        if (tally->count == 0)
            continue;
        const struct size_tally *twice = tally_of(solver, tally->size * 2);
        uint64_t copies = twice && twice->count == 0 ? staying(twice) / tally->count : 0;
        bool collides = twice && twice->count > 0;
        if (!collides)
            bytes[copies < MOST_COPIES ? copies : MOST_COPIES] +=
                bytes_of(tally->size, tally->count);
    }
    for (uint32_t copies = 1; copies <= MOST_COPIES; copies++)
        if (bytes[copies] > bytes[best])
            best = copies;
    return best;
}

/* Of `count` blocks that are twice as wide as `weights`: the masters, the gradients that they need
 * if more remain than states, and the states. */
static void share_masters(const struct solver *solver, struct expected *expected, uint32_t weights,
                          uint32_t count)
{
    expected->masters = least(weights, count);
    count -= expected->masters;
    uint64_t states = (uint64_t)weights * most_states_of(solver);
    expected->main_gradients = count > states ? least(count - states, weights) : 0;
    expected->states = count - expected->main_gradients;
}

static void expect_roles(const struct solver *solver, struct size_tally *tally, uint32_t masters)
{
    struct expected *expected = &tally->expected;
    const struct size_tally *half = tally->size % 2 == 0 ? tally_of(solver, tally->size / 2) : NULL;
    uint64_t wide = half ? (uint64_t)half->count * masters : 0;
    uint32_t left = tally->persistent;
    uint32_t weights = tally->count > tally->parameters ? tally->count - tally->parameters : 0;
    *expected = (struct expected){.weights = least(weights, left)};
    left -= expected->weights;
    if (tally->wide > 0)
        wide = left;
    share_masters(solver, expected, half ? half->count : 0, least(wide, left));
    left -= least(wide, left);
    uint32_t states = least((uint64_t)tally->count * solver->roles->states, left);
    expected->states += states;
    left -= states;
    uint32_t stay = solver->roles->stay ? least(tally->count, left) : 0;
    expected->gradients = stay;
    expected->copies = tally->count > 0 ? left - stay : 0;
}

static bool is_left_over(const struct size_tally *tally)
{
    return tally->count == 0 && tally->expected.masters == 0;
}

/* True if the blocks without a gradient, R of each, hold the bytes of states that are missing. */
static bool are_states_of_flat_weights(const struct solver *solver)
{
    double missing = 0, found = 0;
    uint32_t states = solver->roles->states;
    for (size_t i = 0; i < solver->count && states > 0; i++) {
        const struct size_tally *tally = solver->sizes[i];
        if (tally->count > 0)
            missing += bytes_of(tally->size, (uint64_t)tally->count * states) -
                       bytes_of(tally->size, tally->expected.states);
        else if (is_left_over(tally) && tally->persistent % states == 0)
            found += bytes_of(tally->size, tally->persistent);
    }
    double off = found > missing ? found - missing : missing - found;
    return missing > 0 && off < missing * MOST_OFF;
}

/* True if blocks without a gradient hold more than the weights do, and most of it is in a few. */
static bool look_like_data(const struct solver *solver)
{
    double all = 0, weights = 0, in_few = 0;
    uint64_t few = 0;
    for (size_t i = solver->count; i-- > 0;) {
        const struct size_tally *tally = solver->sizes[i];
        weights += bytes_of(tally->size, tally->count);
        if (!is_left_over(tally))
            continue;
        uint64_t count = tally->persistent;
        uint64_t chosen = few + count < MOST_DATA_BLOCKS ? count : MOST_DATA_BLOCKS - few;
        all += bytes_of(tally->size, count);
        in_few += bytes_of(tally->size, chosen);
        few += chosen;
    }
    return all > weights && in_few > all * LEAST_IN_FEW;
}

/* True if the program ends without freeing most of what has gradients: what it frees is no model.
 */
static bool is_model_kept(const struct solver *solver)
{
    double all = 0, released = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        if (tally->count == 0)
            continue;
        all += bytes_of(tally->size, staying(tally));
        released += bytes_of(tally->size, tally->released);
    }
    return released * 2 < all;
}

static void solve(struct solver *solver)
{
    struct roles *roles = solver->roles;
    roles->stay = gradients_stay(solver);
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        tally->wide = 0;
        tally->count = size_tally_gradients(tally, roles->stay);
    }
    count_sparse(solver);
    if (roles->stay)
        count_staying_gradients(solver);
    else
        find_wide_gradients(solver);
    roles->states = count_states(solver);
    uint32_t masters = count_masters(solver);
    for (size_t i = 0; i < solver->count; i++)
        expect_roles(solver, solver->sizes[i], masters);
    roles->flat = are_states_of_flat_weights(solver);
    roles->kept = is_model_kept(solver);
    roles->data = look_like_data(solver);
}

bool roles_solve(struct roles *roles, struct size_tallies *tallies, uint32_t most_states,
                 struct error *err)
{
    struct solver solver = {.tallies = tallies, .most_states = most_states, .roles = roles};
    size_t capacity = 0;
    *roles = (struct roles){0};
    if (tallies->used == 0)
        return true;
    if (!vec_reserve(solver.sizes, capacity, tallies->used, tallies->budget, err))
        return false;
    for (size_t i = 0; i < tallies->slot_count; i++)
        if (tallies->slots[i].used)
            solver.sizes[solver.count++] = &tallies->slots[i];
    qsort(solver.sizes, solver.count, sizeof(struct size_tally *), compare_tallies);
    solve(&solver);
    vec_free(solver.sizes, capacity, sizeof(struct size_tally *), tallies->budget);
    return true;
}
