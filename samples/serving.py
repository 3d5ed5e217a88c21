"""A simulated inference server, made to run out of memory in various ways.

Like the training program it does not exist; its line numbers are invented consistently:

    /home/user/serve/serve.py    load, answer, remember, main
"""
from autograd import Runtime
from stacks import PROCESS, TORCH

SERVE = "/home/user/serve/serve.py"
MIB = 1 << 20
KIB = 1 << 10


class Server:
    def __init__(self, run: Runtime):
        self.run = run
        self.sessions = []  # small tensors that outlive their request

    def main(self, body):
        with self.run.stacks.call("<module>", SERVE, 91, PROCESS), self.run.stacks.call("main", SERVE, 80):
            self.load()
            body(self)

    def _make(self, function, line, operator, nbytes):
        with self.run.stacks.call(function, SERVE, line):
            return self.run.make(operator, nbytes, "THPVariable_" + operator)

    def _give_up(self, function, line, *tensors):
        with self.run.stacks.call(function, SERVE, line):
            self.run.drop(*tensors)

    def load(self):
        """`model.to(device)`: 24 layers of two weights each."""
        with self.run.stacks.call("load", SERVE, 17), self.run.stacks.call("to", TORCH + "nn/modules/module.py", 1371):
            self.weights = [self.run.make("_to_copy", size, "THPVariable_to")
                            for _ in range(24) for size in (12 * MIB, 12 * MIB)]

    def answer(self, nbytes):
        """The scores of one request: needed only until it is answered."""
        return self._make("answer", 42, "bmm", nbytes)

    def answered(self, scores):
        self._give_up("answer", 47, scores)

    def remember(self, nbytes):
        """The part of a request that is kept for the next turn of the conversation."""
        self.sessions.append(self._make("remember", 55, "clone", nbytes))

    # What goes wrong.

    def batch(self, requests, kept=2560 * KIB):
        """Concurrent requests, the longest answered first: the part remembered of each is placed in the smallest
        hole, the segment that its scores have just left."""
        scores = [self.answer((60 + 4 * turn) * MIB) for turn in range(requests)]
        while scores:
            self.answered(scores.pop())
            self.remember(kept)

    def fragmented(self):
        self.batch(14)
        self.answer(640 * MIB)

    def pinned(self):
        self.batch(8)

    def crowded_out(self):
        """Another process takes the memory that this one released."""
        scores = self.answer(1500 * MIB)
        self.answered(scores)
        with self.run.stacks.call("empty_cache", TORCH + "cuda/memory.py", 222):
            self.run.allocators[0].empty_cache(self.run.stacks.from_python([]))
        self.run.allocators[0].others = 1800 * MIB
        self.answer(1500 * MIB)
