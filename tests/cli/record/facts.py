"""Fails if the rows of a recorded file contradict each other: facts.py FILE"""
import json
import sys

trace = json.load(open(sys.argv[1]))
rows, storages = trace["traces"], trace["storages"]
forward = [row for row in rows if row["is_forward"]]

saved = {storage for row in forward for storage in row["saves"]}
made = {}
for storage in saved:
    size, row = storages[storage]
    made[row] = made.get(row, 0) + size
for number, row in enumerate(rows):
    if row["is_forward"]:
        assert row["saved_activations"] == made.get(number, 0), row
        assert all(storages[storage][1] < number for storage in row["reads"]), row
        assert 0 <= row.get("tail_us", 0) <= row["forward_us"] and row["peak_bytes"] <= trace["peak_bytes"], row

# nothing but what autograd keeps, rounded by the allocator, is left after the forward pass
kept = sum(row["saved_activations"] for row in forward)
left = forward[-1]["allocated"] - trace["before_bytes"]
assert kept <= left <= kept + 512 * (len(saved) + 8) + (1 << 25), (kept, left)
assert trace["beside_bytes"] == 0
assert sum(row["gradient_bytes"] for row in forward) == trace["parameter_bytes"]

names = {row["module_name"] for row in rows}
assert {"", "blocks.1", "blocks.1.norm", "blocks.1.inner.0"} <= names, names
loss = forward[-1]
assert loss["module_name"] == "" and not loss["is_leaf"] and loss["saved_activations"] > 0, loss
backward = [row["module_name"] for row in rows if not row["is_forward"]]
assert backward[:2] == ["", "head"] and backward[-1] in ("words", "blocks.0.norm"), backward
