# Completes a line as at a terminal, and writes the matches to a file, with a last line END.
#
# zsh -f complete.zsh SCRIPT MATCHES LINE
zmodload zsh/zpty || exit 77
script=$1 matches=$2 line=$3
zpty shell zsh -f -i
send() { zpty -w shell "$1" }
send "PROMPT= ; autoload -Uz compinit; compinit -u -D; source ${(q)script}"
# Every match passes `compadd`, which says with -A which ones there are. With -O, -A or -D the functions of zsh ask the same.
send 'compadd() {
  local -a found
  if [[ " $* " == *" -"[OAD]" "* ]]; then builtin compadd "$@"; return; fi
  builtin compadd -A found "$@"
  print -rl -- $found >> '${(q)matches}'
  builtin compadd "$@"
}'
send 'finish() { print END >> '${(q)matches}'; exit }; comppostfuncs=(finish); bindkey "^I" complete-word'
zpty -w -n shell "$line"$'\t'
for _ in {1..300}; do
  # What is not read would fill the terminal.
  zpty -r -t shell > /dev/null 2>&1
  grep -qx END $matches 2> /dev/null && break
  sleep 0.1
done
zpty -d shell
