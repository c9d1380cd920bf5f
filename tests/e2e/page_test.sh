#!/bin/sh
# What README.md tells a newcomer agrees with the tool: verbs, options, and the words that it prints.
. "$(dirname "$0")/lib.sh"

page=README.md
page=$(cd "$(dirname "$0")/../.." && pwd)/$page
cd "$work" || exit 1
# Commands as the page shows them, one a line, without what belongs to the program that is run.
{ grep -o '`phoenix [^`]*`' "$page"; grep '^\$ phoenix ' "$page"; } | sed 's/^[`$ ]*//; s/`$//; s/ -- .*//; s/ #.*//' >shown
verbs=$("$phoenix" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
check "the tool has verbs" test "$(echo "$verbs" | wc -l)" -ge 20
for verb in $verbs; do
  check "the page shows $verb" grep -q "^phoenix $verb\>" shown
done
options=0
while read -r _ verb words; do
  case "$verb" in demo | --*) continue ;; esac
  check "phoenix $verb of the page exists" sh -c "echo '$verbs' | grep -qx -- '$verb'"
  "$phoenix" "$verb" --help >help 2>&1
  for word in $words; do
    case "$word" in --?*) ;; *) continue ;; esac
    check "phoenix $verb has the option of the page" grep -q -- "${word%%=*}\>" help
    options=$((options + 1))
  done
done <shown
check "the page shows options" test "$options" -ge 10

# The words of the first column of its table.
sed -n '/^### The words/,/^## /s/^| \([^|]*\) |.*/\1/p' "$page" >words
check "a mesh starts" "$phoenix" up --local 2 -q
"$phoenix" run -n 2 --attach-timeout 600 -- sleep 600 >sleep.out 2>&1 &
job=$!
await "a job runs" sh -c "$phoenix ps | grep -q sleep"
"$phoenix" status >status
for header in $(grep -h '^PROCESSOR \|^JOB ' status); do
  case "$header" in MACHINE | ENDPOINT | STATE | NAME) continue ;; esac  # words of everybody
  singular=$(echo "$header" | sed 's/SSES$/SS/; t; s/\([A-Z]\)S$/\1/' | tr '[:upper:]' '[:lower:]')
  check "the page explains $header" grep -qi "^$singular\>\|^$header\>" words
done
for word in mesh view coordinator; do
  check "status speaks of $word" grep -q "\<$word\>" status
  check "the page explains $word" grep -q "^$word\>" words
done
for word in gathering drain "safe point"; do check "the page explains $word" grep -q "^$word\>" words; done
"$phoenix" kill sleep
wait "$job"
check "the mesh ends" "$phoenix" down
all_done
