#include "decode/pickle/decode.h"
#include "decode/stats/key.h"
#include "decode/stats/stats.h"

/* Dicts can be shared in a pickle, so a small file can hold more members than can be read. */
#define MEMBERS_MOST 1000000

/* The part of a dict that is not read yet. */
struct open_dict {
    const value *pairs;
    size_t left;
    size_t key_size; /* size of the outer key */
};

struct stats_walk {
    const struct values *values;
    struct stats_row *row;
    struct stats_key key;
    struct open_dict open[STATS_KEY_DEPTH];
    unsigned depth;
    size_t members;
};

static bool take_number(struct stats_walk *walk, value item, struct error *err)
{
    int64_t number = 0;
    struct text key = stats_key_text(&walk->key);
    bool is_number = value_to_i64(walk->values, item, &number);
    return !stats_take(walk->row, key, number) || is_number ||
           error_set(err, STATUS_BAD_INPUT, "expected a whole number for '%.*s', found %s",
                     (int)key.size, key.bytes, value_kind_name(walk->values, item));
}

static bool enter(struct stats_walk *walk, value item, size_t key_size)
{
    struct open_dict *dict = &walk->open[walk->depth];
    if (walk->depth == STATS_KEY_DEPTH ||
        !value_mapping(walk->values, item, &dict->pairs, &dict->left))
        return false;
    dict->key_size = key_size;
    walk->depth++;
    return true;
}

static bool take_members(struct stats_walk *walk, const struct symbols *symbols, struct error *err)
{
    while (walk->depth > 0) {
        struct open_dict *dict = &walk->open[walk->depth - 1];
        walk->key.size = dict->key_size;
        if (dict->left == 0) {
            walk->depth--;
            continue;
        }
        const value name = dict->pairs[0], item = dict->pairs[1];
        dict->pairs += 2;
        dict->left--;
        if (++walk->members > MEMBERS_MOST)
            return error_set(err, STATUS_LIMIT, "more than %d members of memory statistics",
                             MEMBERS_MOST);
        if (value_tag(name) != TAG_STRING)
            continue;
        stats_key_add(&walk->key, symbols_text(symbols, value_payload(name)));
        if (!enter(walk, item, walk->key.size) && !take_number(walk, item, err))
            return false;
    }
    return true;
}

bool decode_stats_pickle(struct source *source, struct symbols *symbols,
                         const struct stats_sink *sink, int *protocol, struct error *err)
{
    struct stats_row row = {.device = -1};
    struct values values;
    value root;
    *protocol = pickle_protocol(source);
    if (!decode_pickle_value(source, symbols, &values, &root, err))
        return false;
    struct stats_walk walk = {.values = &values, .row = &row};
    bool ok = enter(&walk, root, 0) ? take_members(&walk, symbols, err)
                                    : error_set(err, STATUS_BAD_INPUT,
                                                "expected memory statistics (a dict), found %s",
                                                value_kind_name(&values, root));
    values_release(&values);
    return ok && sink->row(sink->self, &row, err);
}
