"""Call stacks as PyTorch records them: C++ frames innermost first, Python frames merged in.

`stacks="all"` walks the native stack and puts the next Python frame before each frame of the interpreter loop.
Python calls of Python functions share one interpreter loop (since CPython 3.11), so some Python frames are left
over; they come last. `stacks="python"` has the Python frames alone, and nothing at all on autograd's threads.
"""
import sys
from contextlib import contextmanager

TORCH = "/usr/lib/python3/dist-packages/torch/"

TENSOR = "at::Tensor const&"
TENSORS = "c10::ArrayRef<at::Tensor>"
SCALAR = "c10::Scalar const&"
TYPE = "std::optional<c10::ScalarType>"
OPTIONS = f"{TYPE}, std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool>"
FORMAT = "std::optional<c10::MemoryFormat>"
VECTOR = "std::vector<at::Tensor, std::allocator<at::Tensor> >"
REDUCTION = f"{TENSOR}, c10::OptionalArrayRef<long>, bool, {TYPE}"
TASK = "std::shared_ptr<torch::autograd::GraphTask>"
QUEUE = "std::shared_ptr<torch::autograd::ReadyQueue>"

GATHER = [
    ("torch::unwind::unwind()", "??"),
    ("torch::CapturedTraceback::gather(bool, bool, bool)", "??"),
    ("torch::cuda::(anonymous namespace)::gather_with_cpp()", "memory_snapshot.cpp"),
]
NATIVE = "c10::cuda::CUDACachingAllocator::Native::"
MALLOC = GATHER + [
    (NATIVE + "DeviceCachingAllocator::malloc(unsigned long, CUstream_st*)", "CUDACachingAllocator.cpp"),
    (NATIVE + "NativeCachingAllocator::malloc(void**, signed char, unsigned long, CUstream_st*)", ""),
    (NATIVE + "NativeCachingAllocator::allocate(unsigned long)", ""),
]
FREE = GATHER + [
    (NATIVE + "DeviceCachingAllocator::free(" + NATIVE + "(anonymous namespace)::Block*)", "CUDACachingAllocator.cpp"),
    ("c10::intrusive_ptr<c10::StorageImpl, c10::detail::intrusive_target_default_null_type<c10::StorageImpl> >"
     "::reset_not_null_(c10::StorageImpl*)", ""),
    ("c10::TensorImpl::~TensorImpl() [clone .localalias]", "TensorImpl.cpp"),
]
FREE_FROM_PYTHON = FREE + [
    ("THPVariable_clear(THPVariable*)", "python_variable.cpp"),
    ("THPVariable_dealloc(_object*)", "python_variable.cpp"),
    ("subtype_dealloc", "??"),
]
EMPTY_CACHE = GATHER + [
    (NATIVE + "DeviceCachingAllocator::emptyCache(std::pair<unsigned long long, unsigned long long>)",
     "CUDACachingAllocator.cpp"),
    (NATIVE + "NativeCachingAllocator::emptyCache(std::pair<unsigned long long, unsigned long long>)", ""),
    ("THCPModule_emptyCache(_object*, _object*)", "Module.cpp"),
    ("cfunction_vectorcall_NOARGS", "??"),
    ("PyObject_Vectorcall", "??"),
]
EMPTY = [
    ("at::detail::empty_generic(c10::ArrayRef<long>, c10::Allocator*, c10::DispatchKeySet, c10::ScalarType, "
     f"{FORMAT})", "??"),
    (f"at::detail::empty_cuda(c10::ArrayRef<long>, c10::ScalarType, std::optional<c10::Device>, {FORMAT})", "??"),
    (f"at::detail::empty_cuda(c10::ArrayRef<long>, {OPTIONS}, {FORMAT})", "??"),
]
EMPTY_STRIDED = [
    ("at::detail::empty_strided_generic(c10::ArrayRef<long>, c10::ArrayRef<long>, c10::Allocator*, "
     "c10::DispatchKeySet, c10::ScalarType)", "??"),
    ("at::detail::empty_strided_cuda(c10::ArrayRef<long>, c10::ArrayRef<long>, c10::ScalarType, "
     "std::optional<c10::Device>)", "??"),
]
WORKSPACE = [
    ("at::cuda::getNewWorkspace()", ""),
    ("at::cuda::getCurrentCUDABlasHandle()", "??"),
    ("void at::cuda::blas::gemm_internal_cublas<float>(char, char, long, long, long, float, float const*, long, "
     "float const*, long, float, float*, long)", ""),
    ("at::native::(anonymous namespace)::addmm_out_cuda_impl(at::Tensor&, at::Tensor const&, at::Tensor const&, "
     "at::Tensor const&, c10::Scalar const&, c10::Scalar const&)", "Blas.cpp"),
]
ENGINE = [
    (f"torch::autograd::Engine::evaluate_function({TASK}&, torch::autograd::Node*, torch::autograd::InputBuffer&, "
     f"{QUEUE} const&)", "??"),
    (f"torch::autograd::Engine::thread_main({TASK} const&)", "??"),
    (f"torch::autograd::Engine::thread_init(int, {QUEUE} const&, bool)", "??"),
    (f"torch::autograd::python::PythonEngine::thread_init(int, {QUEUE} const&, bool)", ""),
    ("execute_native_thread_routine", "??"),
    ("start_thread", "??"),
    ("__clone", "??"),
]
EVAL = ("_PyEval_EvalFrameDefault", "??")
PROCESS = [EVAL] + [(name, "??") for name in (
    "PyEval_EvalCode", "run_mod", "_PyRun_SimpleFileObject", "_PyRun_AnyFileObject", "Py_RunMain", "Py_BytesMain",
    "__libc_init_first", "__libc_start_main", "_start")]

