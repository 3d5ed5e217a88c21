"""Conditions that depend on values that the GPU did not compute.

Where one branch of a condition only raises an error, as that of an assert does, the program goes on with the other one.
A number by which the program divides is not zero.
"""
import dis
import functools
import sys

FARTHEST = 40  # instructions that make an error and its message


def raises(instructions, at):
    """True if an error is raised there, whatever the values are."""
    for instruction in instructions[at:at + FARTHEST]:
        if instruction.opname == "RAISE_VARARGS":
            return True
        if "JUMP" in instruction.opname or instruction.opname.startswith(("RETURN", "FOR_ITER", "YIELD", "SEND")):
            return False
    return False


@functools.lru_cache(maxsize=None)
def value_without_error(code, offset):
    """The value that the instruction at that offset of the code has to make of a condition, or None if any will do."""
    instructions = list(dis.get_instructions(code))
    places = {instruction.offset: at for at, instruction in enumerate(instructions)}
    # of a call, the offset may be within its cache
    at, is_inverse = max((place for start, place in places.items() if start <= offset), default=0), False
    if "JUMP" not in instructions[at].opname:
        at += 1  # what reads the value
    while at < len(instructions) and instructions[at].opname in ("CALL", "TO_BOOL", "UNARY_NOT"):
        is_inverse ^= instructions[at].opname == "UNARY_NOT"
        at += 1
    if at >= len(instructions) or not instructions[at].opname.endswith(("JUMP_IF_TRUE", "JUMP_FORWARD_IF_TRUE", "JUMP_IF_FALSE",
                                                                        "JUMP_FORWARD_IF_FALSE")):
        return None
    ends = [raises(instructions, place) for place in (at + 1, places.get(instructions[at].argval, len(instructions)))]
    if ends[0] == ends[1]:
        return None
    jumps_if = instructions[at].opname.endswith("TRUE")
    return (jumps_if if ends[0] else not jumps_if) != is_inverse


@functools.lru_cache(maxsize=None)
def is_divisor(code, offset):
    """True if the program divides by what the instruction at that offset of the code reads, as by float(count)."""
    instructions = list(dis.get_instructions(code))
    at = max((place for place, instruction in enumerate(instructions) if instruction.offset <= offset), default=0) + 1
    while at < len(instructions) and instructions[at].opname in ("CALL", "PRECALL", "CACHE"):
        at += 1
    if at >= len(instructions):
        return False
    name = instructions[at].argrepr if instructions[at].opname == "BINARY_OP" else instructions[at].opname
    return name in ("/", "//", "%", "BINARY_TRUE_DIVIDE", "BINARY_FLOOR_DIVIDE", "BINARY_MODULO")  # the latter up to Python 3.10


def reads_steps(code):
    """True for torch.optim's function that reads how many steps a state has made, by which it corrects the bias: 0 makes it
    divide by zero. The number is on the GPU where the state was loaded to it.
    """
    return code.co_name == "_get_value" and code.co_filename.replace("\\", "/").endswith("torch/optim/optimizer.py")


def install(torch):
    read, read_item, read_float = torch.Tensor.__bool__, torch.Tensor.item, torch.Tensor.__float__

    def chosen(tensor, value):
        if not tensor.is_cuda:
            return value
        frame = sys._getframe(2)
        wanted = value_without_error(frame.f_code, frame.f_lasti)
        return value if wanted is None else wanted

    def __bool__(self):
        return chosen(self, read(self))

    def divisor(tensor, value):
        """Counts, such as those of batches, are zeros on the GPU. A division by zero would end the program."""
        if value != 0 or not tensor.is_cuda:
            return value
        frame = sys._getframe(2)
        return type(value)(1) if is_divisor(frame.f_code, frame.f_lasti) or reads_steps(frame.f_code) else value

    def item(self):
        value = read_item(self)
        return chosen(self, value) if isinstance(value, bool) else divisor(self, value)

    def __float__(self):
        return divisor(self, read_float(self))

    torch.Tensor.__bool__, torch.Tensor.item, torch.Tensor.__float__ = __bool__, item, __float__
