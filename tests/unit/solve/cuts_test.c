#include "solve/problem/cuts.h"

#include <string.h>

#include "unit/solve/solve.h"

static struct budget budget = {.limit = 1 << 20};

/* Blocks of a ResNet, a BERT, nested Sequentials, a ViT, a U-Net, a DenseNet, and unusual
 * names. */
static const struct {
    const char *name, *block;
} names[] = {
    {"conv1", "conv1"},
    {"layer1.0.conv1", "layer1.0"},
    {"layer1.0.downsample.0", "layer1.0"},
    {"layer1.0.downsample.1", "layer1.0"},
    {"layer1.1.bn1", "layer1.1"},
    {"bert.embeddings.word", "bert.embeddings"},
    {"bert.encoder.layer.0.attention.self", "bert.encoder.layer.0"},
    {"bert.encoder.layer.11.output.0", "bert.encoder.layer.11"},
    {"features.0.0", "features.0.0"},
    {"features.0.1", "features.0.1"},
    {"features.1", "features.1"},
    {"mobile.3.conv.0.0", "mobile.3"},
    {"vit.layers.encoder_layer_0.mlp.0", "vit.layers.encoder_layer_0"},
    {"vit.layers.encoder_layer_0.ln_1", "vit.layers.encoder_layer_0"},
    {"vit.layers.encoder_layer_11.mlp.3", "vit.layers.encoder_layer_11"},
    {"down1.conv.0", "down1"},
    {"down1.norm", "down1"},
    {"down2.conv.0", "down2"},
    {"only1.conv.0", "only1.conv.0"},
    {"dense.block1.layer1", "dense.block1.layer1"},
    {"dense.block1.layer1.norm1", "dense.block1.layer1"},
    {"dense.block1.layer1.conv1", "dense.block1.layer1"},
    {"dense.block1.layer2.norm1", "dense.block1.layer2"},
    {"dense.block2.layer1.norm1", "dense.block2.layer1"},
    {"dense.block2.layer2.norm1", "dense.block2.layer2"},
    {"dense.block2", "dense.block2"},
    {"blocks.0.attention1.query", "blocks.0"},
    {"blocks.0.attention2.query", "blocks.0"},
    {"blocks.0.mlp1.in", "blocks.0"},
    {"blocks.0.mlp2.in", "blocks.0"},
    {"", ""},
    {"..", "."},
    {"7", "7"},
    {"fc", "fc"},
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* They have children, and run something themselves. */
static bool is_leaf(size_t name)
{
    return strcmp(names[name].name, "dense.block1.layer1") != 0 &&
           strcmp(names[name].name, "dense.block2") != 0;
}

static struct text text_of(const char *bytes)
{
    return (struct text){.bytes = bytes, .size = strlen(bytes)};
}

static bool is_in_numbered(const struct tree *tree, const char *name)
{
    return tree_is_in_numbered(tree, text_of(name), strlen(name));
}

START_TEST(blocks_are_told_from_names)
{
    const struct cuts cuts = {.kind = CUT_BLOCKS};
    struct tree tree;
    struct error err;
    tree_init(&tree, &budget);
    for (size_t k = 0; k < NAMES; k++)
        ck_assert(tree_add_stems(&tree, text_of(names[k].name), is_leaf(k), &err));
    for (size_t k = 0; k < NAMES; k++)
        ck_assert(tree_add(&tree, text_of(names[k].name), is_leaf(k), &err));
    for (size_t k = 0; k < NAMES; k++) {
        size_t size = cuts_module(&cuts, &tree, text_of(names[k].name));
        ck_assert_msg(size == strlen(names[k].block), "%s: %.*s, not %s", names[k].name, (int)size,
                      names[k].name, names[k].block);
    }
    ck_assert(is_in_numbered(&tree, "layer1.0"));
    ck_assert(is_in_numbered(&tree, "vit.layers.encoder_layer_0"));
    ck_assert(is_in_numbered(&tree, "down2"));
    ck_assert(is_in_numbered(&tree, "dense.block1.layer1"));
    ck_assert(is_in_numbered(&tree, "layer1.0.conv1"));
    ck_assert(!tree_is_in_numbered(&tree, text_of("layer1.0.conv1"), strlen("layer1")));
    ck_assert(!is_in_numbered(&tree, "only1"));
    ck_assert(!is_in_numbered(&tree, "bert.embeddings"));
    ck_assert(!is_in_numbered(&tree, ""));
    tree_release(&tree);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

/* A ModuleDict has no forward, so its modules are the blocks. */
START_TEST(lists_are_no_blocks_if_calls_are_known)
{
    static const char *const called[] = {"layers.0.attention", "layers.0.attention.out",
                                         "layers.1.attention", "layers.1.mlp.in", "layers.1.mlp"};
    const struct cuts cuts = {.kind = CUT_BLOCKS};
    const struct text name = text_of("layers.1.mlp.in");
    struct tree tree;
    struct error err;
    tree_init(&tree, &budget);
    for (size_t k = 0; k < 5; k++)
        ck_assert(tree_add_stems(&tree, text_of(called[k]), k == 1 || k == 3, &err));
    for (size_t k = 0; k < 5; k++)
        ck_assert(tree_add(&tree, text_of(called[k]), k == 1 || k == 3, &err));
    ck_assert_uint_eq(cuts_module(&cuts, &tree, name), strlen("layers.1"));
    ck_assert_uint_eq(tree_called_from(&tree, name, strlen("layers")), strlen("layers"));
    for (size_t k = 0; k < 5; k++)
        ck_assert(tree_add_call(&tree, text_of(called[k]), &err));
    ck_assert_uint_eq(cuts_module(&cuts, &tree, name), strlen("layers.1.mlp"));
    ck_assert_uint_eq(tree_called_from(&tree, name, strlen("layers")), strlen("layers.1.mlp"));
    ck_assert_uint_eq(tree_called_from(&tree, text_of("layers.1.norm"), 1),
                      strlen("layers.1.norm"));
    ck_assert(tree_add_call(&tree, text_of("layers.1"), &err));
    ck_assert_uint_eq(cuts_module(&cuts, &tree, name), strlen("layers.1"));
    tree_release(&tree);
}
END_TEST

/* A stage that holds blocks is one block, or these and what is beside them. */
START_TEST(stages_may_be_cut_at_their_blocks)
{
    static const struct {
        const char *name, *block, *inner;
    } rows[] = {
        {"stages.0.blocks.0.mlp.in", "stages.0", "stages.0.blocks.0"},
        {"stages.0.blocks.1.mlp.in", "stages.0", "stages.0.blocks.1"},
        {"stages.0.downsample.norm", "stages.0", "stages.0.downsample"},
        {"stages.1.mlp.0", "stages.1", "stages.1"},
        {"head", "head", "head"},
    };
    const struct cuts cuts = {.kind = CUT_BLOCKS}, inner = {.kind = CUT_BLOCKS, .inner = true};
    struct tree tree;
    struct error err;
    tree_init(&tree, &budget);
    for (size_t k = 0; k < 5; k++)
        ck_assert(tree_add_stems(&tree, text_of(rows[k].name), true, &err));
    for (size_t k = 0; k < 5; k++)
        ck_assert(tree_add(&tree, text_of(rows[k].name), true, &err));
    for (size_t k = 0; k < 5; k++) {
        struct text name = text_of(rows[k].name);
        ck_assert_uint_eq(cuts_module(&cuts, &tree, name), strlen(rows[k].block));
        ck_assert_uint_eq(cuts_module(&inner, &tree, name), strlen(rows[k].inner));
    }
    tree_release(&tree);
}
END_TEST

static size_t module_size(struct cuts cuts, const char *name)
{
    struct tree none;
    tree_init(&none, &budget);
    return cuts_module(&cuts, &none, text_of(name));
}

START_TEST(depth_counts_components)
{
    ck_assert_uint_eq(module_size((struct cuts){.kind = CUT_DEPTH, .depth = 1}, "ab.cd.ef"), 2);
    ck_assert_uint_eq(module_size((struct cuts){.kind = CUT_DEPTH, .depth = 2}, "ab.cd.ef"), 5);
    ck_assert_uint_eq(module_size((struct cuts){.kind = CUT_DEPTH, .depth = 9}, "ab.cd.ef"), 8);
    ck_assert_uint_eq(module_size((struct cuts){.kind = CUT_LEAVES}, "ab.cd.ef"), 8);
}
END_TEST

START_TEST(patterns_match_the_shortest_prefix)
{
    const struct cuts cuts = {.kind = CUT_PATTERN, .pattern = "layer?.*"};
    ck_assert_uint_eq(module_size(cuts, "layer1.0.conv1"), 8);
    ck_assert_uint_eq(module_size(cuts, "layer1"), 0);
    ck_assert_uint_eq(module_size(cuts, "fc"), 0);
}
END_TEST

START_TEST(patterns_may_have_classes)
{
    const struct cuts cuts = {.kind = CUT_PATTERN, .pattern = "layer[[:digit:]].[!1-9]"};
    ck_assert_uint_eq(module_size(cuts, "layer1.0.conv1"), 8);
    ck_assert_uint_eq(module_size(cuts, "layerx.0.conv1"), 0);
    ck_assert_uint_eq(module_size(cuts, "layer1.2.conv1"), 0);
}
END_TEST

/* fnmatch() would take time that doubles with every star. */
START_TEST(many_stars_take_no_time)
{
    char name[4096], pattern[601];
    for (size_t i = 0; i < sizeof(pattern) - 1; i += 2)
        memcpy(pattern + i, "*a", 2);
    pattern[sizeof(pattern) - 2] = 'b';
    pattern[sizeof(pattern) - 1] = '\0';
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ck_assert_uint_eq(module_size((struct cuts){.kind = CUT_PATTERN, .pattern = pattern}, name), 0);
}
END_TEST

TCase *cuts_tests(void)
{
    TCase *tests = tcase_create("cuts");
    tcase_add_test(tests, blocks_are_told_from_names);
    tcase_add_test(tests, lists_are_no_blocks_if_calls_are_known);
    tcase_add_test(tests, stages_may_be_cut_at_their_blocks);
    tcase_add_test(tests, depth_counts_components);
    tcase_add_test(tests, patterns_match_the_shortest_prefix);
    tcase_add_test(tests, patterns_may_have_classes);
    tcase_add_test(tests, many_stars_take_no_time);
    return tests;
}
