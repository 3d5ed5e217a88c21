"""Formats the measurements of `run` as Markdown."""
import platform
import subprocess
from pathlib import Path

MB = 1e6


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def first_line(argv):
    return subprocess.check_output(argv, text=True).splitlines()[0]


class Environment:
    """Describes the machine and the programs, without host names and paths."""

    def __init__(self, program, capture, rounds, floor, load_before, date):
        self.capture, self.rounds, self.floor = capture, rounds, floor
        self.load_before, self.date = load_before, date
        self.version = subprocess.check_output([program, "--version"], text=True).strip().splitlines()

    def lines(self):
        with open("/proc/cpuinfo") as file:
            cores = sum(line.startswith("processor") for line in file)
        yield f"* {self.date.isoformat()}, {cpu_model()}, {cores} cores, Linux {platform.release()}"
        yield f"* load average before the first round: {self.load_before:.2f}"
        for line in self.version:
            yield f"* {line}"
        yield f"* CPython {platform.python_version()} ({platform.python_compiler()}), {first_line(['gzip', '--version'])}"
        yield f"* made from `{self.capture}`; {self.rounds} rounds, memsnap once before every run of a rival"


def milliseconds(sample):
    spread = f"{sample['least'] * 1e3:.0f}..{sample['most'] * 1e3:.0f}"
    return f"{sample['median'] * 1e3:.0f} ({spread})"


def megabytes(count):
    return f"{count / MB:.0f}"


def resident(sample, floor):
    """Memory below the measuring process's own size cannot be measured."""
    return f"{sample['resident'] / MB:.1f}" if sample["resident"] > 1.05 * floor else f"< {floor / MB:.0f}"


def judge(row):
    """(goal, measurement, whether met) for each goal of an input."""
    goals, own, best = row["goals"], row["memsnap"], row["best"]
    for rival in row["rivals"] if "speedup" in goals else ():
        speedup = rival["median"] / own["median"]
        yield f"{goals['speedup']} times {rival['label']}", f"{speedup:.1f} times", speedup >= goals["speedup"]
    if "slowdown" in goals:
        slower = own["median"] / best["median"] - 1
        yield (f"at most {goals['slowdown']:.0%} slower than {best['label']}", f"{slower:+.0%}",
               slower <= goals["slowdown"])
    if "linear" in goals:
        growth = own["median"] / best["median"] / (row["bytes"] / row["tiled_bytes"]) - 1
        yield (f"time a byte within {goals['linear']:.0%} of tiled.pickle", f"{growth:+.0%}",
               abs(growth) <= goals["linear"])
    if "resident_mb" in goals:
        size = own["resident"] / MB
        yield f"at most {goals['resident_mb']} MB resident", f"{size:.1f} MB", size <= goals["resident_mb"]


def speed_table(rows, floor):
    yield "| input | MB | events | memsnap, ms | CPU | MB/s | resident, MB | rival | its ms | CPU | its MB | ratio |"
    yield "|---|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|"
    for row in rows:
        own = row["memsnap"]
        cells = [row["name"], megabytes(row["bytes"]), str(row["events"]), milliseconds(own),
                 f"{own['cpu'] * 1e3:.0f}", f"{row['bytes'] / MB / own['median']:.0f}", resident(own, floor)]
        for rival in row["rivals"]:
            yield "| " + " | ".join(cells + [rival["label"], milliseconds(rival),
                                             f"{rival['cpu'] * 1e3:.0f}", resident(rival, floor),
                                             f"{rival['median'] / own['median']:.2f}"]) + " |"
            cells = [""] * len(cells)


def goal_table(rows):
    yield "| input | goal | measured | |"
    yield "|---|---|--:|---|"
    for row in rows:
        for asked, measured, met in judge(row):
            yield f"| {row['name']} | {asked} | {measured} | {'met' if met else '**not met**'} |"


def write_results(rows, environment):
    lines = ["# Figures", "", "Written by `bench/run`; `bench/README.md` says how to read them.", ""]
    lines += environment.lines()
    lines += ["", "Medians (least..most); MB are 10^6 bytes; memory is the largest of all runs. " +
              f"A process that does nothing shows {environment.floor / MB:.0f} MB here.", ""]
    lines += speed_table(rows, environment.floor)
    lines += ["", "CPython is measured with its defaults and, faster, with its cycle collector off: " +
              "a goal is held against each.", ""]
    lines += goal_table(rows)
    return "\n".join(lines) + "\n"
