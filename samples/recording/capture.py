"""Labelled snapshots: a profile replayed on a model of PyTorch's allocator, or a real dump with labels added."""
from collections import defaultdict

from allocator import Clock, DeviceAllocator, settings

GIB = 1 << 30
LABELLED = ("alloc", "free_requested", "free_completed")


class ProfileClock(Clock):
    """Shows the time of the profile; the durations of the model are ignored."""

    def tick(self, about):
        pass


class LabelledAllocator(DeviceAllocator):
    """Writes the label of the use that is being replayed into its events."""

    label = None

    def _event(self, action, *rest):
        super()._event(action, *rest)
        if self.record and self.label and action in LABELLED:
            self._trace[-1]["category"] = self.label


def annotation_entries(annotations, begin_us):
    entries = []
    for name, begin, end in annotations:
        for stage, time_us in (("START", begin // 1000), ("END", end // 1000)):
            if time_us >= begin_us:
                entries.append({"stage": stage, "name": name, "device": 0, "time_us": time_us})
    return sorted(entries, key=lambda entry: entry["time_us"])


def snapshot(uses, annotations, frames_of, begin_ns=0):
    """The dump of a recording that began at begin_ns. Every label is under the key `category`.

    Memory allocated before the profile is not included: on a machine without an accelerator, it is memory that a
    program with one keeps on the host. frames_of(use) gives a use's frames, or None if none were recorded.
    """
    clock = ProfileClock()
    allocator = LabelledAllocator(0, clock, 64 * GIB, record=begin_ns == 0)
    live = {}
    for use in uses:
        allocator.record = use.time_ns >= begin_ns
        frames = frames_of(use) if allocator.record else None
        clock.now = use.time_ns // 1000
        if use.bytes > 0:
            allocator.label = use.label
            live[use.pointer] = (allocator.allocate(use.bytes, 0, frames), use.label)
        elif use.pointer in live:
            block, allocator.label = live.pop(use.pointer)
            allocator.free(block, frames)
    segments = allocator.snapshot()
    labels = {block.address: label for block, label in live.values()}
    for segment in segments:
        for block in segment["blocks"]:
            if block["state"] != "inactive" and labels[block["address"]]:
                block["category"] = labels[block["address"]]
    return {"segments": segments,
            "device_traces": [[event for event in allocator.trace() if event["action"] != "snapshot"]],
            "allocator_settings": settings(False, None, False, True),
            "external_annotations": annotation_entries(annotations, begin_ns // 1000)}


def add_labels(capture, device, uses):
    """Writes the labels of a profile into the dump of a recording that ended with it, whenever that began.

    Allocations at an address are matched from the last one back, since the profile may have more early ones.
    """
    labels = defaultdict(list)
    for use in uses:
        if use.bytes > 0:
            labels[use.pointer].append(use.label)
    rows = defaultdict(list)  # address -> what the dump says of each allocation there
    live = set()
    for event in capture["device_traces"][device]:
        if event["action"] not in LABELLED:
            continue
        address = event["addr"]
        if event["action"] == "alloc" or not rows[address]:
            rows[address].append([])
        rows[address][-1].append(event)
        (live.add if event["action"] == "alloc" else live.discard)(address)
    for segment in capture["segments"]:
        for block in segment["blocks"] if segment["device"] == device else ():
            if block["state"] != "inactive":
                if block["address"] not in live and not rows[block["address"]]:
                    rows[block["address"]].append([])
                rows[block["address"]][-1].append(block)
    for address, allocations in rows.items():
        for label, parts in zip(reversed(labels[address]), reversed(allocations)):
            for part in parts if label else ():
                part["category"] = label
