#!/bin/sh
# Runs test programs, as many at a time as there are processors, the short ones first, and adds up their closing lines. Each
# tells how many are done and how long the rest will take, by tests/times and by how long those took. RUNNER: a command to
# run them under. Usage: run.sh DATA program...
DATA=$1; export DATA RUNNER; shift
[ $# -gt 0 ] || { echo "no program of this name: T=part of the name after tests/test_ or tests/validate_"; exit 1; }
dir=$(mktemp -d); export dir
trap 'rm -rf "$dir"' EXIT
# lines "seconds program": short ones by length, then those of more than 5 s, the longest first, so that none is left alone
for t in "$@"; do echo "$(awk -v name="$(basename "$t")" '$1 == name { s = $2 } END { print s + 0.1 }' tests/times) $t"; done |
    awk '{ print ($1 > 5 ? 1e6 - $1 : $1), $0 }' | sort -n | cut -d ' ' -f 2- > "$dir/order"
all=$(awk '{ s += $1 } END { print s }' "$dir/order") start=$(date +%s) count=$#; export all start count
cut -d ' ' -f 2- "$dir/order" | xargs -P "$(nproc 2> /dev/null || echo 1)" -I '{}' sh -c '
    out=$dir/$(basename "{}")
    $RUNNER "{}" > "$out" 2>&1
    echo $? > "$out.code"
    grep -m 1 " {}$" "$dir/order" >> "$dir/done"
    left=$(awk -v all="$all" -v spent=$(($(date +%s) - start)) -v count="$count" \
        "{ s += \$1 } END { printf \"%d of %d done, about %.0f s left\", NR, count, (all > s ? spent * (all - s) / s : 0) }" "$dir/done")
    sed "\$s/\(: [0-9]* passed, [0-9]* failed, [0-9]* skipped\)\$/\1   ($left)/" "$out"'
passed=0 failed=0 skipped=0 wrong=""
for t in "$@"; do
    out=$dir/$(basename "$t")
    code=$(cat "$out.code" 2> /dev/null || echo 1)
    line=$(grep -E ': [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$out" 2> /dev/null | tail -n 1 | sed 's/.*: //')
    [ "$code" = 0 ] || wrong="$wrong $out"
    if [ -z "$line" ]; then echo "$t: no result, exit code $code"; failed=$((failed + 1)); continue; fi
    set_passed=$(echo "$line" | awk '{print $1}'); set_failed=$(echo "$line" | awk '{print $3}'); set_skipped=$(echo "$line" | awk '{print $5}')
    passed=$((passed + set_passed)); failed=$((failed + set_failed)); skipped=$((skipped + set_skipped))
    if [ "$code" -ne 0 ] && [ "$set_failed" = 0 ]; then echo "$t: exit code $code"; failed=$((failed + 1)); fi
done
# what failed again, at the end, where it is seen
for out in $wrong; do echo "in $(basename "$out"):"; grep -E "^FAILED|^  tests/.*: in |Sanitizer|runtime error" "$out"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
