#!/bin/sh
# The scenes that have at most so many bodies, one a line. Usage: few_bodies.sh TOOL DIR MOST SCENE.json...
tool=$1 dir=$2 most=$3
shift 3
for scene in "$@"; do
    [ -f "$scene" ] || continue
    mkdir -p "$dir"
    "$tool" run "$scene" --out "$dir" --duration 0.0001 --time-step 0.0001 --quiet > /dev/null 2>&1 || continue
    [ "$(awk -F, '$1 == 1 { n++ } END { print n + 0 }' "$dir/bodies.csv")" -gt "$most" ] || echo "$scene"
done
