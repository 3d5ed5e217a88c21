"""Tensors with reference counts, and a tape: just enough of PyTorch to know which bytes are live when."""
from stacks import (FREE, FREE_FROM_PYTHON, MALLOC, METHOD, TORCH, WORKSPACE, accumulate_frames,
                    accumulate_grad_frames, composite_frames, consume_frames, node_frames, operator_frames,
                    release_frames)

CUBLAS_WORKSPACE = 8519680  # :4096:2:16:8, the default before Hopper


class Tensor:
    """`base` makes a view, which keeps the storage of another tensor alive."""

    def __init__(self, nbytes, device, block=None, base=None, producer=None):
        self.nbytes, self.device, self.block, self.base = nbytes, device, block, base
        self.producer = producer  # (node, index of its output), or None
        self.references = 1

    @property
    def needs_grad(self):
        return self.producer is not None

    def keep(self):
        self.references += 1
        return self


class Parameter(Tensor):
    grad = None
    needs_grad = True


class Node:
    """One step of the backward pass.

    `grads` lists (input, steps): steps are the (operator, bytes) that lead from the incoming gradient to that
    input's gradient, each but the last a temporary; no steps means that the gradient is passed on as it is.
    """

    def __init__(self, name, device, saved, grads, outputs=1):
        self.name, self.device, self.saved, self.grads = name, device, saved, grads
        self.incoming = [None] * outputs


