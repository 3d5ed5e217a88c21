# Prints the commands in the EXAMPLES section of a man page, one a line, as
#   STATUS COMMAND
# where STATUS is the exit status asked for, or "-" where the command is not run.

function plain(text) {
    gsub(/\\f(\[[A-Z]*\]|\([A-Z][A-Z]|[A-Z])/, "", text)
    gsub(/\\&/, "", text)
    gsub(/\\-/, "-", text)
    gsub(/\\\(aq/, "'", text)
    gsub(/\\\(dq/, "\"", text)
    gsub(/\\e|\\\(rs/, "\\", text)
    return text
}

/^\.SH/ {
    in_examples = /^\.SH +"?EXAMPLES?"?[ \t]*$/
    next
}

!in_examples {
    next
}

/^\.\\" exit [0-9]+/ {
    status = $3
    next
}

/^\.\\" not run/ {
    status = "-"
    next
}

/^\.(EX|nf)/ {
    in_block = 1
    next
}

/^\.(EE|fi)/ {
    in_block = 0
    next
}

in_block && (continued || /^ *(\\&)? *\$ /) {
    line = plain($0)
    if (!continued)
        sub(/^ *\$ /, "", line)
    else
        sub(/^ *(> )?/, "", line)
    continued = sub(/\\$/, "", line)
    command = command line
    if (!continued) {
        print (status == "" ? 0 : status), command
        command = status = ""
    }
}
