"""What depends on values that the GPU did not compute: who read them, and loops that would not end."""
import linecache
import os
import sys
import sysconfig
import threading

TEXT_SIZE = 60   # of a line of source
SHOWN = 3        # lines of the program
RECORDER = "memsnap_record.py"  # lies wherever the user has put it


def times(count):
    return "%d time%s" % (count, "" if count == 1 else "s")


class Reads:
    """Counts by line of the program how often values were read that are not known."""

    def __init__(self, library_folder):
        # of packages beside torch, Python's own, and those of the dry run
        folders = [library_folder, sysconfig.get_path("stdlib"), os.path.dirname(os.path.abspath(__file__))]
        self.others = tuple(folder + os.sep for folder in folders) + ("<frozen ",)
        self.counts = {}

    def is_program(self, name):
        return not name.startswith(self.others) and os.path.basename(name) != RECORDER

    def __call__(self):
        frame = sys._getframe().f_back  # none in PyTorch's own threads
        innermost, scales = frame, False
        while frame:
            name = frame.f_code.co_filename
            scales = scales or name.endswith(("torch/amp/grad_scaler.py", "torch/cuda/amp/grad_scaler.py"))
            if self.is_program(name):
                break
            frame = frame.f_back
        frame = frame or innermost
        where = (frame.f_code.co_filename, frame.f_lineno, scales) if frame else None
        self.counts[where] = self.counts.get(where, 0) + 1

    def text(self):
        """Lines of a count and a place, the largest count first."""
        lines = []
        for where, count in sorted(self.counts.items(), key=lambda item: -item[1])[:SHOWN]:
            if where is None:
                lines.append("%s in a thread of PyTorch\n" % times(count))
                continue
            name, number, scales = where
            source = " ".join(linecache.getline(name, number).split())
            if len(source) > TEXT_SIZE:
                source = source[:TEXT_SIZE] + "..."
            lines.append("%s at %s:%d%s%s\n" % (times(count), os.path.basename(name), number, ": " + source if source else "",
                                                " (GradScaler finds no infinite gradient)" if scales else ""))
        return "".join(lines)


def skip_validation(torch):
    """Distributions compare their arguments on the GPU, and fail where a comparison reads as zero."""
    if hasattr(torch, "distributions"):
        distribution = torch.distributions.Distribution
        distribution.set_default_validate_args(False)
        distribution.set_default_validate_args = staticmethod(lambda value: None)  # Pyro switches it on


def skip_packing(masking):
    """Transformers asks the GPU whether several texts are packed into one, and makes masks if they are."""
    find = getattr(masking, "find_packed_sequence_indices", None)
    is_tracing = getattr(masking, "is_tracing", lambda _tensor: False)

    def find_none(position_ids):
        found = find(position_ids)
        return found if is_tracing(position_ids) else None

    if find:
        masking.find_packed_sequence_indices = find_none


def end_generation(utils):
    """Lets generate() of transformers end at its largest length, as if no sequence ended before.

    It asks the GPU whether all sequences are finished, although the length is known here.
    """
    state = threading.local()
    mixin = getattr(utils, "GenerationMixin", None)
    criteria = sys.modules.get("transformers.generation.stopping_criteria")
    criterion = getattr(criteria, "MaxLengthCriteria", None)
    if not criterion or not hasattr(mixin, "_has_unfinished_sequences"):
        return
    judge, is_unfinished = criterion.__call__, mixin._has_unfinished_sequences

    def note_length(self, input_ids, *arguments, **options):
        state.is_done = input_ids.shape[-1] >= self.max_length
        return judge(self, input_ids, *arguments, **options)

    def ask(self, this_peer_finished, *arguments, **options):
        is_done = state.__dict__.pop("is_done", None)
        asked = is_unfinished(self, this_peer_finished, *arguments, **options)
        return asked if is_done is None else not is_done

    criterion.__call__ = note_length
    mixin._has_unfinished_sequences = ask
