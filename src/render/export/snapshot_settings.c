#include "render/export/snapshot_settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 32 /* no number that is printed is longer */

static bool put_whole(struct pickler *pickle, const char *text)
{
    char again[NUMBER_SIZE];
    int64_t value = strtoll(text, NULL, 10);
    snprintf(again, sizeof(again), "%" PRId64, value);
    if (strcmp(again, text) != 0)
        return false;
    pickler_integer(pickle, value);
    return true;
}

/* Python prints the shortest digits that read back as the same number. */
static bool put_real(struct pickler *pickle, const char *text)
{
    char again[NUMBER_SIZE];
    if (strspn(text, "0123456789.e+-") != strlen(text))
        return false;
    double value = strtod(text, NULL);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(again, sizeof(again), "%.*g", digits, value);
        if (strtod(again, NULL) == value)
            break;
    }
    if (!strpbrk(again, ".e"))
        strcat(again, ".0");
    if (strcmp(again, text) != 0)
        return false;
    pickler_real(pickle, value);
    return true;
}

static bool put_number(struct pickler *pickle, struct text value)
{
    char text[NUMBER_SIZE - 4];
    if (value.size == 0 || value.size >= sizeof(text) || memchr(value.bytes, '\0', value.size))
        return false;
    memcpy(text, value.bytes, value.size);
    text[value.size] = '\0';
    return put_whole(pickle, text) || put_real(pickle, text);
}

static void put_value(struct pickler *pickle, struct text key, struct text value)
{
    bool is_variable = key.size > 0 && key.bytes[0] >= 'A' && key.bytes[0] <= 'Z';
    if (is_variable)
        pickler_text(pickle, value);
    else if (text_equals(value, "True") || text_equals(value, "False"))
        pickler_flag(pickle, value.size == 4);
    else if (text_equals(value, "None"))
        pickler_none(pickle);
    else if (!put_number(pickle, value))
        pickler_text(pickle, value);
}

static struct text text_of(const struct snapshot *snapshot, string_id id)
{
    return symbols_text(snapshot->symbols, id);
}

/* Length of the part of a key that names its enclosing dict, with the dot; 0 if there is none. */
static size_t group_size(struct text key)
{
    const char *dot = memchr(key.bytes, '.', key.size);
    return dot ? (size_t)(dot - key.bytes) + 1 : 0;
}

bool snapshot_settings_pickle(struct pickler *pickle, const struct snapshot *snapshot,
                              struct error *err)
{
    struct text group = {"", 0};
    pickler_dict_begin(pickle);
    for (size_t i = 0; i < snapshot->setting_count; i++) {
        struct text key = text_of(snapshot, snapshot->settings[i].key);
        struct text value = text_of(snapshot, snapshot->settings[i].value);
        size_t size = group_size(key);
        bool goes_on = size > 0 && size == group.size && memcmp(key.bytes, group.bytes, size) == 0;
        if (group.size > 0 && !goes_on)
            pickler_dict_end(pickle);
        if (size > 0 && !goes_on) {
            pickler_text(pickle, (struct text){key.bytes, size - 1});
            pickler_dict_begin(pickle);
        }
        group = (struct text){key.bytes, size};
        pickler_text(pickle, (struct text){key.bytes + size, key.size - size});
        put_value(pickle, key, value);
    }
    if (group.size > 0)
        pickler_dict_end(pickle);
    pickler_dict_end(pickle);
    return pickler_is_well(pickle, err);
}
