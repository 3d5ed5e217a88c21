#!/usr/bin/env python3
"""memsnap's categories agree with the labels of torch's own profiler, and of programs that know their tensors."""
import sys
from types import SimpleNamespace

import captures

sys.path[:0] = [str(captures.TOP / "bench"), str(captures.TOP / "samples")]
import labelled
from recording.capture import add_labels

# The least share that has to carry the label, by folder and measure: (full, python, none, bare), see bench/README.md.
# Without C++ frames, memsnap may know nothing of a short run.
# "mean" is over all captures, "worst" any one of them.
LEAST = {
    "labelled": {"time": {"mean": (0.98, 0.97, 0.94, 0.87), "worst": (0.95, 0.95, 0.80, 0.42)},
                 "peak": {"mean": (0.95, 0.95, 0.80, 0.90), "worst": (0.95, 0.95, 0.35, 0.35)}},
    "recorded": {"time": {"mean": (0.99, 0.98, 0.95, 0.84), "worst": (0.90, 0.85, 0.70)},
                 "peak": {"mean": (0.97, 0.95, 0.82, 0.86), "worst": (0.65,)}},
}


def problems_of_scorer(path):
    """It must tell right from wrong before anybody believes it."""
    capture = labelled.load(path)
    beside = labelled.truth_beside(path)
    allocations = labelled.truth(capture, beside)
    right = {item.key: (item.bytes, item.right[0] if item.label else "unknown", "high", "why") for item in allocations}
    for measure, share in shares(labelled.score(allocations, right)).items():
        if share != 1:
            yield f"{measure}: right answers score {share}"
    wrong = {key: (size, "nonsense", "low", "why") for key, (size, *_) in right.items()}
    for measure, share in shares(labelled.score(allocations, wrong)).items():
        if share != 0:
            yield f"{measure}: wrong answers score {share}"
    for measure in labelled.MEASURES:
        heaviest = max((item for item in allocations if item.label), key=lambda item: item.weights[measure])
        one = labelled.score(allocations, right | {heaviest.key: (heaviest.bytes, "nonsense", "low", "why")})[measure]
        weight = heaviest.weights[measure]
        if (one.correct != one.labelled - weight or one.confusion[heaviest.label, "nonsense"] != weight
                or one.by_confidence["low"] != [0, weight] or one.by_reason["why", "low"] != [0, weight]):
            yield f"{measure}: one wrong answer costs other than its weight"
    for odd in ({key: right[key] for key in list(right)[1:]}, right | {(0, 1, -1, -1): (1, "unknown", "low", "why")},
                right | {heaviest.key: (heaviest.bytes + 1, heaviest.label, "high", "why")}):
        try:
            labelled.score(allocations, odd)
            yield "another list of allocations is accepted"
        except ValueError:
            pass
    for mode in labelled.MODES:
        bare = labelled.stripped(capture, mode)
        if any(item.label for item in labelled.truth(bare)):
            yield f"{mode}: a label is left"
        if bare["device_traces"] == capture["device_traces"] and not (beside and mode == "full"):
            yield f"{mode}: nothing was taken out"


def shares(score):
    return {measure: measured.share for measure, measured in score.items()}


def only_trace(capture):
    """(device, events) of the only device in a labelled capture."""
    (one,) = [(device, trace) for device, trace in enumerate(capture["device_traces"]) if trace]
    return one


def problems_of_joining(whole, late):
    """Labels can be put back into a dump, also into one whose recording began later."""
    events = only_trace(labelled.load(whole))[1]
    uses = [SimpleNamespace(pointer=event["addr"], label=event.get("category"),
                            bytes=event["size"] if event["action"] == "alloc" else -event["size"])
            for event in events if event["action"] in ("alloc", "free_completed")]
    for path in (whole, late):
        capture = labelled.load(path)
        bare = labelled.stripped(capture, "full")
        add_labels(bare, only_trace(capture)[0], uses)
        if bare != capture:
            yield f"{path.name}: other labels than were taken out"


def problems_of_peak(path):
    """The peak that the bytes are counted at is memsnap's."""
    report = captures.report(path)
    for entry in report["devices"]:
        allocations = [item for item in labelled.truth(labelled.load(path), labelled.truth_beside(path))
                       if item.device == entry["device"]]
        if allocations and sum(item.weights["peak"] for item in allocations) != entry["active"]["peak_bytes"]:
            yield f"device {entry['device']}: {sum(item.weights['peak'] for item in allocations)} bytes at the peak"


def problems_of_scores(least, values):
    for mode, limit, share in zip(labelled.MODES, least, values):
        print(f"    {mode}: {share:.1%}, at least {limit:.1%}")
        if share < limit:
            yield f"{mode}: {share:.2%}, less than {limit:.2%}"


def check_folder(tally, folder, least):
    paths = captures.some(sorted((captures.TOP / "samples" / folder).glob("*.pickle.gz")))
    for path in paths:
        tally.check(f"scorer on {path.name}", problems_of_scorer(path))
        tally.check(f"peak of {path.name}", problems_of_peak(path))
        late = path.with_name(path.name.replace(".pickle", "-late.pickle"))
        if late in paths:
            tally.check(f"joining {path.name}", problems_of_joining(path, late))
    if captures.SHARE > 1:  # the limits are those of all captures together
        return
    scores = labelled.measure(captures.MEMSNAP, paths)
    for measure, limits in least.items():
        columns = [[both[measure].share for (_, other), both in scores.items() if other == mode]
                   for mode in labelled.MODES]
        for name, of in (("mean", lambda column: sum(column) / len(column)), ("worst", min)):
            print(f"{folder}, {measure}, {name}:")
            values = [of(column) for column in columns]
            tally.check(f"{folder}, {measure}, {name}", problems_of_scores(limits[name], values))


def main():
    tally = captures.Tally()
    for folder, least in LEAST.items():
        check_folder(tally, folder, least)
    tally.end()


if __name__ == "__main__":
    main()