# The native frames between a Python function and its caller.
INLINED = []
METHOD = [EVAL, ("method_vectorcall", "??")]
OBJECT = [EVAL, ("_PyObject_Call_Prepend", "??"), ("slot_tp_call", "??"), ("_PyObject_MakeTpCall", "??")]

# name: (C++ parameters, how its output is allocated)
OPERATORS = {
    "mul_Tensor": (f"{TENSOR}, {TENSOR}", "iterator"),
    "add_Tensor": (f"{TENSOR}, {TENSOR}, {SCALAR}", "iterator"),
    "div_Tensor": (f"{TENSOR}, {TENSOR}", "iterator"),
    "div_Scalar": (f"{TENSOR}, {SCALAR}", "iterator"),
    "reciprocal": (TENSOR, "iterator"),
    "clamp": (f"{TENSOR}, std::optional<c10::Scalar> const&, std::optional<c10::Scalar> const&", "iterator"),
    "pow_Tensor_Scalar": (f"{TENSOR}, {SCALAR}", "iterator"),
    "rsqrt": (TENSOR, "iterator"),
    "sigmoid": (TENSOR, "iterator"),
    "sigmoid_backward": (f"{TENSOR}, {TENSOR}", "iterator"),
    "silu": (TENSOR, "iterator"),
    "silu_backward": (f"{TENSOR}, {TENSOR}", "iterator"),
    "mean_dim": (REDUCTION, "structured"),
    "sum_dim_IntList": (REDUCTION, "structured"),
    "mm": (f"{TENSOR}, {TENSOR}", "structured"),
    "bmm": (f"{TENSOR}, {TENSOR}", "structured"),
    "_softmax": (f"{TENSOR}, long, bool", "structured"),
    "_softmax_backward_data": (f"{TENSOR}, {TENSOR}, long, c10::ScalarType", "structured"),
    "_log_softmax": (f"{TENSOR}, long, bool", "structured"),
    "_log_softmax_backward_data": (f"{TENSOR}, {TENSOR}, long, c10::ScalarType", "structured"),
    "nll_loss_forward": (f"{TENSOR}, {TENSOR}, std::optional<at::Tensor> const&, long, c10::SymInt", "structured"),
    "nll_loss_backward": (f"{TENSOR}, {TENSOR}, {TENSOR}, std::optional<at::Tensor> const&, long, c10::SymInt, "
                          f"{TENSOR}", "structured"),
    "cat": ("c10::IListRef<at::Tensor> const&, long", "structured"),
    "embedding": (f"{TENSOR}, {TENSOR}, c10::SymInt, bool, bool", "empty"),
    "embedding_dense_backward": (f"{TENSOR}, {TENSOR}, c10::SymInt, c10::SymInt, bool", "empty"),
    "linalg_vector_norm": (f"{TENSOR}, {SCALAR}, c10::OptionalArrayRef<long>, bool, {TYPE}", "structured"),
    "stack": (f"{TENSORS}, long", "empty"),
    "native_dropout": (f"{TENSOR}, double, std::optional<bool>", "like"),
    "clone": (f"{TENSOR}, {FORMAT}", "like"),
    "zeros_like": (f"{TENSOR}, {OPTIONS}, {FORMAT}", "like"),
    "ones_like": (f"{TENSOR}, {OPTIONS}, {FORMAT}", "like"),
    "_to_copy": (f"{TENSOR}, {OPTIONS}, bool, {FORMAT}", "like"),
    "_foreach_sqrt": (TENSORS, "like"),
    "_foreach_norm_Scalar": (f"{TENSORS}, {SCALAR}, {TYPE}", "empty"),
}


