"""What conditions.py and values.py of the folder src/dryrun decide without values: conditions.py FOLDER."""
import sys
import types

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import conditions
import values


class Tensor:
    """A tensor of the GPU that reads as false."""
    is_cuda = True

    def __bool__(self):
        return False

    def item(self):
        return False

    def all(self):
        return self


    def __float__(self):
        return 0.0


class torch:
    Tensor = Tensor


conditions.install(torch)
x = Tensor()


def asserted():
    assert x.all(), "no message"
    assert x.all().item(), f"{x} is {x!r}"
    assert x and x.all()
    assert x or x
    assert not x
    assert (
        x.all().item()
    ), "on several lines"
    assert bool(x.all())


def refused():
    if not x.all():
        raise ValueError("not all of %s" % x)
    if not x.item():
        raise ValueError(f"{x!r} and {1 + len(sys.argv)}")
    if x.item() or not x.all():
        raise ValueError
    if x.all():
        return
    else:
        raise RuntimeError


def unknown():
    """Both ways are possible: zeros are false, as ever."""
    found = [1 for _ in range(2) if x]
    while not x:
        found.append(2)
        if len(found) > 3:
            break
    if x:
        found.append(3)
    return found, x.item(), x.item() or 5, 4 if x else 6


asserted()
refused()
assert unknown() == ([2, 2, 2, 2], False, 5, 6)


for is_tracing in False, True:
    masking = types.SimpleNamespace(find_packed_sequence_indices=lambda ids: ids, is_tracing=lambda _ids: is_tracing)
    values.skip_packing(masking)
    assert masking.find_packed_sequence_indices(7) == (7 if is_tracing else None)
values.skip_packing(types.ModuleType("an_earlier_version"))


def divided():
    """A number by which the program divides is one. Others are zeros, as ever."""
    return 3.0 / float(x), 5.0 // float(x), float(x), float(x) / 2, 3 * float(x)


assert divided() == (3.0, 5.0, 0.0, 0.0, 0.0)


def number_of_steps(value):
    """torch.optim divides by what it computes from the number of a state's steps. Elsewhere, that function is another one."""
    return value.item()


class Number(Tensor):
    def item(self):
        return 0.0


read = conditions.reads_steps
code = number_of_steps.__code__.replace(co_name="_get_value", co_filename="/venv/site-packages/torch/optim/optimizer.py")
assert read(code) and not read(number_of_steps.__code__)
assert not read(code.replace(co_filename="/home/u/optimizer.py")) and not read(code.replace(co_name="step"))
number_of_steps.__code__ = code
Tensor.item = Number.item
conditions.install(torch)
assert number_of_steps(x) == 1.0 and x.item() == 0.0


def fails():
    Tensor.is_cuda = False
    assert x.all(), "a value of the host is known"


try:
    fails()
except AssertionError as error:
    assert str(error) == "a value of the host is known"
    print("all is right")
