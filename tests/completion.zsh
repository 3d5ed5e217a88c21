# Prints what share/zsh/_memsnap offers for the last word of the line in $LINE, as a zsh does that
# someone types into. $1 is the folder of _memsnap; memsnap is on PATH.
zmodload zsh/zpty || exit 77
folder=$1
cd $(mktemp -d) || exit 99
trap 'cd /; rm -rf $OLDPWD' EXIT
zpty shell zsh -f -i
# Whatever is added as a match is printed in brackets instead.
zpty -w shell "PS1=; fpath=(${(q)folder} \$fpath); autoload -Uz compinit; compinit -D -u
compadd() {
    if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd \"\$@\"; return; fi
    local -a hits; builtin compadd -A hits \"\$@\"; print -r -- \"[[\${(j: :)hits}]]\"
}
finish() { print '[[END]]' }
comppostfuncs=(finish); zstyle ':completion:*' list-grouped false; bindkey '^I' complete-word
stty -echo 2>/dev/null; print RE'ADY'"
zpty -r shell text '*READY*' || exit 99
zpty -w -n shell "$LINE"$'\t'
zpty -r shell text '*END\]\]*' || exit 99
print -r -- "$text" | sed -n 's/.*\[\[\(.*\)\]\].*/\1/p' | grep -vx -e END -e '' | tr '\n' ' ' | sed 's/ $//'
zpty -d shell
