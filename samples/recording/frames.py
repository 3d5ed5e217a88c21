"""Stacks as torch.cuda records them, made from the events around an allocation in a torch profile.

A profile knows operators, autograd nodes and Python calls. The C++ frames in between are those that PyTorch has on
the way from the one to the other on a GPU; the operators' C++ signatures follow from their schemas.
"""
import re
import sysconfig

from torch._C._profiler import RecordScope, _EventType

from stacks import (EMPTY, EMPTY_STRIDED, ENGINE, EVAL, FREE, FREE_FROM_PYTHON, INLINED, MALLOC, METHOD, OBJECT,
                    PROCESS, TASK, TORCH, VECTOR)

from .operators import Operator

USER_FOLDER = "/home/user/train/"
RECORDER = "record_labelled.py"
PYTHON_FOLDER = "/usr/lib/python3.11/"
ENGINE_CALL = "autograd::engine::evaluate_function: "
CALLS = (_EventType.PyCall, _EventType.PyCCall)
# The C frames that call a Python function, by its name; a plain Python call shares its caller's loop.
BRIDGES = {"_wrapped_call_impl": OBJECT, "_call_impl": METHOD, "forward": METHOD, "wrapper": METHOD,
           "decorate_context": METHOD}
# The engine called again from Python code that runs in the backward pass.
NESTED_ENGINE = ENGINE[:2] + [
    (f"torch::autograd::Engine::execute_with_graph_task({TASK} const&, std::shared_ptr<torch::autograd::Node>, "
     "torch::autograd::InputBuffer&&)", "??"),
    ("torch::autograd::python::PythonEngine::execute_with_graph_task(" + TASK + " const&, "
     "std::shared_ptr<torch::autograd::Node>, torch::autograd::InputBuffer&&)", ""),
    ("THPEngine_run_backward(_object*, _object*, _object*)", ""),
    ("cfunction_call", "??"), ("_PyObject_MakeTpCall", "??")]


def file_path(name):
    """Neutral paths: torch where Debian would install it, everything else in a user's folder."""
    if name.startswith("torch/"):
        return TORCH + name[len("torch/"):]
    if "/site-packages/" in name:
        return "/usr/lib/python3/dist-packages/" + name.split("/site-packages/")[1]
    stdlib = sysconfig.get_paths()["stdlib"]
    if name.startswith(stdlib):
        return PYTHON_FOLDER + name[len(stdlib):].lstrip("/")
    if name.startswith("<"):
        return name
    return USER_FOLDER + name.rsplit("/", 1)[-1]


