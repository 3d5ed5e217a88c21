"""A model of PyTorch's CUDA caching allocator, down to the events and the state it dumps.

Only bookkeeping is modelled: addresses are invented, nothing is allocated. The rules (rounding, pools,
best fit, splitting, merging, deferred frees, expandable segments) follow c10/cuda/CUDACachingAllocator.cpp.
"""
from collections import deque

MIB = 1 << 20
MIN_BLOCK = 512
SMALL_REQUEST = 1 * MIB       # up to here a request is served from the small pool
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
MIN_LARGE_REQUEST = 10 * MIB  # from here on a request gets a segment of its own size
LARGE_GRANULE = 2 * MIB
LAG = 400                     # microseconds: how far a stream is behind the program

NO_FRAMES = []  # torch, too, shares one empty list among all blocks and segments without a stack


def round_up(size, granule):
    return -(-size // granule) * granule


class OutOfMemory(Exception):
    pass


class Clock:
    """Microseconds since the epoch; irregular like a real run, yet the same in every run."""

    def __init__(self, start=1_750_000_000_000_000):
        self.now = start
        self._ticks = 0

    def tick(self, about):
        self._ticks += 1
        self.now += about + self._ticks * 7919 % 11


class Pool:
    """`id` is (0, 0) for the default pool; each CUDA graph has its own pool, which keeps its memory."""

    def __init__(self, small, id=(0, 0)):
        self.small, self.id = small, id
        self.free = []      # mapped blocks nobody uses
        self.unmapped = []  # address space of expandable segments without memory behind it


class Block:
    __slots__ = ("address", "size", "requested", "stream", "pool", "previous", "next", "allocated", "mapped",
                 "page", "frames", "segment_frames", "uses", "events")

    def __init__(self, address, size, stream, pool, page=0):
        self.address, self.size, self.stream, self.pool = address, size, stream, pool
        self.requested = 0
        self.previous = self.next = None
        self.allocated = False
        self.mapped = True
        self.page = page  # mapping granularity of an expandable segment, 0 for an ordinary one
        self.frames = self.segment_frames = None
        self.uses = set()
        self.events = 0

    @property
    def idle(self):
        return not self.allocated and not self.events and not self.uses

    def insert_after(self, other):
        self.previous, self.next = other, other.next
        if other.next:
            other.next.previous = self
        other.next = self


class DeviceAllocator:
    """One device. `limit` is the device memory available to this process; `others` is what other processes took since."""

    def __init__(self, device, clock, limit, expandable=False, record=True, max_entries=None):
        self.device, self.clock, self.limit, self.expandable = device, clock, limit, expandable
        self.record, self.max_entries = record, max_entries
        self.reserved = 0
        self.lost_events = 0
        self._trace = deque(maxlen=max_entries)
        self.others = 0
        self._pools = (Pool(True), Pool(False))
        self._private = {}  # id -> the same two
        self._heads = {}    # address -> (first block, size of the address range)
        self.lags = {}      # stream -> how far it is behind the program, in microseconds
        self._pending = {}  # stream -> deque of (time the stream gets there, block)
        self._base = 0x7F2A_4E00_0000 + device * 0x20_0000_0000

    # What the program calls.

    def allocate(self, requested, stream, frames, pool=(0, 0)):
        self._finish_events(frames)
        size = max(MIN_BLOCK, round_up(requested, MIN_BLOCK))
        pools = self._pools
        if pool != (0, 0):
            pools = self._private.setdefault(pool, (Pool(True, pool), Pool(False, pool)))
        pool = pools[0 if size <= SMALL_REQUEST else 1]
        block = self._best_fit(pool, size, stream)
        if block is None:
            block = self._grow(pool, size, stream, frames)
        if block is None:
            self._release_cached(frames)
            block = self._grow(pool, size, stream, frames)
        if block is None:
            self._event("oom", self._left(), size, stream, frames, pool)
            raise OutOfMemory(f"device {self.device}: {size} bytes")
        if self._worth_splitting(block, size):
            block = self._split(block, size)
        block.allocated = True
        block.requested = requested
        block.frames = frames if self.record else None
        self._event("alloc", block.address, requested, stream, frames, pool)
        return block

    def free(self, block, frames):
        block.allocated = False
        self._event("free_requested", block.address, block.requested, block.stream, frames, block.pool)
        if not block.uses:
            self._free_block(block, frames)
            return
        # Another stream may still read the block: it stays active until that stream has passed this point.
        for stream in sorted(block.uses):
            self._pending.setdefault(stream, deque()).append((self.clock.now + self.lags.get(stream, LAG), block))
            block.events += 1
        block.uses = set()

    def record_stream(self, block, stream):
        if stream != block.stream:
            block.uses.add(stream)

    def empty_cache(self, frames):
        self._release_cached(frames)

    def trace(self):
        return list(self._trace)

    def snapshot(self):
        segments = sorted((self._describe(run) for run in self._mapped_runs()), key=lambda s: s["address"])
        # As in torch, the dump that is being taken does not show this event; the next one does.
        self._event("snapshot", 0, sum(s["active_size"] for s in segments), 0, None)
        return segments

    # Finding and giving back memory.

    def _left(self):
        return max(0, self.limit - self.others - self.reserved)

    def _best_fit(self, pool, size, stream):
        fits = sorted((b for b in pool.free if b.stream == stream and b.size >= size),
                      key=lambda b: (b.size, b.address))
        if not fits:
            return None
        best = fits[0]
        if best.page:
            # A block that can still expand counts with the size it can expand to, so that growth stays possible.
            for block in fits[1:]:
                if self._expandable_size(block) >= self._expandable_size(best):
                    break
                best = block
        pool.free.remove(best)
        return best

    @staticmethod
    def _expandable_size(block):
        return block.size + (block.next.size if block.next and not block.next.mapped else 0)

    def _grow(self, pool, size, stream, frames):
        if self.expandable:
            return self._grow_expandable(pool, size, stream, frames)
        if pool.small:
            segment = SMALL_SEGMENT
        elif size < MIN_LARGE_REQUEST:
            segment = LARGE_SEGMENT
        else:
            segment = round_up(size, LARGE_GRANULE)
        if segment > self._left():
            return None
        block = Block(self._place(segment), segment, stream, pool)
        block.segment_frames = frames if self.record else None
        self._heads[block.address] = (block, segment)
        self.reserved += segment
        self.clock.tick(180)  # cudaMalloc is slow
        self._event("segment_alloc", block.address, segment, stream, frames, pool)
        return block

    def _grow_expandable(self, pool, size, stream, frames):
        block = self._expandable_candidate(pool, size, stream)
        if not block.mapped and not self._map(block, min(block.size, size), frames):
            return None
        while block.size < size:
            tail = block.next
            if not self._map(tail, min(size - block.size, tail.size), frames):
                return None
            block = tail  # mapping has merged the free block before it into the tail
        pool.free.remove(block)
        return block

    def _expandable_candidate(self, pool, size, stream):
        for block in sorted(pool.unmapped, key=lambda b: b.address):
            if block.stream != stream:
                continue
            if block.previous and block.previous.idle:
                block = block.previous
            room, part = 0, block
            while part and part.idle and room < size:
                room += part.size
                part = part.next
            if room >= size:
                return block
        page = SMALL_SEGMENT if pool.small else LARGE_SEGMENT
        # More address space than the device has memory, so that one segment can take it all.
        space = round_up(self.limit * 9 // 8, page)
        block = Block(self._place(space), space, stream, pool, page)
        block.mapped = False
        self._heads[block.address] = (block, space)
        pool.unmapped.append(block)
        return block

    def _map(self, block, size, frames):
        size = round_up(size, block.page)
        if size > self._left():
            return False
        pool = block.pool
        pool.unmapped.remove(block)
        if size < block.size:
            rest = Block(block.address + size, block.size - size, block.stream, pool, block.page)
            rest.mapped = False
            rest.insert_after(block)
            block.size = size
            pool.unmapped.append(rest)
        address = block.address
        block.mapped = True
        self._merge(block, block.previous)
        self._merge(block, block.next)
        pool.free.append(block)
        self.reserved += size
        self.clock.tick(90)
        self._event("segment_map", address, size, block.stream, frames)
        if not block.previous and block.segment_frames is None and self.record:
            block.segment_frames = frames
        return True

    def _unmap(self, block, frames):
        """Release the whole pages inside a free block; partial pages at either end stay mapped."""
        head, _ = self._heads_entry(block)
        offset = block.address - head.address
        begin = round_up(offset, block.page)
        end = (offset + block.size) // block.page * block.page
        if end <= begin:
            return
        pool = block.pool
        pool.free.remove(block)
        before, after = begin - offset, offset + block.size - end
        if before:
            rest = Block(block.address, before, block.stream, pool, block.page)
            rest.segment_frames = block.segment_frames
            self._take_place_before(block, rest)
            pool.free.append(rest)
            block.address += before
            block.size -= before
        if after:
            rest = Block(block.address + block.size - after, after, block.stream, pool, block.page)
            rest.insert_after(block)
            pool.free.append(rest)
            block.size -= after
        address, size = block.address, block.size
        block.mapped = False
        block.segment_frames = None
        self._merge(block, block.previous)
        self._merge(block, block.next)
        pool.unmapped.append(block)
        self.reserved -= size
        self._event("segment_unmap", address, size, block.stream, frames)

    def _release_cached(self, frames):
        self._finish_events(frames, everything=True)
        for pool in (self._pools[1], self._pools[0]):
            for block in sorted(pool.free, key=lambda b: (b.stream, b.size, b.address)):
                if block.page:
                    self._unmap(block, frames)
                elif not block.previous and not block.next:
                    pool.free.remove(block)
                    del self._heads[block.address]
                    self.reserved -= block.size
                    self.clock.tick(60)
                    self._event("segment_free", block.address, block.size, block.stream, frames)

    def _finish_events(self, frames, everything=False):
        for queue in self._pending.values():
            while queue and (everything or queue[0][0] <= self.clock.now):
                _, block = queue.popleft()
                block.events -= 1
                if not block.events:
                    # The stack is that of the call which noticed, as in torch.
                    self._free_block(block, frames)

    def _free_block(self, block, frames):
        self._event("free_completed", block.address, block.requested, block.stream, frames, block.pool)
        block.frames = None
        self._merge(block, block.previous)
        self._merge(block, block.next)
        block.pool.free.append(block)

    # Block lists.

    def _worth_splitting(self, block, size):
        rest = block.size - size
        return rest >= MIN_BLOCK if block.pool.small or self.expandable else rest > SMALL_REQUEST

    def _split(self, rest, size):
        """Cut the front off `rest`, which keeps its (now stale) requested size, as the dumps of torch show."""
        block = Block(rest.address, size, rest.stream, rest.pool, rest.page)
        block.segment_frames, rest.segment_frames = rest.segment_frames, None
        self._take_place_before(rest, block)
        rest.address += size
        rest.size -= size
        rest.pool.free.append(rest)
        return block

    def _take_place_before(self, block, new):
        new.previous, new.next = block.previous, block
        if block.previous:
            block.previous.next = new
        else:
            self._heads[block.address] = (new, self._heads[block.address][1])
        block.previous = new

    def _merge(self, block, other):
        if not other or not other.idle or other.mapped != block.mapped:
            return
        (block.pool.free if other.mapped else block.pool.unmapped).remove(other)
        block.size += other.size
        if other is block.previous:
            block.address = other.address
            block.segment_frames = other.segment_frames
            block.previous = other.previous
            if block.previous:
                block.previous.next = block
            else:
                self._heads[block.address] = (block, self._heads[block.address][1])
        else:
            block.next = other.next
            if block.next:
                block.next.previous = block

    def _heads_entry(self, block):
        while block.previous:
            block = block.previous
        return self._heads[block.address]

    def _place(self, size):
        """The lowest gap, so that a released address is soon reused, as on a real device."""
        address = self._base
        for start in sorted(self._heads):
            if address + size <= start:
                break
            address = start + self._heads[start][1]
        return round_up(address, LARGE_GRANULE)

    # What is dumped.

    def _event(self, action, address, size, stream, frames, pool=None):
        if not self.record:
            return
        self.clock.tick(0)
        if len(self._trace) == self.max_entries:
            self.lost_events += 1
        event = {"action": action,
                 "device_free" if action == "oom" else "addr": address,
                 "size": size,
                 "stream": stream,
                 "time_us": self.clock.now,
                 # torch makes a new string for every event, so a pickle holds it every time
                 "compile_context": str(b"N/A", "ascii"),
                 "user_metadata": ""}
        if pool and pool.id != (0, 0):
            event["pool_id"] = pool.id  # newer versions of torch write it with every event
        if frames is not None:
            event["frames"] = frames
        self._trace.append(event)

    def _mapped_runs(self):
        """Each contiguous mapped range is reported as a segment."""
        for head, _ in self._heads.values():
            run = []
            while head:
                if head.mapped:
                    run.append(head)
                elif run:
                    yield run
                    run = []
                head = head.next
            if run:
                yield run

    def _describe(self, run):
        first = run[0]
        active = [b for b in run if b.allocated or b.events]
        segment = {"device": self.device,
                   "address": first.address,
                   "total_size": sum(b.size for b in run),
                   "allocated_size": sum(b.size for b in run if b.allocated),
                   "active_size": sum(b.size for b in active),
                   "requested_size": sum(b.requested for b in active),
                   "stream": first.stream,
                   "segment_type": "small" if first.pool.small else "large",
                   "segment_pool_id": first.pool.id,
                   "is_expandable": bool(first.page)}
        # torch fills in a known stack after all other keys
        if first.segment_frames is None:
            segment["frames"] = NO_FRAMES
        segment["blocks"] = [self._describe_block(b) for b in run]
        if first.segment_frames is not None:
            segment["frames"] = first.segment_frames
        return segment

    @staticmethod
    def _describe_block(block):
        state = "active_allocated" if block.allocated else "active_pending_free" if block.events else "inactive"
        return {"address": block.address, "size": block.size, "requested_size": block.requested, "state": state,
                "frames": NO_FRAMES if block.frames is None else block.frames}


def settings(expandable, max_entries, overflowed, record):
    """The `allocator_settings` of a dump."""
    result = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True" if expandable else "",
              "max_split_size": -1,
              "garbage_collection_threshold": 0.0,
              "expandable_segments": expandable,
              "pinned_num_register_threads": 1,
              "release_lock_on_cudamalloc": False,
              "pinned_use_cuda_host_register": False,
              "graph_capture_record_stream_reuse": False,
              "roundup_power2_divisions": {str(1 << i): 0 for i in range(16)}}
    if record:
        result["trace_alloc_max_entries"] = max_entries or (1 << 63) - 1
        result["trace_alloc_overflowed"] = overflowed
    return result