def functor(function, parameters, source, keyed=False):
    """The dispatcher's adapter around a kernel; `keyed` kernels take the dispatch keys themselves."""
    own = f"c10::DispatchKeySet, {parameters}" if keyed else parameters
    plain = f"at::Tensor ({own})"
    close = " > >" if own.endswith(">") else "> >"
    return (f"c10::impl::wrap_kernel_functor_unboxed_<c10::impl::detail::WrapFunctionIntoFunctor_<"
            f"c10::CompileTimeFunctionPointer<{plain}, &{function}>, at::Tensor, "
            f"c10::guts::typelist::typelist<{own}{close}, {plain}>"
            f"::call(c10::OperatorKernel*, c10::DispatchKeySet, {parameters})", source)


def operator_frames(name):
    """From the allocation of an operator's output out to its public entry, `at::_ops::NAME::call`."""
    parameters, style = OPERATORS[name]
    keyed = f"c10::DispatchKeySet, {parameters}"
    wrapper = f"at::(anonymous namespace)::wrapper_CUDA_{name}"
    register, variable = "RegisterCUDA_0.cpp", f"VariableType_{sum(map(ord, name)) % 5}.cpp"
    traced = f"torch::autograd::VariableType::(anonymous namespace)::{name}"
    frames = []
    if style in ("iterator", "structured"):
        shape = "long, c10::ArrayRef<long>, c10::ArrayRef<long>, c10::TensorOptions, c10::ArrayRef<at::Dimname>"
        frames += EMPTY
        frames += [("at::(anonymous namespace)::create_out(c10::ArrayRef<long>, c10::ArrayRef<long>, "
                    "c10::TensorOptions const&)", register),
                   (f"at::(anonymous namespace)::structured_{name}_out_functional::set_output_raw_strided({shape})",
                    register)]
        if style == "iterator":
            frames += [("at::TensorIteratorBase::fast_set_up(at::TensorIteratorConfig const&)", "??"),
                       ("at::TensorIteratorBase::build(at::TensorIteratorConfig&)", "??")]
        frames += [(f"at::meta::structured_{name}::meta({parameters})", "??")]
    elif style == "empty":
        frames += EMPTY
        frames += [(f"at::_ops::empty_memory_format::call(c10::ArrayRef<c10::SymInt>, {OPTIONS}, {FORMAT})", "??"),
                   (f"at::native::{name}({parameters})", "??")]
    else:
        frames += EMPTY_STRIDED
        frames += [(f"at::_ops::empty_strided::call(c10::ArrayRef<c10::SymInt>, c10::ArrayRef<c10::SymInt>, "
                    f"{OPTIONS})", "??"),
                   (f"at::native::empty_like({TENSOR}, {OPTIONS}, {FORMAT})", "??"),
                   (f"at::_ops::empty_like::call({TENSOR}, {OPTIONS}, {FORMAT})", "??"),
                   (f"at::native::{name}({parameters})", "??")]
    return frames + [
        (f"{wrapper}({parameters})", register),
        functor(wrapper, parameters, register),
        (f"at::_ops::{name}::redispatch({keyed})", "??"),
        (f"{traced}({keyed})", variable),
        functor(traced, parameters, variable, keyed=True),
        (f"at::_ops::{name}::call({parameters})", "??"),
    ]