class FrameMaker:
    """`mode`: full (C++ and Python), python, or none."""

    def __init__(self, mode):
        self.mode = mode
        self._known = {}
        self._operators = {}

    def __call__(self, use):
        if self.mode == "none":
            return None
        # On a GPU the backward pass has a thread of its own, where there is no Python but what the engine calls.
        nodes = [index for index, event in enumerate(use.path) if event.name.startswith(ENGINE_CALL)]
        path = use.path[:nodes[-1] + 1] if nodes else use.path
        python = self._python_frames(path)
        if self.mode == "python":
            return python
        return self._merge(self._native_frames(use, path), python, on_engine=bool(nodes))

    def _frame(self, name, file, line):
        key = (name, file, line)
        # One dict per distinct frame, as in torch: a pickle then holds it once and refers to it everywhere else.
        return self._known.setdefault(key, {"name": name, "filename": file, "line": line})

    # Python

    def _python_frames(self, path):
        found = []
        for index, event in enumerate(path):
            if event.tag == _EventType.PyCall and not event.extra_fields.callsite.file_name.endswith(RECORDER):
                state = event.extra_fields.callsite
                found.append(self._frame(state.function_name, file_path(state.file_name), self._line(path, index)))
        return found

    @staticmethod
    def _line(path, index):
        """The current line of the function: of the call to the next frame, else of the last call before, else its first."""
        for inner in reversed(path[:index]):
            if inner.tag in CALLS:
                return inner.extra_fields.caller.line_number
        call = path[index]
        limit = path[index - 1].start_time_ns if index else None
        before = [child for child in call.children if child.tag in CALLS
                  and (limit is None or child.start_time_ns < limit)]
        return before[-1].extra_fields.caller.line_number if before else call.extra_fields.callsite.line_number

    # C++

    def _native_frames(self, use, path):
        """[(name, file)], innermost first."""
        native = []
        operators = [index for index, event in enumerate(path) if self._is_operator(event)]
        if use.bytes < 0:
            outside = path[0].tag in CALLS if path else True
            native += FREE_FROM_PYTHON if outside else FREE
        else:
            native += MALLOC
            native += self._kind_of_allocation(path)
        for index, event in enumerate(path):
            if index in operators:
                native += self._operator(event).frames(use.bytes > 0 and index == operators[0],
                                                       self._has_variable_type(path, index))
            elif self._is_node(event):
                native += self._node_frames(path, index)
            elif event.tag == _EventType.PyCCall:
                native += self._binding_frames(path, index)
            elif event.tag == _EventType.PyCall:
                native += BRIDGES.get(event.extra_fields.callsite.function_name, INLINED)
        return native

    @staticmethod
    def _is_operator(event):
        return (event.tag == _EventType.TorchOp and "::" in event.name and " " not in event.name
                and event.extra_fields.scope == RecordScope.FUNCTION)

    @staticmethod
    def _is_node(event):
        return event.tag == _EventType.TorchOp and (event.name.startswith(ENGINE_CALL)
                                                    or event.extra_fields.scope == RecordScope.BACKWARD_FUNCTION)

    def _operator(self, event):
        shape = tuple(type(item).__name__ for item in event.extra_fields.inputs)
        key = (event.name, shape)
        if key not in self._operators:
            self._operators[key] = Operator(event)
        return self._operators[key]

    def _has_variable_type(self, path, index):
        """Autograd's kernel precedes the outermost operator, and the operators that a composite one calls."""
        outer = next((event for event in path[index + 1:] if self._is_operator(event)), None)
        return outer is None or self._operator(outer).composite

    def _kind_of_allocation(self, path):
        if not path or not self._is_operator(path[0]):
            return EMPTY
        return EMPTY_STRIDED if "strided" in path[0].name else EMPTY

    def _node_frames(self, path, index):
        name = path[index].name
        if name.startswith(ENGINE_CALL):
            inside = index > 0 and path[index - 1].name == name[len(ENGINE_CALL):]
            adding = [] if inside or not index else [
                ("torch::autograd::accumulate(std::vector<at::Tensor>&, unsigned long, at::Tensor&&)", ""),
                ("torch::autograd::InputBuffer::add(unsigned long, at::Tensor&&, std::optional<c10::Stream> const&, "
                 "std::optional<c10::Stream> const&)", "??")]
            nested = any(event.name.startswith(ENGINE_CALL) for event in path[index + 1:])
            return adding + (NESTED_ENGINE if nested else ENGINE)
        operator = (f"torch::autograd::Node::operator()({VECTOR}&&)", "")
        if name.startswith("torch::autograd::AccumulateGrad"):
            return [("torch::autograd::(anonymous namespace)::AccumulateGrad_apply_impl("
                     f"{VECTOR}&&, at::Tensor&, at::Tensor&, long, std::function<void (at::Tensor&&)>)",
                     "accumulate_grad.cpp"),
                    (f"torch::autograd::AccumulateGrad::apply({VECTOR}&&)", "??"), operator]
        if name.startswith("torch::autograd::"):
            return [(f"{name}::apply({VECTOR}&&)", "??"), operator]
        if not re.search(r"Backward\d+$", name):
            return [(f"torch::autograd::PyNode::apply({VECTOR}&&)", "??"), operator]
        return [(f"torch::autograd::generated::{name}_apply_functional({VECTOR}&&, std::array<bool, 2ul>)",
                 "Functions.cpp"),
                (f"torch::autograd::generated::{name}::apply({VECTOR}&&)", "??"), operator]

    def _binding_frames(self, path, index):
        """The C function that Python called, if it is one of torch's."""
        if not index or path[index - 1].tag != _EventType.TorchOp:
            return []
        found = re.match(r"<built-in (?:method|function) (\w+)", path[index].name)
        name = found.group(1) if found else "call"
        return [(f"torch::autograd::THPVariable_{name}(_object*, _object*, _object*)", "python_variable_methods.cpp"),
                ("PyObject_Vectorcall", "??")]

    def _merge(self, native, python, on_engine):
        """The next Python frame before each frame of the interpreter's loop, the rest at the end, as torch does it."""
        merged, remaining = [], list(python)
        for entry in native if on_engine else native + PROCESS:
            if entry[0] == EVAL[0] and remaining:
                merged.append(remaining.pop(0))
            merged.append(self._frame(*entry, 0))
        return merged + remaining
