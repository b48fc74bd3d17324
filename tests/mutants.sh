#!/bin/sh
# Builds wrong versions of embipc.h (tests/mutants.txt), two at a time, and tells which test catches each. A list of tests
# runs until one fails: those of the mutant's line, then LATER. Usage: mutants.sh DIR [NAME...]   without names: all
dir=$1; shift
mkdir -p "$dir"
list=tests/mutants.txt
later="world world_step motion campaign game sleep"

# The header with the change of one line, on standard output.
change() {
    case $1 in
    "s/"*) sed "$1" embipc.h ;;
    *)  awk -v name="${1%% *}" -v text="${1#* }" '
            !waits && !done && index($0, " " name "(") && /^(static|EMBIPC_API)/ && !/;[ \t]*$/ { waits = 1 }
            waits && /\{/ { sub(/\{/, "{ " text); waits = 0; done = 1 }
            { print }' embipc.h ;;
    esac
}

one() {
    name=$1
    line=$(grep "^$name ; " $list)
    first=$(echo "$line" | awk -F' ; ' '{ print $2 }')
    work=$dir/$name
    rm -rf "$work" && mkdir -p "$work"
    cp -r Makefile README.md embipc.h tests tools examples docs "$work"
    change "$(echo "$line" | sed 's/^[^;]* ; [^;]* ; //')" > "$work/embipc.h"
    said="survived"
    if cmp -s embipc.h "$work/embipc.h"; then said="changes nothing"
    else
        for t in $first $later; do
            [ -f "tests/test_$t.c" ] || continue
            if ! MAKEFLAGS= make -s -C "$work" BUILD=build CFLAGS="-O1 -w" "build/test_$t" > "$work/log" 2>&1; then
                said="does not compile: $(grep -m 1 error "$work/log")"; break
            fi
            if ! (cd "$work" && timeout 600 "build/test_$t" > log 2>&1); then said="caught by test_$t"; break; fi
        done
    fi
    rm -rf "$work"
    echo "$said" > "$dir/$name.said"
    echo "$name: $said"
}

if [ "$1" = --one ]; then one "$2"; exit; fi
rm -f "$dir"/*.said
names=${*:-$(grep -v '^#' $list | sed 's/ ; .*//')}
printf '%s\n' $names | xargs -n 1 -P 2 sh "$0" "$dir" --one
passed=$(cat "$dir"/*.said | grep -c '^caught') all=$(cat "$dir"/*.said | grep -c .)
echo "$passed passed, $((all - passed)) failed, 0 skipped"
[ "$passed" = "$all" ]
