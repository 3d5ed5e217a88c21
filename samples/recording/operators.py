"""PyTorch's operators in C++: names, signatures, and the frames from an allocation out to the public entry."""
import torch
from torch.profiler._memory_profiler import SchemaMatcher

from stacks import FORMAT, OPTIONS, functor

TYPES = {"Tensor": "at::Tensor const&", "int": "long", "float": "double", "bool": "bool",
         "number": "c10::Scalar const&", "Scalar": "c10::Scalar const&", "SymInt": "c10::SymInt", "str": "std::string_view", "Device": "c10::Device",
         "ScalarType": "c10::ScalarType", "Layout": "c10::Layout", "MemoryFormat": "c10::MemoryFormat",
         "Generator": "at::Generator"}
EMPTY_WRAPPERS = {"empty": ("empty_cuda", "wrapper_CUDA_memory_format_empty"),
                  "empty_strided": ("empty_strided_cuda", "wrapper_CUDA__empty_strided")}


def cpp_type(kind):
    text = str(kind)
    if text.startswith("Optional[") or text.endswith("?"):
        inner = text[len("Optional["):-1] if text.startswith("Optional[") else text[:-1]
        plain = cpp_type(inner).removesuffix(" const&").removesuffix("&")
        return f"std::optional<{plain}>" + (" const&" if inner in ("Tensor", "number", "Scalar") else "")
    if text.startswith("List["):
        inner = cpp_type(text[len("List["):-1]).removesuffix(" const&")
        return f"c10::ArrayRef<{inner}>"
    return TYPES.get(text, "long")


class Operator:
    """An operator's name in C++, and its parameters."""

    def __init__(self, event):
        schemas = SchemaMatcher.match_schemas(event.extra_fields)
        if not schemas:
            schemas = (SchemaMatcher.lookup_schemas(event.name) or ())[:1]
        schema = schemas[0] if schemas else None
        self.base = event.name.split("::")[-1]
        overload = schema.overload_name if schema else ""
        self.name = f"{self.base}_{overload}" if overload else self.base
        if self.name == "empty":
            self.name = "empty_memory_format"
        self.parameters = ", ".join(cpp_type(argument.real_type) for argument in schema.arguments) if schema else ""
        full = f"{event.name}.{overload}" if overload else event.name
        self.composite = bool(schema) and torch._C._dispatch_has_kernel_for_dispatch_key(
            full, "CompositeImplicitAutograd")

    def frames(self, innermost, traced):
        """Out to at::_ops::NAME::call; `innermost`: it allocates itself; `traced`: autograd's kernel comes first."""
        if self.composite:
            return [(f"at::native::{self.base}({self.parameters})", "??"), self._call()]
        if self.base in EMPTY_WRAPPERS:
            return self._empty_frames()
        wrapper = f"at::(anonymous namespace)::wrapper_CUDA_{self.name}"
        factory = self.base.startswith("empty")
        frames = [] if factory else self._kernel_frames(innermost)
        frames.append((f"{wrapper}({self.parameters})", "RegisterCUDA_0.cpp"))
        if traced and not factory:
            keyed = f"c10::DispatchKeySet, {self.parameters}"
            variable = f"VariableType_{sum(map(ord, self.name)) % 5}.cpp"
            kernel = f"torch::autograd::VariableType::(anonymous namespace)::{self.name}"
            frames += [functor(wrapper, self.parameters, "RegisterCUDA_0.cpp"), self._redispatch(),
                       (f"{kernel}({keyed})", variable), functor(kernel, self.parameters, variable, keyed=True)]
        return frames + [self._call()]

    def _kernel_frames(self, innermost):
        if not innermost:
            return [(f"at::native::{self.base}({self.parameters})", "??")]
        shape = "long, c10::ArrayRef<long>, c10::ArrayRef<long>, c10::TensorOptions, c10::ArrayRef<at::Dimname>"
        return [("at::(anonymous namespace)::create_out(c10::ArrayRef<long>, c10::ArrayRef<long>, "
                 "c10::TensorOptions const&)", "RegisterCUDA_0.cpp"),
                (f"at::(anonymous namespace)::structured_{self.name}_out_functional::set_output_raw_strided({shape})",
                 "RegisterCUDA_0.cpp"),
                (f"at::meta::structured_{self.name}::meta({self.parameters})", "??")]

    def _empty_frames(self):
        kernel, wrapper = EMPTY_WRAPPERS[self.base]
        wrapper = f"at::(anonymous namespace)::(anonymous namespace)::{wrapper}"
        return [(f"at::native::{kernel}(c10::ArrayRef<long>, {OPTIONS}, {FORMAT})", "??"),
                (f"{wrapper}({self.parameters})", "RegisterCUDA_0.cpp"),
                functor(wrapper, self.parameters, "RegisterCUDA_0.cpp"), self._redispatch(),
                functor(f"at::(anonymous namespace)::{self.name}", self.parameters, "RegisterBackendSelect.cpp"),
                self._call()]

    def _redispatch(self):
        return f"at::_ops::{self.name}::redispatch(c10::DispatchKeySet, {self.parameters})", "??"

    def _call(self):
        return f"at::_ops::{self.name}::call({self.parameters})", "??"
