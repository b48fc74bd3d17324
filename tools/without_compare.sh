#!/bin/sh
# What each acceleration of embipc.h brings: runs scenes with all of them, and with each alone left out, by turns.
# Usage: without_compare.sh TOOL HEADER DIR REPEATS SCENE.json...
# TOOL is built with tools/without.h. A row for each acceleration: over the scenes, time without it over time with all (of
# each step the least of the runs), and where that is most and least; solves a step with all and without it there; and the
# largest difference of a centre at the end. COUNT=1: instructions by valgrind in place of times, those of making the scene
# taken off: for a machine that does other things as well.
tool=$1 header=$2 dir=$3 repeats=$4
shift 4
mkdir -p "$dir" || exit 2
rm -rf "$dir"/*
sed -n 's/^ *EMBIPC_WITHOUT_\([A-Z_]*\) = 1 << \([0-9]*\),.*/\1 \2/p' "$header" > "$dir/switches"
echo "ALL -" > "$dir/rows"
cat "$dir/switches" >> "$dir/rows"
for r in $(seq "$repeats"); do
    for scene in "$@"; do
        name=$(basename "$scene" .json)
        while read -r what bit; do
            [ -z "$ONLY" ] || [ "$what" = ALL ] || case " $ONLY " in *" $what "*) ;; *) continue ;; esac
            number=0
            [ "$bit" = - ] || number=$((1 << bit))
            out=$dir/$name.$what.$r
            mkdir -p "$out"
            if [ "$COUNT" ]; then
                for end in 0 "${DURATION:-1}"; do
                    EMBIPC_WITHOUT=$number valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
                        "$tool" run "$scene" --duration "$end" --quiet 2>&1 | sed -n 's/.*I *refs: *//p' | tr -d ,
                done > "$out/count"
            fi
            EMBIPC_WITHOUT=$number "$tool" run "$scene" --out "$out" --quiet --report > "$out/report" 2>&1 ||
                echo "$name without $what: $(head -n 1 "$out/report")"
            grep -q "intersections found  none" "$out/report" || echo "$name without $what: an intersection"
        done < "$dir/rows"
    done
done
awk -v dir="$dir" -v repeats="$repeats" -v scenes="$*" '
function read_run(name, what, r,    file, n, f) {
    file = dir "/" name "." what "." r "/steps.csv"
    n = 0
    while ((getline line < file) > 0) {
        split(line, f, ",")
        if (f[1] !~ /^[1-9]/) continue
        n++
        if (r == 1 || f[3] < least[n]) least[n] = f[3]
        if (r == 1) solves += f[4]
    }
    close(file)
    return n
}
function read_all(name, what,    n, r, k, file, f, sum) {
    solves = sum = 0
    for (r = 1; r <= repeats; r++) n = read_run(name, what, r)
    for (k = 1; k <= n; k++) sum += least[k]
    file = dir "/" name "." what ".1/count"
    if ((getline line < file) > 0) {
        r = line
        if ((getline line < file) > 0) sum = line - r
    }
    close(file)
    time[name, what] = sum
    per_step[name, what] = n ? solves / n : 0
    file = dir "/" name "." what ".1/bodies.csv"
    while ((getline line < file) > 0) {
        split(line, f, ",")
        if (f[1] == n) for (k = 0; k < 3; k++) { centre[name, what, f[3], k] = f[4 + k]; bodies[name, f[3]] = f[3] }
    }
    close(file)
}
function moved(name, what,    most, key, part, d, k) {
    for (key in bodies) {
        split(key, part, SUBSEP)
        if (part[1] != name) continue
        d = 0
        for (k = 0; k < 3; k++) d += (centre[name, what, part[2], k] - centre[name, "ALL", part[2], k]) ^ 2
        if (sqrt(d) > most) most = sqrt(d)
    }
    return most + 0
}
BEGIN {
    count = split(scenes, path, " ")
    for (i = 1; i <= count; i++) { name = path[i]; sub(/.*\//, "", name); sub(/\.json$/, "", name); path[i] = name; read_all(name, "ALL") }
    printf "%-19s %8s   %-40s %-34s %10s\n", "without", "mean", "most: time, solves, scene", "least", "centre, m"
    while ((getline line < (dir "/switches")) > 0) {
        split(line, f, " ")
        what = f[1]
        sum = n = 0; most = 0; least_ratio = 1e9; far = 0
        for (i = 1; i <= count; i++) {
            read_all(path[i], what)
            if (!(time[path[i], what] > 0)) continue
            q = time[path[i], what] / time[path[i], "ALL"]
            sum += log(q); n++
            if (q > most) { most = q; at = path[i] }
            if (q < least_ratio) { least_ratio = q; low = path[i] }
            d = moved(path[i], what)
            if (d > far) far = d
            all = all sprintf("    %-19s %-20s %.3f  solves %.2f -> %.2f  centre %.2g m\n", what, path[i], q, per_step[path[i], "ALL"], per_step[path[i], what], d)
        }
        if (!n) continue
        printf "%-19s %8.3f   %6.3f %6.2f -> %-6.2f %-20s %6.3f %-24s %8.2g\n", what, exp(sum / n), most, per_step[at, "ALL"], per_step[at, what], at, least_ratio, low, far
    }
    printf "%s", all > (dir "/all.txt")
}'
