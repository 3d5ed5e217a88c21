#include <math.h>
#include <string.h>

#include "render/dump/internal.h"
#include "render/dump/leaf.h"

struct text dumper_text(const struct dumper *dumper, value string)
{
    return symbols_text(dumper->values->symbols, value_payload(string));
}

void dumper_open(struct dumper *dumper, const char *key, uint32_t id)
{
    json_put_open(&dumper->json, key, '{');
    if (id != 0)
        json_put_count(&dumper->json, "$id", id);
}

void dumper_put_ref(struct dumper *dumper, const char *key, uint32_t id)
{
    json_put_open(&dumper->json, key, '{');
    json_put_count(&dumper->json, "$ref", id);
    json_put_close(&dumper->json, '}');
}

void dumper_put_text(struct dumper *dumper, const char *key, value string)
{
    struct json_writer *json = &dumper->json;
    struct text text = dumper_text(dumper, string);
    bool plain = dump_text_is_plain(text);
    uint32_t id = 0;
    enum meeting meeting = dump_refs_meet_text(&dumper->refs, value_payload(string), &id);
    if (meeting == MET_AGAIN) {
        dumper_put_ref(dumper, key, id);
        return;
    }
    if (plain && meeting == MET_ONLY_HERE) {
        json_put_text(json, key, text);
        return;
    }
    dumper_open(dumper, key, id);
    if (plain)
        json_put_text(json, "$str", text);
    else
        emit_base64(json, "$utf8", (const uint8_t *)text.bytes, text.size);
    json_put_close(json, '}');
}

static void put_real(struct dumper *dumper, const char *key, double real)
{
    struct json_writer *json = &dumper->json;
    if (isfinite(real)) {
        json_put_real(json, key, real);
        return;
    }
    json_put_open(json, key, '{');
    json_put_string(json, "$float", isnan(real) ? "nan" : real > 0 ? "inf" : "-inf");
    json_put_close(json, '}');
}

void dumper_put_plain_global(struct dumper *dumper, const char *key, const struct node *global)
{
    char joined[DUMP_SHORT_TEXT];
    struct text module = dumper_text(dumper, global->as.items[0]);
    struct text name = dumper_text(dumper, global->as.items[1]);
    memcpy(joined, module.bytes, module.size);
    joined[module.size] = '.';
    memcpy(joined + module.size + 1, name.bytes, name.size);
    json_put_text(&dumper->json, key, (struct text){joined, module.size + 1 + name.size});
}

static void put_global(struct dumper *dumper, const char *key, const struct node *global)
{
    struct json_writer *json = &dumper->json;
    json_put_open(json, key, '{');
    if (dump_global_is_plain(dumper->values, global)) {
        dumper_put_plain_global(dumper, "$global", global);
    } else {
        json_put_open(json, "$global", '[');
        dumper_put_text(dumper, NULL, global->as.items[0]);
        dumper_put_text(dumper, NULL, global->as.items[1]);
        json_put_close(json, ']');
    }
    json_put_close(json, '}');
}

static void put_number(struct dumper *dumper, const char *key, const char *kind, uint64_t number,
                       bool readonly)
{
    struct json_writer *json = &dumper->json;
    json_put_open(json, key, '{');
    json_put_count(json, kind, number);
    if (readonly)
        json_put_bool(json, "$readonly", true);
    json_put_close(json, '}');
}

bool dumper_put_scalar(struct dumper *dumper, const char *key, const struct node *node)
{
    struct json_writer *json = &dumper->json;
    switch ((enum node_kind)node->kind) {
    case NODE_INT:
        json_put_integer(json, key, node->as.integer);
        return true;
    case NODE_UNSIGNED:
        json_put_count(json, key, node->as.natural);
        return true;
    case NODE_FLOAT:
        put_real(dumper, key, node->as.real);
        return true;
    case NODE_GLOBAL:
        put_global(dumper, key, node);
        return true;
    case NODE_EXTENSION:
        put_number(dumper, key, "$ext", (uint64_t)node->as.integer, false);
        return true;
    case NODE_BUFFER:
    case NODE_READONLY_BUFFER:
        put_number(dumper, key, "$buffer", node->as.natural, node->kind == NODE_READONLY_BUFFER);
        return true;
    default:
        return false;
    }
}

void dumper_put_bytes(struct dumper *dumper, const char *key, const struct node *node, uint32_t id)
{
    struct json_writer *json = &dumper->json;
    dumper_open(dumper, key, id);
    if (node->kind == NODE_BIGINT)
        emit_big_integer(json, "$int", node->as.bytes, node->count);
    else
        emit_base64(json, node->kind == NODE_BYTES ? "$bytes" : "$bytearray", node->as.bytes,
                    node->count);
    json_put_close(json, '}');
}
