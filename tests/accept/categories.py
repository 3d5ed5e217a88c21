#!/usr/bin/env python3
"""memsnap's categories agree with the labels that torch's own profiler gave, on captures stripped of them."""
import sys
from types import SimpleNamespace

import captures

sys.path[:0] = [str(captures.TOP / "bench"), str(captures.TOP / "samples")]
import labelled
from recording.capture import add_labels

# The share of bytes x time that has to carry the label: (full, python, none), see bench/README.md.
# "mean" is over all captures, "worst" any one of them.
LEAST = {
    "mean": (0.95, 0.90, 0.80),
    "worst": (0.85, 0.65, 0.45),
}


def problems_of_scorer(path):
    """It must tell right from wrong before anybody believes it."""
    capture = labelled.load(path)
    allocations = labelled.truth(capture)
    right = {item.key: (item.bytes, item.label) for item in allocations}
    if labelled.score(allocations, right).share != 1:
        yield "right answers do not score 1"
    wrong = {key: (size, "communication") for key, (size, _) in right.items()}
    if labelled.score(allocations, wrong).share != 0:
        yield "wrong answers do not score 0"
    heaviest = max((item for item in allocations if item.label), key=lambda item: item.weight)
    one = labelled.score(allocations, right | {heaviest.key: (heaviest.bytes, "unknown")})
    if one.correct != one.labelled - heaviest.weight or one.confusion[heaviest.label, "unknown"] != heaviest.weight:
        yield "one wrong answer costs other than its weight"
    for odd in ({key: right[key] for key in list(right)[1:]}, right | {(1, -1, -1): (1, "unknown")},
                right | {heaviest.key: (heaviest.bytes + 1, heaviest.label)}):
        try:
            labelled.score(allocations, odd)
            yield "another list of allocations is accepted"
        except ValueError:
            pass
    for mode in labelled.MODES:
        bare = labelled.stripped(capture, mode)
        if any(item.label for item in labelled.truth(bare)):
            yield f"{mode}: a label is left"
        if bare["device_traces"] == capture["device_traces"]:
            yield f"{mode}: nothing was taken out"


def problems_of_joining(whole, late):
    """Labels can be put back into a dump, also into one whose recording began later."""
    events = labelled.only_trace(labelled.load(whole))[1]
    uses = [SimpleNamespace(pointer=event["addr"], label=event.get("category"),
                            bytes=event["size"] if event["action"] == "alloc" else -event["size"])
            for event in events if event["action"] in ("alloc", "free_completed")]
    for path in (whole, late):
        capture = labelled.load(path)
        bare = labelled.stripped(capture, "full")
        add_labels(bare, labelled.only_trace(capture)[0], uses)
        if bare != capture:
            yield f"{path.name}: other labels than were taken out"


def problems_of_scores(name, shares):
    for mode, least, share in zip(labelled.MODES, LEAST[name], shares):
        print(f"{name}, {mode}: {share:.1%}, at least {least:.1%}")
        if share < least:
            yield f"{mode}: {share:.2%} of bytes x time, less than {least:.2%}"


def main():
    tally = captures.Tally()
    paths = sorted((captures.TOP / "samples" / "labelled").glob("*.pickle.gz"))
    for path in paths:
        tally.check(f"scorer on {path.name}", problems_of_scorer(path))
        late = path.with_name(path.name.replace(".pickle", "-late.pickle"))
        if late in paths:
            tally.check(f"joining {path.name}", problems_of_joining(path, late))
    scores = labelled.measure(captures.MEMSNAP, paths)
    shares = {path.name.removesuffix(".pickle.gz"): [] for path in paths}
    for (name, _), score in scores.items():
        shares[name].append(score.share)
    columns = list(zip(*shares.values()))
    tally.check("mean", problems_of_scores("mean", [sum(column) / len(column) for column in columns]))
    tally.check("worst", problems_of_scores("worst", [min(column) for column in columns]))
    tally.end()


if __name__ == "__main__":
    main()