def composite_frames(name):
    """An operator implemented by calling others."""
    parameters = f"{TENSOR}, {TENSOR}"
    return [(f"at::native::{name}({parameters})", "??"), (f"at::_ops::{name}::call({parameters})", "??")]


def node_frames(node):
    return [
        (f"torch::autograd::generated::{node}_apply_functional({VECTOR}&&, std::array<bool, 2ul>)", "Functions.cpp"),
        (f"torch::autograd::generated::{node}::apply({VECTOR}&&)", "??"),
        (f"torch::autograd::Node::operator()({VECTOR}&&)", ""),
    ] + ENGINE


def accumulate_frames():
    return [("torch::autograd::accumulate(std::vector<at::Tensor>&, unsigned long, at::Tensor&&)", ""),
            ("torch::autograd::InputBuffer::add(unsigned long, at::Tensor&&, "
             "std::optional<c10::Stream> const&, std::optional<c10::Stream> const&)", "??")] + ENGINE


def accumulate_grad_frames():
    return [(f"torch::autograd::AccumulateGrad::apply({VECTOR}&&)", "??"),
            (f"torch::autograd::Node::operator()({VECTOR}&&)", "")] + ENGINE


def release_frames(node):
    return FREE + [("torch::autograd::SavedVariable::reset_data()", "??"),
                   (f"torch::autograd::generated::{node}::release_variables()", "")] + ENGINE


def consume_frames():
    """The engine drops the gradient that a node has used up."""
    return FREE + [(f"{VECTOR}::~vector()", ""),
                   (f"torch::autograd::Node::operator()({VECTOR}&&)", "")] + ENGINE


class Stacks:
    """The Python call stack of the simulated program, and frame lists made from it."""

    def __init__(self, cpp):
        self.cpp = cpp
        self._known = {}
        self._calls = []  # outermost first: [name, file, line, native frames towards the caller]

    @contextmanager
    def call(self, name, file, line=0, bridge=INLINED):
        self._calls.append([name, file, line, bridge])
        try:
            yield
        finally:
            self._calls.pop()

    @contextmanager
    def module(self, file):
        """`self.layer(x)`: nn.Module's wrappers, then its forward."""
        wrappers = TORCH + "nn/modules/module.py"
        with self.call("_wrapped_call_impl", wrappers, 1773, OBJECT):
            with self.call("_call_impl", wrappers, 1784, METHOD):
                with self.call("forward", file, 0, METHOD):
                    yield

    def at(self, line):
        self._calls[-1][2] = line

    def from_python(self, native, entry=None):
        """Frames of something reached from Python; `entry` is the binding that Python called."""
        if entry:
            native = native + [(f"torch::autograd::{entry}(_object*, _object*, _object*)", "python_bindings.cpp"),
                               ("PyObject_Vectorcall", "??")]
        python = [(name, file, line) for name, file, line, _ in reversed(self._calls)]
        if not self.cpp:
            return [self._frame(*frame) for frame in python]
        for _, _, _, bridge in reversed(self._calls):
            native = native + bridge
        merged = []
        remaining = iter(python)
        for name, file in native:
            if name == EVAL[0]:
                merged.append(self._frame(*next(remaining)))
            merged.append(self._frame(name, file, 0))
        merged.extend(self._frame(*frame) for frame in remaining)
        return merged

    def from_engine(self, native):
        """Frames of something on autograd's thread, which runs no Python."""
        return [self._frame(name, file, 0) for name, file in native] if self.cpp else []

    def _frame(self, *key):
        # One dict per distinct frame, as in torch: a pickle then holds it once and refers to it everywhere else.
        frame = self._known.get(key)
        if frame is None:
            name, file, line = key
            frame = self._known[key] = {"name": sys.intern(name), "filename": sys.intern(file), "line": line}
        return frame
