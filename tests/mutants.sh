#!/bin/sh
# Builds wrong versions of embipc.h (tests/mutants.txt), two at a time, and tells which test catches each. First the tests of
# the mutant's line run, then those in $later. The first failure ends the run. The header itself must pass all of them.
# Usage: mutants.sh DIR [NAME...]   without names: all
#        mutants.sh --check         does each of them change the header? In a second or two
dir=$1; shift
list=tests/mutants.txt
later="world world_step motion campaign game sleep"

# The header with the change of one line, on standard output.
change() {
    case $1 in
    "s/"*) sed "$1" embipc.h ;;
    *)  awk -v name="${1%% *}" -v text="${1#* }" '
            !waits && !done && index($0, " " name "(") && /^(static|EMBIPC_API)/ && !/;[ \t]*$/ { waits = 1 }
            waits && /\{/ { gsub(/&/, "\\\\&", text); sub(/\{/, "{ " text); waits = 0; done = 1 }
            { print }' embipc.h ;;
    esac
}

if [ "$dir" = --check ]; then
    grep -v '^#' $list | (
        while IFS= read -r line; do
            change "$(printf '%s\n' "$line" | sed 's/^[^;]* ; [^;]* ; //')" | cmp -s embipc.h - || continue
            echo "mutants: ${line%% *} changes nothing in embipc.h"; stale=1
        done
        exit ${stale:-0})
    exit
fi
mkdir -p "$dir"

# Builds and runs tests in $work until one fails, and says which in $said.
try() {   # tests
    said=survived
    for t; do
        if ! MAKEFLAGS= make -s -C "$work" BUILD=build CFLAGS="-O1 -w" "build/test_$t" > "$work/log" 2>&1; then
            said="does not compile: $(grep -m 1 error "$work/log")"; return
        fi
        (cd "$work" && timeout 600 "build/test_$t" > log 2>&1)
        case $? in
        0) ;;
        124) said="caught by test_$t, which does not end"; return ;;
        *) said="caught by test_$t"; return ;;
        esac
    done
}
one() {
    name=$1
    line=$(grep "^$name ; " $list)
    first=$(printf '%s\n' "$line" | awk -F' ; ' '{ print $2 }')
    work=$dir/$name
    rm -rf "$work" && mkdir -p "$work"
    cp -r Makefile README.md embipc.h tests tools examples docs "$work"
    if [ "$name" = none ]; then try $(tests_of '.')
    else
        change "$(printf '%s\n' "$line" | sed 's/^[^;]* ; [^;]* ; //')" > "$work/embipc.h"
        if cmp -s embipc.h "$work/embipc.h"; then said="changes nothing"; else try $first $later; fi
    fi
    rm -rf "$work"
    echo "$said" > "$dir/$name.said"
    echo "$name: $said"
}
# all tests of the lines that match, and $later
tests_of() { { grep -v '^#' $list | grep "$1" | awk -F' ; ' '{ print $2 }'; echo "$later"; } | tr ' ' '\n' | sort -u; }

if [ "$1" = --one ]; then one "$2"; exit; fi
names=${*:-$(grep -v '^#' $list | sed 's/ ; .*//')}
for n in $names; do grep -q "^$n ; " $list || { echo "mutants: there is no $n"; exit 1; }; done
for t in $(tests_of .); do [ -f "tests/test_$t.c" ] || { echo "mutants: there is no test_$t"; exit 1; }; done
rm -f "$dir"/*.said
if [ $# = 0 ]; then
    one none
    [ "$said" = survived ] || exit 1
    rm "$dir/none.said"
fi
printf '%s\n' $names | xargs -n 1 -P 2 sh "$0" "$dir" --one
passed=$(cat "$dir"/*.said | grep -c '^caught') all=$(cat "$dir"/*.said | grep -c .)
echo "$passed passed, $((all - passed)) failed, 0 skipped"
[ "$passed" = "$all" ]
