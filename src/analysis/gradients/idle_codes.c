#include "analysis/gradients/idle_codes.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/hash.h"

/* Sets *code to a hash of all lines and the operator. Native frames of the Python interpreter
 * differ from one turn of a loop to the next. */
static bool code_of(const struct idle_codes *codes, stack_id stack, uint64_t *code,
                    struct error *err)
{
    struct stack frames = symbols_stack_at(site_table_symbols(codes->sites), stack);
    struct site site;
    if (!site_of(codes->sites, stack, &site, err))
        return false;
    *code = 0;
    for (size_t i = frames.count; i-- > 0;)
        if (site_frame_kind(codes->sites, frames.frames[i]) != FRAME_NATIVE)
            *code = hash_word(frames.frames[i], *code);
    *code = hash_word(site.op, *code);
    return true;
}

bool idle_codes_add(struct idle_codes *codes, stack_id stack, bool is_idle, bool is_other,
                    struct error *err)
{
    uint64_t code;
    return code_of(codes, stack, &code, err) &&
           (!is_idle || vec_push(codes->idle, codes->idle_count, codes->idle_capacity,
                                 codes->budget, err, code)) &&
           (!is_other || vec_push(codes->others, codes->other_count, codes->others_capacity,
                                  codes->budget, err, code));
}

void idle_codes_sort(struct idle_codes *codes)
{
    if (codes->idle_count > 0)
        qsort(codes->idle, codes->idle_count, sizeof(*codes->idle), compare_64);
    if (codes->other_count > 0)
        qsort(codes->others, codes->other_count, sizeof(*codes->others), compare_64);
}

void idle_codes_release(struct idle_codes *codes)
{
    vec_free(codes->idle, codes->idle_capacity, sizeof(*codes->idle), codes->budget);
    vec_free(codes->others, codes->others_capacity, sizeof(*codes->others), codes->budget);
    *codes = (struct idle_codes){0};
}

static bool is_among(const uint64_t *codes, size_t count, uint64_t code)
{
    return count > 0 && bsearch(&code, codes, count, sizeof(code), compare_64) != NULL;
}

bool idle_codes_judge(const struct idle_codes *codes, stack_id stack, uint8_t *verdict,
                      struct error *err)
{
    uint64_t code;
    if (*verdict != IDLE_UNSEEN)
        return true;
    if (!code_of(codes, stack, &code, err))
        return false;
    bool is_idle = is_among(codes->idle, codes->idle_count, code) &&
                   !is_among(codes->others, codes->other_count, code);
    *verdict = is_idle ? IDLE_SAVED : IDLE_NOT_SAVED;
    return true;
}