class Runtime:
    """The process: devices, their streams, the Python stack, annotations."""

    def __init__(self, clock, stacks, allocators):
        self.clock, self.stacks, self.allocators = clock, stacks, allocators
        self.annotations = []
        self.device = 0
        self.tape = []
        self.grad_enabled = True
        self._workspaces = set()

    def copy_stream(self, device):
        return 0x55D0_8A31_7C40 + device * 0x4F0  # a cudaStream_t is an address

    def log_stream(self, device):
        return self.copy_stream(device) + 0x278

    # Memory.

    def _allocate(self, nbytes, frames, stream=0, device=None):
        device = self.device if device is None else device
        self.clock.tick(9)
        return Tensor(nbytes, device, self.allocators[device].allocate(nbytes, stream, frames))

    def drop(self, *tensors, frames=None):
        """Drop a reference to each. Without `frames`, Python drops it at the current line."""
        for tensor in tensors:
            tensor.references -= 1
            if tensor.references:
                continue
            if tensor.base:
                self.drop(tensor.base, frames=frames)
                continue
            self.clock.tick(2)
            stack = frames if frames is not None else self.stacks.from_python(FREE_FROM_PYTHON)
            self.allocators[tensor.device].free(tensor.block, stack)

    def free_elsewhere(self, tensor, native):
        if tensor.references == 1 and not tensor.base:
            self.drop(tensor, frames=self.stacks.from_engine(native))
        elif tensor.references == 1:
            tensor.references = 0
            self.free_elsewhere(tensor.base, native)
        else:
            tensor.references -= 1

    # Operators called from Python.

    def make(self, operator, nbytes, entry, stream=0, device=None, kind=Tensor):
        """A new tensor with no history: data, parameters, optimizer state."""
        frames = self.stacks.from_python(MALLOC + operator_frames(operator), entry)
        tensor = self._allocate(nbytes, frames, stream, device)
        if kind is not Tensor:
            tensor = kind(nbytes, tensor.device, tensor.block)
        return tensor

    def op(self, operator, nbytes, node=None, saves=(), grads=(), saves_result=False, entry=None, via=(),
           extra=()):
        """Run an operator; `node`, `saves` and `grads` describe its derivative, `via` the composites around it.

        `extra` lists the bytes of further outputs; they are saved for the backward pass.
        """
        native = operator_frames(operator)
        for composite in via:
            native = native + composite_frames(composite)
        entry = entry or "THPVariable_" + (via[-1] if via else operator.partition("_")[0])
        if operator in ("mm", "bmm"):
            dispatch = native[-6 - 2 * len(via):]
            self._ensure_workspace("main", lambda: self.stacks.from_python(MALLOC + WORKSPACE + dispatch, entry))
        frames = self.stacks.from_python(MALLOC + native, entry)
        result = self._allocate(nbytes, frames)
        more = [self._allocate(size, list(frames)) for size in extra]  # torch gathers a stack for each
        if node and self.grad_enabled and any(tensor.needs_grad for tensor, _ in grads):
            saved = [tensor.keep() for tensor in saves] + more
            if saves_result:
                saved.append(result.keep())
            self._record(result, Node(node, self.device, saved, [g for g in grads if g[0].needs_grad]))
        else:
            self.drop(*more)
        return result

    def split(self, tensor, parts):
        """Views of equal size; backward concatenates their gradients in a new tensor."""
        views = [Tensor(tensor.nbytes // parts, tensor.device, base=tensor.keep()) for _ in range(parts)]
        if tensor.needs_grad and self.grad_enabled:
            node = Node("SplitBackward0", self.device, [], [(tensor, [("cat", tensor.nbytes)])], parts)
            self.tape.append(node)
            for index, view in enumerate(views):
                view.producer = (node, index)
        self.drop(tensor)
        return views

    def _record(self, result, node):
        self.tape.append(node)
        result.producer = (node, 0)

    def _ensure_workspace(self, thread, frames):
        # A cuBLAS handle, and with it a workspace, belongs to one thread and one device; it is never given back.
        if (thread, self.device) not in self._workspaces:
            self._workspaces.add((thread, self.device))
            self._allocate(CUBLAS_WORKSPACE, frames())

    # The backward pass.

    def backward(self, loss):
        """`loss.backward()`, called from the current line of Python."""
        with self.stacks.call("backward", TORCH + "_tensor.py", 648, METHOD):
            with self.stacks.call("backward", TORCH + "autograd/__init__.py", 346):
                with self.stacks.call("_make_grads", TORCH + "autograd/__init__.py", 229):
                    root = self.make("ones_like", loss.nbytes, "THPVariable_ones_like")
        node, index = loss.producer
        node.incoming[index] = root
        tape, self.tape = self.tape, []
        for node in reversed(tape):
            if any(grad is not None for grad in node.incoming):
                self._run(node)

    def _run(self, node):
        self.device = node.device
        incoming = [grad for grad in node.incoming if grad is not None]
        node.incoming = []
        results = [(target, self._gradient(node, target, incoming[0], steps)) for target, steps in node.grads]
        for grad in incoming:
            self.free_elsewhere(grad, consume_frames())
        for tensor in node.saved:
            self.free_elsewhere(tensor, release_frames(node.name))
        node.saved = []
        for target, grad in results:
            self._deliver(target, grad)

    def _gradient(self, node, target, incoming, steps):
        if not steps:
            return incoming.keep()
        temporary = None
        for operator, nbytes in steps:
            native = operator_frames(operator)
            if operator in ("mm", "bmm"):
                dispatch = MALLOC + WORKSPACE + native[-6:] + node_frames(node.name)
                self._ensure_workspace("autograd", lambda: self.stacks.from_engine(dispatch))
            frames = self.stacks.from_engine(MALLOC + native + node_frames(node.name))
            grad = self._allocate(nbytes, frames, device=target.device)
            if temporary:
                self.free_elsewhere(temporary, FREE + node_frames(node.name))
            temporary = grad
        return grad

    def _deliver(self, target, grad):
        if isinstance(target, Parameter):
            # AccumulateGrad takes over a gradient that nobody else holds, so it keeps the stack of its operator.
            # To one that is there already it adds in place.
            assert grad.references == 1 and grad.nbytes == target.nbytes
            if target.grad is None:
                target.grad = grad
            else:
                self.free_elsewhere(grad, FREE + accumulate_grad_frames())
            return
        node, index = target.producer
        present = node.incoming[index]
        if present is None:
            node.incoming[index] = grad
        elif present.references == 1:
            self.free_elsewhere(grad, FREE + accumulate_frames())  # added in place
        else:
            frames = self.stacks.from_engine(MALLOC + operator_frames("add_Tensor") + accumulate_frames())
            node.incoming[index] = self._allocate(grad.nbytes, frames)
            self.free_elsewhere(present, FREE + accumulate_frames())
            self.free_elsewhere(grad, FREE + accumulate_frames())

    # Annotations.

    def annotate(self, stage, name):
        self.annotations.append({"stage": stage, "name": name, "device": self.device, "time_us": self.clock.now})
