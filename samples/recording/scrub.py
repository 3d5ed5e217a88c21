"""Makes the dump of a dry run the same on every machine: paths, times and identity of objects."""
import gzip
import pickle
import sys

START_US = 1_700_000_000_000_000
TICK_US = 10  # from one event or annotation to the next: a dry run has no meaningful times
FIRST_STREAM, STREAM_SIZE = 0x5555_5555_0000, 0x100
PACKAGES = "/usr/lib/python3/dist-packages"
LIBRARY = "/usr/lib/python3.11"
COMPILED = "/tmp/torchinductor_user"
USER = "/home/user/train"


class Paths:
    def __init__(self, programs, known):
        """programs: the folder of the sample programs; known: what truth.py says of the Python that ran one."""
        self._places = [(str(programs), USER), (known["packages"], PACKAGES), (known["library"], LIBRARY),
                        (str(programs.parents[1] / "share/record"), PACKAGES),
                        *((prefix, "/usr") for prefix in known["prefixes"])]
        self._compiled = known["compiled"] + "/"
        self._known = {}

    def neutral(self, name):
        if name not in self._known:
            self._known[name] = self._new(name)
        return self._known[name]

    def _new(self, name):
        if name.startswith(self._compiled):  # the compiler's names contain a hash of this machine
            return f"{COMPILED}/graph{sum(old.startswith(self._compiled) for old in self._known) + 1}.py"
        for place, new in self._places:
            if name.startswith(place + "/"):
                return new + name[len(place):]
        return name


class Stacks:
    """Equal frames and stacks become the same objects, so that a pickle holds each once."""

    def __init__(self, paths):
        self._paths, self._frames, self._stacks, self._done = paths, {}, {}, {}

    def frame(self, frame):
        new = frame | {"filename": self._paths.neutral(frame["filename"])}
        return self._frames.setdefault(tuple(sorted(new.items())), new)

    def stack(self, frames):
        if id(frames) not in self._done:
            kept = [self.frame(frame) for frame in frames if not frame["filename"].endswith("/programs/truth.py")]
            # frames stay referenced: an id must not come back
            self._done[id(frames)] = frames, self._stacks.setdefault(tuple(map(id, kept)), kept)
        return self._done[id(frames)][1]


def events(capture):
    """Those of all devices; those of the host are in one list, not in one for each device."""
    return [row for trace in capture["device_traces"] for row in trace] + capture.get("host_traces", [])


def scrub_times(capture):
    """Times in order, whatever the machine's speed."""
    rows = events(capture) + capture.get("external_annotations", [])
    for number, row in enumerate(sorted(rows, key=lambda row: row["time_us"])):
        row["time_us"] = START_US + TICK_US * number


def scrub_streams(capture):
    """A stream is a pointer, other than the default one, 0."""
    known = {0: 0}
    for row in (row for trace in capture["device_traces"] for row in trace):
        row["stream"] = known.setdefault(row["stream"], FIRST_STREAM + STREAM_SIZE * len(known))
    for segment in capture["segments"]:
        segment["stream"] = known.setdefault(segment["stream"], FIRST_STREAM + STREAM_SIZE * len(known))


def scrub(capture, paths):
    scrub_times(capture)
    scrub_streams(capture)
    stacks = Stacks(paths)
    segments = capture["segments"] + capture.get("host_segments", [])
    blocks = [block for segment in segments for block in segment["blocks"]]
    for row in events(capture) + blocks + capture["segments"]:
        for key in ("frames", "forward_frames"):
            if key in row:
                row[key] = stacks.stack(row[key])
    return capture


def shared(value, known):
    """The value with equal texts as one object and integers as they are."""
    if isinstance(value, str):
        return sys.intern(value)
    if isinstance(value, (list, dict)) and id(value) in known:
        return known[id(value)]
    if isinstance(value, dict):
        known[id(value)] = {sys.intern(key): shared(part, known) for key, part in value.items()}
        return known[id(value)]
    if isinstance(value, list):
        known[id(value)] = [shared(part, known) for part in value]
        return known[id(value)]
    if isinstance(value, tuple):
        return tuple(shared(part, known) for part in value)
    return value


def packed(data):
    return gzip.compress(data, 9, mtime=0)


def pickled(capture):
    return packed(pickle.dumps(shared(capture, {}), protocol=4))
