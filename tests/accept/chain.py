#!/usr/bin/env python3
"""The layers that `memsnap suggest` reads off snapshots, against the traces themselves and against the
categories of `memsnap analyze`: what they keep, where they lie, and what they promise."""
import json
import subprocess

import captures
import reference

NOTHING = {1, 3}  # statuses: nothing to checkpoint, nothing to tell layers by


def suggest(path, *arguments):
    """The JSON answer, None where there is nothing to answer."""
    done = subprocess.run([captures.MEMSNAP, "suggest", "--format", "json", *map(str, arguments), str(path)],
                          capture_output=True, check=False)
    if done.returncode in NOTHING and not done.stdout:
        if done.stderr.count(b"\n") != 1:
            raise AssertionError(f"{path}: {done.stderr.decode(errors='replace')}")
        return None
    if done.returncode != 0:
        raise AssertionError(f"{path}: status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def kept_by(path, answer):
    """(event, bytes) of the activations that the pass keeps, by analyze's categories."""
    entry = next(entry for entry in captures.report(path, "--allocations", "--top", 0)["devices"]
                 if entry["device"] == answer["device"])
    first, backward = answer["first_event"], answer["backward_event"]
    for allocation in entry["allocations"]:
        born, freed = allocation.get("born_event", -1), allocation.get("freed_event", -1)
        if allocation["category"] in ("activation", "cast_cache") and first <= born < backward and \
                (freed < 0 or freed >= backward):
            yield born, allocation["bytes"]


def element_problems(path, answer):
    elements, kept = answer["elements"], list(kept_by(path, answer))
    if sum(size for _, size in kept) != answer["activation_bytes"]:
        yield f"keeps {answer['activation_bytes']}, by category {sum(size for _, size in kept)}"
    starts = [element["first_event"] for element in elements] + [answer["backward_event"]]
    if starts != sorted(set(starts)) or starts[0] != answer["first_event"]:
        yield f"elements begin at {starts[:5]} ..."
    for element, start, end in zip(elements, starts, starts[1:]):
        own = [size for born, size in kept if start <= born < end]
        want = {"activation_bytes": sum(own), "activations": len(own)}
        yield from reference.differences(want, element, element["parts"][0])
    names = [name for element in elements for name in element["parts"]]
    if len(names) != len(set(names)):
        yield "two parts have the same name"


def peak_problems(answer):
    """Without checkpoints the chain peaks at what its parts say, and no less than at what it keeps."""
    kept, most, below = 0, 0, 0
    for element in answer["elements"]:
        stays = 0 if element["output_passes"] else element["output_bytes"]
        kept += max(element["activation_bytes"], stays)
        most = max(most, kept + element["forward_extra_bytes"],
                   kept + element["output_bytes"] + element["backward_extra_bytes"])
        below += element["activation_bytes"]
    if most != answer["no_checkpoint_peak_bytes"] or most < below:
        yield f"peaks at {answer['no_checkpoint_peak_bytes']}, by its elements at {most}"


def problems_of(path):
    answer, whole = suggest(path), set()
    if answer is None:
        return
    function = answer["elements"][0]["parts"][0].split(" [")[0].split()[-1]
    for level in (None, "1", "3", "leaf", "*" + function):
        if level:
            answer = suggest(path, "--granularity", level)
        whole.add(answer["activation_bytes"])
        yield from element_problems(path, answer)
        yield from peak_problems(answer)
    if len(whole) != 1:
        yield f"what is kept depends on the granularity: {whole}"


def calls_of(trace, function):
    """How often it ran, by stretches of allocations within it."""
    calls, inside = 0, False
    for event in trace:
        if event["action"] != "alloc":
            continue
        now = any(frame["name"] == function for frame in event.get("frames") or [])
        calls += now and not inside
        inside = now
    return calls


def block_problems(path):
    """Transformers: one element a block, of which each has one softmax."""
    answer = suggest(path)
    trace = reference.load(path)["device_traces"][answer["device"]]
    blocks = [element for element in answer["elements"] if element["parts"][0].endswith("]")]
    calls = calls_of(trace, "softmax")
    if len(blocks) != calls or any(len(block["parts"]) != 1 for block in blocks):
        yield f"{len(blocks)} blocks, {calls} calls of softmax"
    if len({block["activation_bytes"] for block in blocks}) != 1:
        yield "blocks differ"
    if any(block["output_from"] != "repeats" for block in blocks):
        yield "a block's output is not that of the others"
    if not 0 < len(answer["elements"]) - len(blocks) <= 5:
        yield f"{len(answer['elements']) - len(blocks)} layers before and behind"


def flat(part):
    return sum(map(flat, part), []) if isinstance(part, list) else [part]


def python_problems(path):
    """The Python must be some, and go through every iteration of its loop once, in order, or name calls of modules,
    each once."""
    for budget in (("--budget", "70%"), ("--budget", "30%"), ("--model", "rotor", "--budget", "9%")):
        done = subprocess.run([captures.MEMSNAP, "suggest", *budget, str(path)], capture_output=True,
                              check=False, text=True)
        lines = done.stdout.split("\n")
        if done.returncode != 0 or "# " not in done.stdout:
            yield f"{budget}: status {done.returncode}, no Python"
            continue
        first = next(i for i, line in enumerate(lines) if line.startswith("# "))
        end = lines.index("Memory of each layer")
        code = "\n".join(lines[first:end])
        compile(code, str(path), "exec")
        for block in code.split("\nplan = [")[1:]:
            scope = {}
            exec("plan = [" + block[:block.index("\n]") + 2], scope)  # pylint: disable=exec-used
            plan = flat(scope["plan"])
            if isinstance(plan[0], str) and len(set(plan)) == len(plan):
                continue
            if plan != list(range(len(plan))):
                yield f"{budget}: the plan is {scope['plan']}"


def curve_problems(path):
    """A pass that begins with the trace, at its peak: the chain's peak is the trace's."""
    answer = suggest(path)
    active = captures.report(path)["devices"][0]["active"]
    want = active["peak_bytes"] - active["baseline_bytes"]
    if answer["no_checkpoint_peak_bytes"] != want:
        yield f"peaks at {answer['no_checkpoint_peak_bytes']}, the trace at {want}"


def need_of_a_block(name):
    """What the backward of a block takes with all it keeps or computes again, in bytes."""
    answer = suggest(captures.TOP / "samples" / "labelled" / name)
    block = next(element for element in answer["elements"] if element["parts"][0].endswith("[1]"))
    return block["activation_bytes"] + block["backward_extra_bytes"], block["checkpointed"]


def promise_problems():
    """Runs of the same blocks, recorded without checkpoints and with: what the first lets expect of a
    checkpointed block is what the second takes, but for the random numbers' state that is kept, too."""
    (expected, kept), (taken, wrapped) = map(need_of_a_block, ("transformer-adamw.pickle.gz",
                                                               "checkpointed-adamw.pickle.gz"))
    if kept or not wrapped or not 0 <= taken - expected < 10000:
        yield f"a checkpointed block should take {expected} bytes, and takes {taken}"


def main():
    tally = captures.Tally()
    labelled = sorted((captures.TOP / "samples" / "labelled").glob("*.pickle.gz"))
    for path in captures.samples() + labelled + captures.corpus():
        tally.check(path.name, problems_of(path))
    for path in captures.corpus("train-step.pickle") + captures.corpus("full-step-large.pickle"):
        tally.check(path.name + " (blocks)", block_problems(path))
        tally.check(path.name + " (Python)", python_problems(path))
    for path in captures.corpus("train-step.pickle"):
        tally.check(path.name + " (curve)", curve_problems(path))
    tally.check("promise", promise_problems())
    tally.end()


if __name__ == "__main__":
    main()
