#!/usr/bin/env python3
"""`memsnap check` against what `memsnap analyze` reports: every rule's value, which limits pass, and at which
percentage; policies against their published schema; and that what it prints for other programs can be read."""
import fractions
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import captures

SCHEMA = json.loads((captures.TOP / "share" / "policy.schema.json").read_text())
SITE = re.compile(r"(?:.*[/\\])?([^/\\]+):\d+ ")


def check(*arguments):
    return subprocess.run([captures.MEMSNAP, "check", *map(str, arguments)], capture_output=True, check=False)


def rows_of(capture, *arguments):
    done = check("--format", "json", *arguments, capture)
    if done.returncode not in (0, 1):
        raise AssertionError(f"{capture}: status {done.returncode}: {done.stderr.decode()}")
    report = json.loads(done.stdout)
    if report["passed"] != (done.returncode == 0):
        raise AssertionError(f"{capture}: passed is {report['passed']}, the status {done.returncode}")
    return report["files"][0]["rules"]


def files_of(device):
    """Base names of the files in labels, and what they hold."""
    sums = {}
    for site in device["sites"]:
        found = SITE.match(site["label"])
        if found and not re.search(r"[*?\[\\=]", found[1]):
            sums[found[1]] = sums.get(found[1], 0) + site["bytes"]
    return sums


def cut_up(device):
    """Holes and reserved bytes at the peak; None where that does not follow."""
    if device["trace"]["events"] == 0:
        pools = device["fragmentation"]["pools"]
    elif "pools" in device["fragmentation"].get("at_moment", {}):
        pools = device["fragmentation"]["at_moment"]["pools"]
    else:
        return None
    reserved = sum(pool["reserved_bytes"] for pool in pools)
    return (sum(pool["inactive_split_bytes"] for pool in pools), reserved) if reserved else None


def wanted_of(device):
    """{(rule, subject): value} of a device, by its report."""
    wanted = {("max-peak", None): device["active"]["peak_bytes"],
              ("max-reserved", None): device["reserved"]["peak_bytes"]}
    for category in device["categories"]:
        if category["name"] != "unexplained":
            wanted["max-category", category["name"]] = category["bytes"]
    for name, size in files_of(device).items():
        wanted["max-site", name] = size
    if sum(1 for step in device["steps"] if step["complete"]) >= 3:
        growing = [row for row in device["growth"] if row["kind"] == "growing"]
        wanted["max-growth", None] = sum(row["bytes_per_step"] for row in growing)
        wanted["no-leaks", None] = len(growing)
    if device["trace"]["by_action"].get("alloc"):
        wanted["no-oom", None] = device["trace"]["by_action"].get("oom", 0)
    if cut_up(device):
        wanted["max-fragmentation", None] = cut_up(device)[0]
    return wanted


def option(rule, subject, limit):
    if rule.startswith("no-"):
        return "--" + rule
    return f"--{rule}={subject}={limit}" if subject is not None else f"--{rule}={limit}"


def value_problems(capture, device):
    """At its value, and above, every rule passes; below, none does."""
    wanted = wanted_of(device)
    where = ["--device", device["device"]]
    for offset in (0, 1, -1):
        options = [option(rule, subject, max(value + offset, 0)) for (rule, subject), value in wanted.items()]
        rows = rows_of(capture, *where, *options)
        if len(rows) != len(wanted):
            yield f"{len(rows)} rows for {len(wanted)} rules"
        for row in rows:
            name = row["rule"], row.get("subject")
            value = wanted[name]
            limit = 0 if row["rule"].startswith("no-") else max(value + offset, 0)
            if (row["value"], row["limit"], row["passed"]) != (value, limit, value <= limit):
                yield f"{name} is {value}: with a limit of {limit} it says {row}"
            if row["margin"] != limit - value or row["device"] != device["device"]:
                yield f"{name}: {row}"
            if row["site"] and not any(site["label"] == row["site"] for site in device["sites"]) \
                    and row["rule"] not in ("no-oom", "max-fragmentation", "max-growth", "no-leaks"):
                yield f"{name} blames {row['site']}, which analyze does not list"


