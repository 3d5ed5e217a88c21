"""Fails if a manual page lacks a member of the JSON that memsnap writes.

Usage: json_members.py PAGES JSON..., where PAGES is the folder of the manual pages, and each JSON file
has objects, one a line. A page names a member in italics, in bold, or in an example (.nf, .EX).
"""

import glob
import json
import os
import re
import sys

# Objects whose members are data: names that the captured program or its libraries chose. By the end of their path.
OF_DATA = (
    ".by_action",  # actions of the allocator's events, as in the snapshot
    ".category_bytes",
    "memsnap.analyze/1.settings",  # of the allocator, as in the snapshot
    ".stats",                      # PyTorch's counters
    ".start", ".end", ".diff",     # statistics of MemProfiler
)


def names_in(page):
    """Words that the page prints in italics or bold, or in an example."""
    names, example = set(), False
    with open(page, encoding="utf-8") as lines:
        for line in lines:
            line = line.replace(r"\-", "-").replace(r"\_", "_").rstrip("\n")
            if re.match(r"\.(nf|EX)\b", line):
                example = True
            elif re.match(r"\.(fi|EE)\b", line):
                example = False
            elif example or re.match(r"\.([BI]|[BIR][BIR]) ", line):
                names.update(re.findall(r"[A-Za-z_][A-Za-z0-9_-]*", line))
            else:
                for part in re.findall(r"\\f[BI](.*?)\\f[RP]", line):
                    names.update(re.findall(r"[A-Za-z_][A-Za-z0-9_-]*", part))
    return names


def members(value, path, found):
    if isinstance(value, dict):
        for name, inner in value.items():
            if ".".join(path).endswith(OF_DATA):
                members(inner, path, found)
            else:
                found.setdefault(name, ".".join(path + [name]))
                members(inner, path + [name], found)
    elif isinstance(value, list):
        for inner in value:
            members(inner, path, found)


def main(pages, *files):
    named = set()
    for page in glob.glob(os.path.join(pages, "*.[17]")):
        named |= names_in(page)
    found = {}
    for file in files:
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                value = json.loads(line)
                members(value, [value.get("schema", os.path.basename(file))], found)
    missing = sorted(set(found) - named)
    for name in missing:
        print(f"no manual page names {name}, a member of {found[name]}")
    print(f"{len(found)} members, {len(missing)} in no page")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
