"""What torch 2.15 adds to a snapshot: forward frames, annotated tensors, pinned host memory."""
import re

PAGE = 1 << 20


def python_frames(frames):
    return [frame for frame in frames if frame["filename"].endswith(".py")]


def formatted(frames):
    """The frames as traceback.format_stack() writes them: outermost first, with a line of source."""
    return [f'  File "{frame["filename"]}", line {frame["line"]}, in {frame["name"]}\n    self.{frame["name"]}(x)\n'
            for frame in reversed(python_frames(frames))]


def is_forward(event):
    own = [frame for frame in python_frames(event["frames"]) if "/torch/" not in frame["filename"]]
    return event["action"] == "alloc" and bool(own) and own[0]["filename"].endswith("model.py")


def is_backward(thing):
    return any("torch::autograd::Engine" in frame["name"] for frame in thing.get("frames", []))


def add_forward_frames(data):
    """Autograd's anomaly mode: each node of the backward pass knows where the forward pass made it."""
    for trace in data["device_traces"]:
        made, by_address = [], {}
        for event in trace:
            if is_forward(event):
                made.append(event["frames"])
            elif is_backward(event) and made:
                node = next((frame["name"] for frame in event["frames"] if "Backward" in frame["name"]), "")
                which = sum(map(ord, re.sub("<.*", "", node))) % len(made)
                event["forward_frames"] = formatted(made[which])
                if event["action"] == "alloc":
                    by_address[event["addr"]] = event
        for segment in data["segments"]:
            for block in segment["blocks"]:
                event = by_address.get(block["address"])
                if event and block["state"] == "active_allocated" and block["frames"] == event["frames"]:
                    block["forward_frames"] = list(event["forward_frames"])


def annotate_parameters(data):
    """torch.cuda.memory._annotate_tensor(parameter, name), after the model was built."""
    for trace in data["device_traces"]:
        first = next((i for i, event in enumerate(trace) if event["action"] == "free_requested"), len(trace))
        allocs = [event for event in trace[:first] if event["action"] == "alloc"]
        trace[first:first] = [
            {"action": "annotate", "addr": event["addr"], "size": event["size"], "stream": event["stream"],
             "time_us": trace[first - 1]["time_us"], "compile_context": "N/A",
             "user_metadata": f"parameter {number}", "frames": []}
            for number, event in enumerate(allocs[:4])]


def add_host_memory(data):
    """A batch in pinned memory for each step, whose block is reused."""
    trace, frames, address, size = data["device_traces"][0], None, 0x7F0000000000, PAGE
    frames = next(event["frames"] for event in trace if event["frames"])
    times = [trace[len(trace) * k // 4]["time_us"] for k in range(3)]

    def event(action, time):
        return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time,
                "compile_context": "", "user_metadata": "", "frames": frames}

    host = [event("segment_alloc", times[0])]
    for time in times:
        host += [event("alloc", time), event("free_requested", time + 50), event("free_completed", time + 90)]
    data["host_traces"] = host[:-1]
    data["host_segments"] = [{
        "device": -1, "address": address, "total_size": size, "allocated_size": 0, "active_size": size,
        "requested_size": size, "stream": 0, "segment_type": "small", "segment_pool_id": (0, 0),
        "is_expandable": False, "frames": frames,
        "blocks": [{"address": address, "size": size, "requested_size": size, "state": "active_pending_free",
                    "frames": frames}]}]
