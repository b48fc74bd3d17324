#!/bin/sh
# Runs scenes with two builds of the tool by turns, and tells how their times and their results differ.
# Usage: bench_compare.sh OLD NEW DIR REPEATS THREADS SCENE.json...
# OLD and NEW are `embipc` programs; all that is asked of them is `run --out`. DIR is for their files. A scene that a
# build does not read is skipped and counted. Exit code: 0, or 1 where exact arithmetic found an intersection.
old=$1 new=$2 dir=$3 repeats=$4 threads=$5
shift 5
mkdir -p "$dir" || exit 2
rm -f "$dir"/*.change
echo "scene                  step, new / old       all steps   solves a step          p50 ms        largest change of       smallest gap, m      tightest      crossings   cut"
echo "                       median (of runs)        least      old     new        old       new    centre, m  force, N      old       new      old    new    old    new  old  new"
skipped=0 crossed=0 compared=0
for scene in "$@"; do
    name=$(basename "$scene" .json)
    ok=1
    for r in $(seq "$repeats"); do
        order="old new"
        [ $((r % 2)) = 1 ] || order="new old"
        for who in $order; do
            [ "$ok" = 1 ] || continue
            tool=$old
            [ "$who" = old ] || tool=$new
            out=$dir/$name.$who.$r
            rm -rf "$out"
            mkdir -p "$out"
            "$tool" run "$scene" --out "$out" --threads "$threads" --quiet --report > "$out/report" 2> "$out/errors"
            code=$?
            if [ $code = 2 ] || { [ $code = 1 ] && ! grep -q "intersections found" "$out/report"; }; then
                printf '%-22s skipped: the %s build says: %s\n' "$name" "$who" "$(head -n 1 "$out/errors")"
                ok=0
            fi
        done
    done
    if [ "$ok" = 0 ]; then skipped=$((skipped + 1)); continue; fi
    compared=$((compared + 1))
    grep -q "intersections found  none" "$dir/$name.old.1/report" && grep -q "intersections found  none" "$dir/$name.new.1/report" || crossed=$((crossed + 1))
    awk -v name="$name" -v dir="$dir/$name" -v repeats="$repeats" '
    function sorted_middle(list, n,    i, j, x) {
        for (i = 2; i <= n; i++) {
            x = list[i]
            for (j = i - 1; j > 0 && list[j] > x; j--) list[j + 1] = list[j]
            list[j + 1] = x
        }
        return list[int((n + 2) / 2)]
    }
    # times, solves and smallest gap of a run; least[] of each step over the runs
    function read_steps(who, r,    file, n, f, list) {
        file = dir "." who "." r "/steps.csv"
        n = 0
        while ((getline line < file) > 0) {
            split(line, f, ",")
            if (f[1] !~ /^[1-9]/) continue
            list[++n] = f[3]
            if (r == 1 || f[3] < least[who, n]) least[who, n] = f[3]
            end[who] = f[2]
            if (r > 1) continue
            solves[who] += f[4]
            cut[who] += f[13] == 0
            if (f[7] != "" && f[7] != "inf" && (!(who in gap) || f[7] < gap[who])) gap[who] = f[7]
        }
        close(file)
        steps[who] = n
        return sorted_middle(list, n)
    }
    # where bodies are at the end, and forces as means over the last 0.2 s
    function read_results(who,    file, f, key) {
        file = dir "." who ".1/bodies.csv"
        while ((getline line < file) > 0) {
            split(line, f, ",")
            if (f[1] == steps[who]) for (k = 0; k < 3; k++) centre[who, f[3], k] = f[4 + k]
            if (f[1] == steps[who]) bodies[f[3]] = 1
        }
        close(file)
        file = dir "." who ".1/forces.csv"
        while ((getline line < file) > 0) {
            split(line, f, ",")
            key = f[3] " - " f[4]
            if (f[1] !~ /^[1-9]/ || f[2] < end[who] - 0.2 + 1e-9) continue
            pairs[key] = 1
            for (k = 0; k < 3; k++) force[who, key, k] += f[5 + k]
        }
        close(file)
        window = end[who] > 0.2 ? 0.2 : end[who]
        for (key in pairs) for (k = 0; k < 3; k++) force[who, key, k] *= end[who] / steps[who] / window
        file = dir "." who ".1/report"
        tightest[who] = crossings[who] = "-"
        while ((getline line < file) > 0) {
            if (line ~ /tightest contact/) { sub(/.*contact +/, "", line); sub(/ of.*/, "", line); tightest[who] = line }
            if (line ~ /intersections found/) { sub(/.*found +/, "", line); crossings[who] = line }
        }
        close(file)
    }
    function distance(x, y, key,    k, s) {
        s = 0
        for (k = 0; k < 3; k++) s += (x["old", key, k] - x["new", key, k]) ^ 2
        return sqrt(s)
    }
    BEGIN {
        for (r = 1; r <= repeats; r++) {
            a = read_steps("old", r); b = read_steps("new", r)
            middle_old[r] = a; middle_new[r] = b
            ratio[r] = b / a
        }
        middle = sorted_middle(ratio, repeats)
        for (n = 1; n <= steps["old"]; n++) { total_old += least["old", n]; total_new += least["new", n] }
        read_results("old"); read_results("new")
        for (key in bodies) { d = distance(centre, 0, key); count++; if (d >= moved) { moved = d; who = key } }
        for (key in pairs) { d = distance(force, 0, key); np++; if (d >= pulled) { pulled = d; whom = key } }
        printf "%-22s %7.3f (%.3f to %.3f) %8.3f %8.2f %7.2f %10.4g %9.4g  %9.2g %9.2g %10.3g %9.3g %9s %6s %6s %6s %4d %4d\n", name, middle,
            ratio[1], ratio[repeats], total_new / total_old, solves["old"] / steps["old"], solves["new"] / steps["new"],
            sorted_middle(middle_old, repeats), sorted_middle(middle_new, repeats), moved, pulled, gap["old"], gap["new"],
            tightest["old"], tightest["new"], crossings["old"], crossings["new"], cut["old"], cut["new"]
        print name, middle, total_new / total_old, moved, pulled > (dir ".change")
        if (moved + pulled == 0) exit
        print "    largest: centre of " who ", force " whom
        if (count <= 8) for (key in bodies) if (distance(centre, 0, key) > 0)
            printf "    centre of %-22s %12.8f %12.8f %12.8f    %12.8f %12.8f %12.8f\n", key, centre["old", key, 0], centre["old", key, 1],
                centre["old", key, 2], centre["new", key, 0], centre["new", key, 1], centre["new", key, 2]
        if (np <= 8) for (key in pairs) if (distance(force, 0, key) > 0)
            printf "    force  %-25s %12.6f %12.6f %12.6f    %12.6f %12.6f %12.6f\n", key, force["old", key, 0], force["old", key, 1],
                force["old", key, 2], force["new", key, 0], force["new", key, 1], force["new", key, 2]
    }'
done
[ $compared = 0 ] || cat "$dir"/*.change | awk '{ m += log($2); t += log($3); c = $4 > c ? $4 : c; f = $5 > f ? $5 : f }
    END { printf "geometric mean, new / old: median step %.3f, all steps %.3f; largest change of a centre %.2g m, of a force %.2g N\n",
          exp(m / NR), exp(t / NR), c, f }'
echo "$compared compared, $skipped skipped, $crossed with intersections"
[ $crossed = 0 ]
