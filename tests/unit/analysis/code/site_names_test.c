/* Classification of single names: files and C++ functions. */
#include "analysis/code/frames.h"

#include <string.h>

#include "unit/analysis/analysis.h"

static struct text text(const char *bytes)
{
    return (struct text){bytes, strlen(bytes)};
}

static const struct {
    const char *file;
    enum file_class class;
} files[] = {
    {"", FILE_NATIVE},
    {"??", FILE_NATIVE},
    {"CUDACachingAllocator.cpp", FILE_NATIVE},
    {"/usr/local/src/conda/python-3.12.3/Python/ceval.c", FILE_NATIVE},
    {"thread48.o", FILE_NATIVE},
    {"torch_python", FILE_NATIVE},
    {"<unknown>", FILE_NATIVE},
    {"train.py", FILE_USER},
    {"/home/x/torch/train.py", FILE_USER},
    {"/home/x/torch-project/nn/modules/net.py", FILE_USER},
    {"/home/x/mytorch/nn/modules/net.py", FILE_USER},
    {"/home/x/torch/utils/train.py", FILE_USER},
    {"/home/x/torch/storage.py", FILE_USER},
    {"/home/x/pytorch-course/torch/train.py", FILE_USER},
    {"/home/x/.venv/lib/python3.12/site-packages/transformers/models/llama/m.py", FILE_USER},
    {"/opt/conda/lib/python3.10/site-packages/flash_attn/interface.py", FILE_USER},
    {"/home/x/site-packages.py", FILE_USER},
    {"<stdin>", FILE_USER},
    {"<string>", FILE_USER},
    {"<ipython-input-3-0123456789ab>", FILE_USER},
    {"C:\\Users\\x\\proj\\train.py", FILE_USER},
    {"/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", FILE_TORCH},
    {"/usr/lib/python3/dist-packages/torch/_tensor.py", FILE_TORCH},
    {"/opt/pytorch/torch/random.py", FILE_TORCH},
    {"/build/torch/nn/modules/linear.py", FILE_TORCH},
    {"torch/optim/adamw.py", FILE_TORCH},
    {"torch/_native/registry.py", FILE_TORCH},
    {"torch/random.py", FILE_TORCH},
    {"proj/torch/random.py", FILE_USER},
    {"C:\\Python312\\Lib\\site-packages\\torch\\nn\\modules\\module.py", FILE_TORCH},
    {"/venv/lib/python3.12/site-packages/einops/einops.py", FILE_LIBRARY},
    {"C:\\v\\Lib\\site-packages\\einops\\_backends.py", FILE_LIBRARY},
    {"/venv/lib/python3.12/site-packages/accelerate/hooks.py", FILE_LIBRARY},
    {"/usr/lib/python3.11/contextlib.py", FILE_LIBRARY},
    {"/opt/conda/lib/python3.10/concurrent/futures/thread.py", FILE_LIBRARY},
    {"C:\\Python312\\Lib\\contextlib.py", FILE_LIBRARY},
    {"<frozen runpy>", FILE_LIBRARY},
    {"<eval_with_key>.12", FILE_LIBRARY},
    {"<@beartype(model.forward) at 0x7f>", FILE_LIBRARY},
    {"/venv/lib/python3.12/site-packages/memsnap_record.py", FILE_LIBRARY},
    {"/home/x/project/memsnap_record.py", FILE_LIBRARY},
    {"/usr/share/memsnap/record/memsnap_record.py", FILE_LIBRARY},
    {"memsnap_record.py", FILE_LIBRARY},
    {"/home/x/project/my_memsnap_record.py", FILE_USER},
    {"/tmp/torchinductor_me/ab/cab.py", FILE_LIBRARY},
    {"/scratch/cache/t7/ct7p6fnrxbuylxuihah2pdcsopx4bmxfnvdttmiz2zfvfi2lol4s.py", FILE_LIBRARY},
    {"/scratch/cache/t8/ct7p6fnrxbuylxuihah2pdcsopx4bmxfnvdttmiz2zfvfi2lol4s.py", FILE_USER},
    {"/scratch/t7/ct7p6fnrxbuylxuihah2pdcsopx4bmxfnvdttmiz2zfvfi2lol4s_.py", FILE_USER},
};

START_TEST(files_are_told_apart)
{
    struct file_facts facts = path_classify(text(files[_i].file));
    ck_assert_msg(facts.class == files[_i].class, "%s: %d", files[_i].file, (int)facts.class);
}
END_TEST

START_TEST(overlong_paths_are_judged_by_their_ending)
{
    static char path[70000];
    memset(path, '/', sizeof(path) - 4);
    memcpy(path + sizeof(path) - 4, ".py", 4);
    ck_assert_int_eq(path_classify(text(path)).class, FILE_USER);
}
END_TEST

START_TEST(scripts_without_extension)
{
    ck_assert_int_eq(frame_script_class(text("/home/u/bin/run"), text("main"), 3), FILE_USER);
    ck_assert_int_eq(frame_script_class(text("/venv/bin/torchrun"), text("<module>"), 8),
                     FILE_LIBRARY);
    ck_assert_int_eq(frame_script_class(text("/usr/lib/libc.so"), text("start"), 3), FILE_NATIVE);
    ck_assert_int_eq(frame_script_class(text("/a/b"), text("x::y(z)"), 3), FILE_NATIVE);
    ck_assert_int_eq(frame_script_class(text("/a/b"), text("main"), 0), FILE_NATIVE);
}
END_TEST

