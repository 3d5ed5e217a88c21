#!/usr/bin/env python3
"""The Python that memsnap suggest and memsnap shard print: it must compile, and define or import every name that it
uses. Whether it does what it should, bench/loop and bench/shard measure with PyTorch."""
import ast
import builtins
import re
import subprocess
import warnings

import captures

REQUESTS = (["--checkpoints", "2"], ["--budget", "60%"], ["--budget", "35%"], ["--budget", "least"])
SHARDED = ([], ["--checkpointed"], ["--strategy", "fsdp2", "--checkpointed"], ["--strategy", "sdp", "--accumulate", "2"])


HEADING = re.compile("[A-Z][a-z]+ [a-z]")
# The program's own: its model, and what a loop of it goes through.
GIVEN = {"model", "layers"}
BEGINNINGS = "import ", "from ", "names = [", "plan = [", "keep = {"
# Plans that keep no results of operators have none of these, and do not call them.
FOR_KEEPING = {"keep_results", "find_changes"}


def output(command, path, arguments):
    """None where there is no plan."""
    done = subprocess.run([captures.MEMSNAP, command, *arguments, str(path)], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def code_in(text):
    """The lines from the first import, or the plan above it, to the next heading of the report."""
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith(BEGINNINGS)), None)
    if first is None:
        return None
    end = next((i for i in range(first, len(lines)) if HEADING.match(lines[i])), len(lines))
    return ast.parse("\n".join(lines[first:end]))


INNER = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def outer_nodes(tree):
    """The nodes of the code that are in no function, class or comprehension."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, INNER):
            yield from outer_nodes(node)


def undefined_outside(tree):
    """The names that code outside of functions uses before it makes them."""
    made, undefined = set(dir(builtins)) | GIVEN, set()
    for statement in tree.body:
        nodes = [statement, *([] if isinstance(statement, INNER) else outer_nodes(statement))]
        names = [node for node in nodes if isinstance(node, ast.Name)]
        own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        own |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        own |= {(alias.asname or alias.name).split(".")[0] for node in nodes
                if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
        known = made if isinstance(statement, ast.Assign) else made | own
        undefined |= {node.id for node in names if isinstance(node.ctx, ast.Load)} - known
        made |= own
    return undefined


def names_of(tree):
    """The names that the code uses, and those that it makes anywhere."""
    used, made = set(), set(dir(builtins)) | GIVEN
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            made.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            made.add(node.name)
    return used, made if "keep_results" in made else made | FOR_KEEPING


def problems(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            tree = code_in(text)
        except SyntaxError as error:
            yield f"does not compile: {error}"
            return
    if tree is None:
        return
    used, made = names_of(tree)
    for name in sorted((used - made) | undefined_outside(tree)):
        yield f"uses {name}, which nothing defines"


def main():
    tally, printed = captures.Tally(), 0
    folders = [captures.TOP / "samples" / name for name in ("models", "recorded")]
    more = [path for folder in folders for path in sorted(folder.iterdir()) if "truth" not in path.name]
    for path in captures.samples() + captures.layer_traces() + captures.some(more):
        requests = [("suggest", request) for request in REQUESTS]
        if "models" in path.parts:
            requests += [("shard", ["--world", "8", *request]) for request in SHARDED]
        for command, request in requests:
            text = output(command, path, request)
            if text is None:
                continue
            printed += "import torch" in text
            tally.check(f"{path.name} {command} {' '.join(request)}", problems(text))
    if printed == 0:
        tally.check("any code", ["no command printed any"])
    tally.end()


main()
