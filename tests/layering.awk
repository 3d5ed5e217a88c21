# Reads C files named src/ROOM/FILE or src/main.c, and prints FILE:LINE: MESSAGE for
# every include that points the wrong way and every call that a room may not make.

BEGIN {
    may["base"] = " base "
    may["decode"] = " base decode "
    may["dryrun"] = " base dryrun "
    may["model"] = " base model "
    may["analysis"] = " base model analysis "
    may["solve"] = " base solve "
    may["render"] = " base model analysis solve render "
    may["store"] = " base model store "
    may["commands"] = " base decode dryrun model analysis solve render store commands "
    may["main"] = may["commands"]

    # The folders within a room, from the bottom up: a file includes from its own folder and from
    # those before it. The files that lie in the room itself come last.
    folders["decode"] = "core rows json pickle msgpack layers pprof profiler timeline log stats yaml run ."
    folders["dryrun"] = "core device"
    folders["analysis"] = "code phase category live pool replay gradients growth oom findings report joint curves chain layers fit shard trend diff flame check run ranks"
    folders["solve"] = "chain cost backend cpu opencl cuda choice dp problem advice"
    folders["render"] = "core sqlite analyze diff check export flame layers suggest fit shard dump oom stats run replay summary ranks trend plot page ."
    folders["commands"] = "sandbox cli cluster summary analyze check diff dryrun export flame ranks suggest shard replay trend plot ."
    for (each in folders) {
        count = split(folders[each], names, " ")
        for (at = 1; at <= count; at++)
            rank[each, names[at]] = at
    }

    # Inert values are rendered as they are: there is no model of a pickle in general.
    rendered_type = "decode/core/value.h"

    # What the importers fill and the model is made of: types, no decoding.
    shared_types = " decode/core/input.h decode/layers/rows.h decode/log/rows.h decode/profiler/rows.h decode/stats/rows.h decode/run/rows.h decode/run/operator_rows.h decode/core/rows.h decode/core/sniff.h decode/core/source.h "

    library["zlib.h"] = " decode commands "
    library["jansson.h"] = " decode model analysis render commands main "
    library["yaml.h"] = " decode commands "
    library["msgpack.h"] = " decode render commands "
    library["sqlite3.h"] = " render commands "
    library["mpi.h"] = " commands "
    library["sqlite3.h"] = " render store "
    library["sqlite3.h"] = " render store commands "
    library["pthread.h"] = " base decode dryrun model analysis solve render commands main "

    speaking = " commands main dryrun/device " # the last runs in the user's program
    forbidden = "(^|[^A-Za-z0-9_])((exit|_exit|_Exit|quick_exit|abort|printf|vprintf|puts|putchar|perror|" \
        "psignal|err|errx|warn|warnx|error)[ \t]*\\(|(stderr|stdout|STDERR_FILENO|STDOUT_FILENO)([^A-Za-z0-9_]|$))"
}

function fault(message) {
    printf "%s:%d: %s\n", FILENAME, FNR, message
}

FNR == 1 {
    in_comment = 0
    name = FILENAME
    sub(/^.*src\//, "", name)
    room = name
    if (!sub(/\/.*/, "", room))
        room = "main"
    if (!(room in may))
        fault("room " room " is not in the table")
    folder = folder_of(name)
    if (room in folders && !((room, folder) in rank))
        fault(folder == "." ? "files of " room " lie in a folder" : \
            "folder " room "/" folder " is not in the table")
}

# "core" of decode/core/rows.h; "." of what lies in the room itself.
function folder_of(path, parts) {
    return split(path, parts, "/") > 2 ? parts[2] : "."
}

function check_folder(path, to) {
    to = folder_of(path)
    if ((room, to) in rank && rank[room, to] > rank[room, folder])
        fault(room "/" folder " may not include \"" path "\": it comes before " room "/" to)
}

function check_own_include(path, to) {
    if (path !~ /\//) {
        fault("include of \"" path "\" names no room")
        return
    }
    to = path
    sub(/\/.*/, "", to)
    if (to == room && room in folders)
        check_folder(path)
    if (index(may[room], " " to " "))
        return
    if (room == "render" && path == rendered_type)
        return
    if (name ~ /^solve\/(problem|advice)/ && (to == "model" || to == "analysis"))
        return
    if (room == "model" && to == "decode") {
        if (index(shared_types, " " path " ") || name ~ /\.c$/)
            return
        fault("a header of model includes \"" path "\": only importers may, and they are .c files")
        return
    }
    fault(room " may not include \"" path "\"")
}

# Without comments, and without what string and character literals hold.
function code_of(line, out, at, two) {
    out = ""
    while (line != "") {
        if (in_comment) {
            at = index(line, "*/")
            if (!at)
                return out
            line = substr(line, at + 2)
            in_comment = 0
            out = out " "
            continue
        }
        two = substr(line, 1, 2)
        if (two == "//")
            return out
        if (two == "/*") {
            in_comment = 1
            line = substr(line, 3)
        } else if (match(line, /^"([^"\\]|\\.)*"/) || match(line, /^'([^'\\]|\\.)*'/)) {
            out = out "\"\""
            line = substr(line, RLENGTH + 1)
        } else {
            out = out substr(line, 1, 1)
            line = substr(line, 2)
        }
    }
    return out
}

!in_comment && /^[ \t]*#[ \t]*include[ \t]*"/ {
    path = $0
    sub(/^[^"]*"/, "", path)
    sub(/".*/, "", path)
    check_own_include(path)
    next
}

!in_comment && /^[ \t]*#[ \t]*include[ \t]*</ {
    path = $0
    sub(/^[^<]*</, "", path)
    sub(/>.*/, "", path)
    if (path in library && !index(library[path], " " room " "))
        fault(room " may not include <" path ">")
    next
}

{
    code = code_of($0)
    if (!index(speaking, " " room " ") && !index(speaking, " " room "/" folder " ") && match(code, forbidden)) {
        found = substr(code, RSTART, RLENGTH)
        gsub(/[^A-Za-z0-9_]/, "", found)
        fault(room " may not use " found ": only commands and main.c print or exit")
    }
}