static const struct {
    const char *function, *name;
    enum native_role role;
} functions[] = {
    {"at::_ops::mul_Tensor::redispatch(c10::DispatchKeySet)", "aten::mul", NATIVE_OPERATOR},
    {"at::_ops::mul__Scalar::call(at::Tensor&)", "aten::mul_", NATIVE_OPERATOR},
    {"at::_ops::sum_dim_IntList::call(x)", "aten::sum", NATIVE_OPERATOR},
    {"at::_ops::arange_start_out::call(x)", "aten::arange", NATIVE_OPERATOR},
    {"at::_ops::to_dtype_layout::call(x)", "aten::to", NATIVE_TO_DEVICE},
    {"at::_ops::to_dtype::call(x)", "aten::to", NATIVE_OPERATOR},
    {"at::_ops::where_self::call(x)", "aten::where", NATIVE_OPERATOR},
    {"at::_ops::randint_low::call(x)", "aten::randint", NATIVE_OPERATOR},
    {"at::_ops::randint_low_generator::call(x)", "aten::randint", NATIVE_OPERATOR},
    {"at::_ops::random__from::call(x)", "aten::random_", NATIVE_OPERATOR},
    {"at::_ops::__and___Tensor::call(x)", "aten::__and__", NATIVE_OPERATOR},
    {"at::_ops::_foreach_mul__Scalar::call(x)", "aten::_foreach_mul_", NATIVE_OPERATOR},
    {"at::_ops::_fused_adamw__tensor_lr::call(x)", "aten::_fused_adamw_", NATIVE_OPERATOR},
    {"at::_ops::_index_put_impl_::call(x)", "aten::_index_put_impl_", NATIVE_OPERATOR},
    {"at::_ops::select_backward::call(x)", "aten::select_backward", NATIVE_OPERATOR},
    {"at::_ops::affine_grid_generator::call(x)", "aten::affine_grid_generator", NATIVE_OPERATOR},
    {"at::_ops::linalg_vector_norm::call(x)", "aten::linalg_vector_norm", NATIVE_OPERATOR},
    {"at::_ops::empty_memory_format::call(x)", "aten::empty", NATIVE_FACTORY},
    {"at::_ops::resize_::call(x)", "aten::resize_", NATIVE_FACTORY},
    {"at::_ops::", "", NATIVE_PLAIN},
    {"at::_ops::::call(", "", NATIVE_PLAIN},
    {"at::_ops::mm::schema(x)", "", NATIVE_PLAIN},
    {"torch::autograd::generated::MulBackward0::apply(std::vector<x>&&)", "MulBackward0",
     NATIVE_NODE},
    {"torch::autograd::AccumulateGrad::apply(x)", "AccumulateGrad", NATIVE_NODE},
    {"torch::autograd::CppNode<MyOp>::apply(x)", "MyOp", NATIVE_NODE},
    {"torch::autograd::generated::MulBackward0::release_variables()", "", NATIVE_PLAIN},
    {"torch::autograd::THPVariable_mul(_object*)", "", NATIVE_PLAIN},
    {"torch::autograd::VariableType::(anonymous namespace)::mm(x::apply(y))", "", NATIVE_PLAIN},
    {"torch::autograd::Engine::thread_main(x)", "", NATIVE_ENGINE},
    {"torch::autograd::Node::operator()(x)", "", NATIVE_ENGINE},
    {"c10d::ProcessGroupNCCL::allgather(x)", "c10d::allgather", NATIVE_COMMUNICATION},
    {"c10d::Reducer::initialize_buckets(x)", "", NATIVE_COMMUNICATION},
    {"at::cuda::getNewWorkspace()", "", NATIVE_WORKSPACE},
    {"at::cuda::getCurrentCUDABlasHandle()", "", NATIVE_WORKSPACE},
    {"torch::unwind::unwind()", "", NATIVE_PLAIN},
    {"_PyEval_EvalFrameDefault", "", NATIVE_PLAIN},
    {"", "", NATIVE_PLAIN},
};

START_TEST(functions_are_told_apart)
{
    char name[NATIVE_NAME_SIZE];
    enum native_role role = native_classify(text(functions[_i].function), name);
    ck_assert_msg(role == functions[_i].role, "%s: %d", functions[_i].function, (int)role);
    ck_assert_str_eq(name, functions[_i].name);
}
END_TEST

START_TEST(overlong_operator_names_are_ignored)
{
    char function[1000], name[NATIVE_NAME_SIZE];
    memset(function, 'a', sizeof(function));
    memcpy(function, "at::_ops::", 10);
    memcpy(function + 400, "::call(", 8);
    ck_assert_int_eq(native_classify(text(function), name), NATIVE_PLAIN);
}
END_TEST

TCase *site_names_tests(void)
{
    TCase *tests = tcase_create("names");
    tcase_add_loop_test(tests, files_are_told_apart, 0, sizeof(files) / sizeof(files[0]));
    tcase_add_test(tests, overlong_paths_are_judged_by_their_ending);
    tcase_add_test(tests, scripts_without_extension);
    tcase_add_loop_test(tests, functions_are_told_apart, 0,
                        sizeof(functions) / sizeof(functions[0]));
    tcase_add_test(tests, overlong_operator_names_are_ignored);
    return tests;
}