def percentages(value, whole):
    """The closest ones of six digits below and above value / whole, and others around."""
    exact = fractions.Fraction(100 * 10 ** 6 * value, whole)
    for millionths in {int(exact), int(exact) + 1, int(exact) - 1, int(exact) // 2, 2 * int(exact) + 7}:
        if 0 <= millionths:
            yield f"{millionths // 10 ** 6}.{millionths % 10 ** 6:06}%", millionths >= exact


def share_problems(rule, value, whole, most, *arguments):
    if value < 0 or whole <= 0:
        return
    for text, passes in percentages(value, whole):
        if float(text[:-1]) >= most:
            continue
        done = check(*arguments, f"--{rule}={text}")
        if done.returncode != (0 if passes else 1):
            yield f"{value} of {whole} against {text}: status {done.returncode}: {done.stderr.decode()}"


def snapshot_problems(capture, baseline):
    report = captures.report(capture, "--top", "0")
    for device in report["devices"]:
        yield from value_problems(capture, device)
        where = ["--device", device["device"], capture]
        if cut_up(device):
            yield from share_problems("max-fragmentation", *cut_up(device), 100, *where)
        old = {d["device"]: d["active"]["peak_bytes"] for d in baseline[1]["devices"]}.get(device["device"])
        if old is not None:
            yield from share_problems("max-increase", device["active"]["peak_bytes"] - old, old, 10 ** 6,
                                      "--baseline", baseline[0], *where)
    yield from format_problems(capture)


def format_problems(capture):
    """What other programs read is well formed, and says the same."""
    arguments = ["--max-peak=1", "--max-reserved=1TiB", capture]
    rows = rows_of(capture, *arguments[:-1])
    failed = sum(not row["passed"] for row in rows)
    suites = xml.etree.ElementTree.fromstring(check("--format", "junit", *arguments).stdout)
    if (int(suites.get("tests")), int(suites.get("failures"))) != (len(rows), failed):
        yield f"junit counts {suites.attrib}"
    if (len(suites.findall("*/testcase")), len(suites.findall("*/testcase/failure"))) != (len(rows), failed):
        yield "junit has other cases than it counts"
    lines = check("--format", "github", *arguments).stdout.decode().splitlines()
    if sum(line.startswith("::error ") for line in lines) != failed:
        yield "github has other errors"
    if any(not re.fullmatch(r"::(error|warning|notice) [^:\r\n]*::[^\r\n]+", line) for line in lines):
        yield f"github: {lines}"


def layers_problems(trace):
    report = captures.report(trace)
    suggested = json.loads(subprocess.run([captures.MEMSNAP, "suggest", "--checkpoints", "3", "--format", "json",
                                           str(trace)], capture_output=True, check=True).stdout)
    wanted = {("max-peak", None): report["max_memory_allocated"]["bytes"],
              ("max-reserved", None): report["max_memory_cached"]["bytes"],
              ("max-category", "activation"): report["total_activation_allocations"],
              ("max-memory-after-suggest", "3"): suggested["max_memory"]}
    for offset in (0, 1, -1):
        for row in rows_of(trace, *(option(*name, value + offset) for name, value in wanted.items())):
            value = wanted[row["rule"], row.get("subject")]
            if row["value"] != value or row["limit"] != value + offset or row["passed"] != (offset >= 0):
                yield f"{value}, offset {offset}: {row}"


def fits(value, schema):
    """Whether a value is valid: as much of JSON Schema as the one for policies uses."""
    if "$ref" in schema:
        return fits(value, SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]])
    is_number = isinstance(value, int) and not isinstance(value, bool)
    types = {"array": isinstance(value, list), "string": isinstance(value, str), "object": isinstance(value, dict), "integer": is_number}
    checks = {
        "type": lambda name: types[name],
        "enum": lambda words: value in words,
        "const": lambda const: value == const and isinstance(value, bool) == isinstance(const, bool),
        "minimum": lambda least: not is_number or value >= least,
        "pattern": lambda pattern: not isinstance(value, str) or re.search(pattern, value),
        "minLength": lambda least: len(value) >= least,
        "maxLength": lambda most: len(value) <= most,
        "anyOf": lambda options: any(fits(value, one) for one in options),
        "required": lambda names: not isinstance(value, dict) or all(name in value for name in names),
        "minProperties": lambda least: not isinstance(value, dict) or len(value) >= least,
        "items": lambda item: not isinstance(value, list) or all(fits(one, item) for one in value),
        "minItems": lambda least: not isinstance(value, list) or len(value) >= least,
        "propertyNames": lambda names: not isinstance(value, dict) or all(fits(key, names) for key in value),
        "properties": lambda known: not isinstance(value, dict) or
        all(fits(value[key], known[key]) for key in value if key in known),
        "additionalProperties": lambda other: not isinstance(value, dict) or
        all(other and fits(value[key], other) for key in value if key not in schema.get("properties", {})),
    }
    said = {"$schema", "$id", "$defs", "title", "description"}
    unknown = set(schema) - set(checks) - said
    if unknown:
        raise AssertionError(f"the test does not know {unknown}")
    return all(checks[key](schema[key]) for key in schema if key in checks)


