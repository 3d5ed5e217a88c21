# Completion of memsnap for fish. Commands, options and values come from the program itself.

# The command on the line, or nothing.
function __memsnap_command
    for word in (commandline -opc)[2..-1]
        if not string match -q -- '-*' $word
            echo $word
            return
        end
    end
end

function __memsnap_is
    set -l command (__memsnap_command)
    test "$command" = "$argv[1]"
end

function __memsnap_load
    # only memsnap's own options before the command
    complete -c memsnap -n '__memsnap_is ""' -f -l help -d 'show help'
    complete -c memsnap -n '__memsnap_is ""' -f -l version -d 'show the version'
    complete -c memsnap -n '__memsnap_is help' -f
    type -q memsnap; or return
    for line in (memsnap help --completion 2>/dev/null)
        set -l field (string split \t -- $line)
        switch $field[1]
            case command
                complete -c memsnap -n '__memsnap_is ""' -f -a $field[2] -d $field[3]
                complete -c memsnap -n '__memsnap_is help' -f -a $field[2] -d $field[3]
            case topic
                complete -c memsnap -n '__memsnap_is help' -f -a $field[2] -d $field[3]
            case option
                set -l option -n "__memsnap_is $field[2]" -l (string sub -s 3 -- $field[3])
                if test $field[4] != -
                    set -a option -s (string sub -s 2 -- $field[4])
                end
                set -l required -r
                if string match -q -- '[[]*' $field[5] # optional
                    set required
                else if not string match -qr -- 'FILE|DIR' $field[5]
                    set required -x
                end
                if test $field[5] = -
                    set required
                end
                complete -c memsnap $option $required -d $field[7]
                if test $field[6] != -
                    complete -c memsnap $option $required -a $field[6]
                end
        end
    end
end

__memsnap_load
functions -e __memsnap_load
