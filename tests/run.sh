#!/bin/sh
# Runs test programs one after the other and adds up their closing lines. RUNNER: a command to run them under.
# Usage: run.sh DATA program...
DATA=$1; export DATA; shift
passed=0 failed=0 skipped=0
for t in "$@"; do
    out=$(mktemp)
    $RUNNER "$t" > "$out" 2>&1
    code=$?
    cat "$out"
    line=$(grep -E ': [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$out" | tail -n 1 | sed 's/.*: //')
    rm -f "$out"
    if [ -z "$line" ]; then echo "$t: no result, exit code $code"; failed=$((failed + 1)); continue; fi
    set_passed=$(echo "$line" | awk '{print $1}'); set_failed=$(echo "$line" | awk '{print $3}'); set_skipped=$(echo "$line" | awk '{print $5}')
    passed=$((passed + set_passed)); failed=$((failed + set_failed)); skipped=$((skipped + set_skipped))
    if [ $code -ne 0 ] && [ "$set_failed" = 0 ]; then echo "$t: exit code $code"; failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
