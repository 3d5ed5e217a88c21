# Writes a man page as plain text, at most 79 columns wide, for `memsnap help TOPIC`: from the first
# section that is neither NAME nor SEE ALSO. Knows the requests that our pages use, and fails on any
# other.

BEGIN { width = 79 }

# The text of a line: escapes replaced, fonts dropped.
function plain(text) {
    gsub(/\\f[BIRP]/, "", text)
    gsub(/\\\|/, "", text)
    gsub(/\\&/, "", text)
    gsub(/\\-/, "-", text)
    gsub(/\\\(aq/, "'", text)
    gsub(/\\\(dq/, "\"", text)
    gsub(/\\\(bu/, "*", text)
    gsub(/\\\(S2/, "^2", text)
    gsub(/\\e/, "\\", text)
    if (text ~ /\\/ && text !~ /^[^\\]*\\$/)
        unknown("escape in '" text "'")
    return text
}

function unknown(what) {
    print FILENAME ":" FNR ": unknown " what >"/dev/stderr"
    failed = 1
    exit 1
}

# The arguments of a request, quoted or not, joined by `separator`.
function arguments(line, separator,    result, part, count) {
    sub(/^\.[A-Z]+ */, "", line)
    result = ""
    for (count = 0; line != ""; count++) {
        if (line ~ /^"/) {
            match(line, /^"[^"]*"?/)
            part = substr(line, 2, RLENGTH - 2)
        } else {
            match(line, /^[^ ]+/)
            part = substr(line, 1, RLENGTH)
        }
        line = substr(line, RLENGTH + 1)
        sub(/^ +/, "", line)
        result = result (count ? separator : "") part
    }
    return plain(result)
}

function spaces(count,    result) {
    for (result = ""; count-- > 0;)
        result = result " "
    return result
}

# Prints the paragraph so far, wrapped; a tag hangs out of it.
function flush(    words, count, i, line) {
    count = split(paragraph, words, " ")
    paragraph = ""
    if (count == 0)
        return
    line = spaces(indent)
    if (tag != "") {
        line = spaces(indent - 4) tag
        line = length(line) < indent ? line spaces(indent - length(line)) : line "\n" spaces(indent)
        tag = ""
    }
    for (i = 1; i <= count; i++) {
        column = length(line)
        if (match(line, /\n[^\n]*$/))
            column = RLENGTH - 1
        if (i > 1 && column + length(words[i])  + 1 > width) {
            print line
            line = spaces(indent)
        } else if (column > indent) {
            line = line " "
        }
        line = line words[i]
    }
    print line
}

function add(text) {
    if (wants_tag) {
        wants_tag = 0
        tag = text
        return
    }
    paragraph = paragraph " " text
}

function blank() {
    flush()
    print ""
}

/^\.SH/ {
    flush()
    title = arguments($0, " ")
    shown = title != "NAME" && title != "SEE ALSO"
    if (shown && begun)
        print ""
    if (shown && title != "DESCRIPTION")
        print title
    begun = begun || shown
    indent = title == "DESCRIPTION" ? 0 : 4
    fresh = 1
    hanging = 0
    next
}
!shown || /^\.\\"/ || /^\.TH/ { next }
/^\.nf/ { flush(); verbatim = 1; next }
/^\.fi/ { verbatim = 0; next }
verbatim && /^\./ { unknown("request between .nf and .fi: '" $0 "'") }
verbatim { print spaces(8) plain($0); next }
/^\.in/ { next }
/^\.TP/ {
    if (fresh)
        flush()
    else
        blank()
    fresh = 0
    if (!hanging)
        base = indent
    hanging = wants_tag = 1
    indent = base + 4
    next
}
/^\.PP/ { blank(); if (hanging) { indent = base; hanging = 0 }; next }
/^\.(B|I) / { fresh = 0; add(arguments($0, " ")); next }
/^\.(BR|RB|IR|RI|BI|IB) / { fresh = 0; add(arguments($0, "")); next }
/^\./ { unknown("request '" $0 "'") }
{ fresh = 0; add(plain($0)) }
END { if (!failed) flush(); exit failed }
