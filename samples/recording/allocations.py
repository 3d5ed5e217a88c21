"""The memory events of a torch profile: every allocation and free in order, with its label and origin."""
from collections import defaultdict
from dataclasses import dataclass

from torch._C._profiler import RecordScope, _EventType
from torch.profiler._memory_profiler import Action, TensorKey

BEGIN_MARK, END_MARK = "memsnap: recording begins", "memsnap: recording ends"


@dataclass
class Use:
    """One allocation (bytes > 0) or free (bytes < 0)."""
    time_ns: int
    pointer: int
    bytes: int
    path: list          # the events around it, innermost first
    label: str | None   # of an allocation; None where the profiler has none
    changing: bool      # the label was not the same all along


def events_in_order(results):
    """(event, events around it innermost first), in the order of time."""
    found = []
    stack = [(root, ()) for root in results.experimental_event_tree()]
    while stack:
        event, around = stack.pop()
        found.append((event, around))
        inner = (event, around)
        stack.extend((child, inner) for child in event.children)
    found.sort(key=lambda pair: pair[0].start_time_ns)
    return found


def unlink(around):
    path = []
    while around:
        event, around = around
        path.append(event)
    return path


def longest(spans):
    """The label that an allocation carried for the longest time, and whether there was another."""
    weight = defaultdict(int)
    for label, duration in spans:
        weight[label] += max(duration, 1)
    return max(weight, key=lambda label: (weight[label], label or "")), len(weight) > 1


def labels_by_tensor(memory_profile, end_ns):
    """TensorKey -> (label, changing). The profiler labels every version of a tensor; a block has only one label."""
    spans, since = defaultdict(list), {}
    for time_ns, action, (key, version), _ in memory_profile.timeline:
        if not isinstance(key, TensorKey):
            continue
        if key in since:
            begin, label = since.pop(key)
            spans[key].append((label, time_ns - begin))
        if action != Action.DESTROY:
            # An increment names the version it replaces.
            current = version + 1 if action == Action.INCREMENT_VERSION else version
            category = memory_profile._categories.get(key, current)
            since[key] = (time_ns, category.name.lower() if category else None)
    for key, (begin, label) in since.items():
        spans[key].append((label, end_ns - begin))
    return {key: longest(rows) for key, rows in spans.items()}


def told_label(path, told):
    """The label that the program itself gives: told[Python function][outermost operator in it], else None."""
    operator = None
    for event in path:
        if event.tag == _EventType.TorchOp:
            operator = event.name
        elif event.tag == _EventType.PyCall and event.extra_fields.callsite.function_name in told:
            return told[event.extra_fields.callsite.function_name].get(operator)
    return None


def memory_uses(profiler, device_type, told):
    """(uses in order, annotations as (name, begin ns, end ns), when a recording that begins late begins)."""
    memory_profile = profiler._memory_profile()
    ordered = events_in_order(profiler.profiler.kineto_results)
    end_ns = max(event.start_time_ns for event, _ in ordered)
    labels = labels_by_tensor(memory_profile, end_ns)
    uses, annotations, begin = [], [], None
    for event, around in ordered:
        fields = event.extra_fields
        if event.tag == _EventType.Allocation and fields.device.type == device_type:
            key = TensorKey.from_allocation(fields)
            label, changing = labels.get(key, (None, False)) if key else (None, False)
            path = unlink(around)
            label = told_label(path, told) or label
            uses.append(Use(event.start_time_ns, fields.ptr, fields.alloc_size, path, label, changing))
        elif event.tag == _EventType.TorchOp and fields.scope == RecordScope.USER_SCOPE:
            if event.name == END_MARK:
                break
            if event.name == BEGIN_MARK:
                begin = event.start_time_ns
            else:
                annotations.append((event.name, event.start_time_ns, event.end_time_ns))
    return uses, annotations, begin