LIMITS = [0, 1, 2 ** 40, -1, True, False, None, 1.5, "", "1", "pass", "error", "70GiB", "70 gib", "1.5G", "1.5", "1.5B", "1.G", ".5G",
          "4096 B", "1kb", "1Ki", "1TiB ", " 1", "1e3", "0x10", "-1", "+1", "5%", "0.000001%", "0.0000001%", "99.999999%",
          "100%", "0100%", "099%", "1000000%", "1000001%", "%", "5 %", "5%%", [], {}, {"activation": 1}, {"4": "1GiB"},
          {"activation": "5%"}, {"x": True}, {"": 1}, {"0004": 1}, {"1000000": 1}, {"1000001": 1}, {"a" * 256: 1},
          {"a" * 257: 1}, "expandable_segments:True", ["max_split_size_mb:64", ""], ["1"], [1]]


def policies():
    """A policy needs a rule: `rule` is one beside keys that are none."""
    rules = {one["required"][0] for one in SCHEMA["anyOf"]}
    for key in [*SCHEMA["properties"], "max-paek", "MAX-PEAK"]:
        rule = {} if key in rules else {"max-peak": 1}
        for limit in LIMITS:
            yield {"schema": "memsnap.policy/1", **rule, key: limit}
        yield {"schema": "memsnap.policy/1", key: 1}
        yield {"schema": "memsnap.policy/1", "max-peak": 1, key: 1}
    yield from ({}, {"max-peak": 1}, {"schema": "memsnap.policy/1"}, {"schema": "memsnap.policy/2", "max-peak": 1}, [], 1)
    rng = random.Random(1)
    keys = list(SCHEMA["properties"])
    for _ in range(200):
        chosen = {key: rng.choice(LIMITS) for key in rng.sample(keys, rng.randrange(1, 4))}
        yield {"schema": "memsnap.policy/1", **chosen}


def is_understood(path):
    """Whether memsnap takes a policy: told from what it says of one that it does not take."""
    done = check("--policy", path, "--baseline", path, "/dev/null")
    text = done.stderr.decode()
    if done.returncode == 2 and text.startswith(f"memsnap: check: {path}"):
        return False
    missing = ("there is no category", "--baseline needs --max-increase", "max-jump needs --trend", "alloc-conf needs max-reserved",
               f"memsnap: {path}: ")
    if any(words in text for words in missing):
        return True
    raise AssertionError(f"status {done.returncode}: {text}")


def policy_problems(policy, folder):
    path = folder / "p"
    path.write_text(json.dumps(policy))
    understood = is_understood(path)
    if understood != bool(fits(policy, SCHEMA)):
        yield f"{json.dumps(policy)[:200]}: memsnap {'takes' if understood else 'refuses'} it, the schema does not agree"


def key_problems():
    """The rules of the schema are those of --help."""
    text = check("--help").stdout.decode()
    rules = set(re.findall(r"--((?:max|no)-[a-z-]+)", text)) - {"max-memory"}
    if rules != {key for key in SCHEMA["properties"] if key[:3] in ("max", "no-")}:
        yield f"--help has {sorted(rules)}"
    if {one["required"][0] for one in SCHEMA["anyOf"]} != rules:
        yield "anyOf names other rules"


def main():
    captures.skip_slow_checks_of_memory()
    tally = captures.Tally()
    snapshots = captures.samples() + captures.corpus()
    baseline = captures.TOP / "samples" / "two-devices.pickle.gz"
    baseline = baseline, captures.report(baseline)
    for capture in snapshots:
        tally.check(capture.name, snapshot_problems(capture, baseline))
    for trace in captures.layer_traces():
        tally.check(trace.name, layers_problems(trace))
    tally.check("keys", key_problems())
    with tempfile.TemporaryDirectory() as folder:
        for policy in captures.some(policies()):
            tally.check("policy", policy_problems(policy, pathlib.Path(folder)))
    tally.end()


if __name__ == "__main__":
    sys.exit(main())
