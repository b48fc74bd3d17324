#!/bin/sh
# Builds ten small worlds with every compiler and for every machine that can be had, and compares where they end with
# tests/bits.golden. Usage: bits.sh DIR [NAME...]   without names: all
dir=$1; shift
mkdir -p "$dir"
WINEPREFIX=${WINEPREFIX:-$(cd "$dir" && pwd)/wine} WINEDEBUG=-all
export WINEPREFIX WINEDEBUG
# the lines of tests/machines
builds() { grep -v '^#' tests/machines | sed "s|DIR|$dir|g"; }

# one build; its verdict goes to $dir/NAME.said
one() {
    name=$1 compiler=$2 runner=$3 packages=$4
    said=$dir/$name.said
    out=$dir/$name.out
    program=$dir/$name libraries="-lm -lc"
    case $name in windows) program=$program.exe libraries=-lm ;; esac   # wine wants the ending; there is no -lc
    if ! command -v "${compiler%% *}" > /dev/null || { [ "$runner" ] && ! command -v "${runner%% *}" > /dev/null; }; then
        echo "skipped  $name: Debian's $packages" > "$said"
    elif ! $compiler tests/bits.c -o "$program" $libraries > "$dir/$name.log" 2>&1; then
        if echo 'int main(void) { return 0; }' > "$dir/$name.c" && $compiler "$dir/$name.c" -o "$program" $libraries > /dev/null 2>&1; then
            { echo "FAILED   $name: does not compile"; head -n 5 "$dir/$name.log"; } > "$said"
        else echo "skipped  $name: no whole compiler (Debian's $packages)" > "$said"; fi
    elif ! $runner "$program" > "$out" 2> "$dir/$name.log"; then
        { echo "FAILED   $name: does not run"; head -n 5 "$dir/$name.log"; } > "$said"
    elif tr -d '\r' < "$out" | cmp -s - tests/bits.golden; then echo "ok       $name" > "$said"
    else { echo "FAILED   $name: other bits"; diff tests/bits.golden "$out" | grep '^>'; } > "$said"; fi
    cat "$said"
}

if [ "$1" = --one ]; then shift; one "$@"; exit; fi
cat > "$dir/wasm.mjs" <<'END'
import { WASI } from "node:wasi";
import { readFileSync } from "node:fs";
const wasi = new WASI({ version: "preview1" });
const module = await WebAssembly.compile(readFileSync(process.argv[2]));
wasi.start(await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport }));
END

for n; do builds | grep -q "^$n|" || { echo "bits: there is no build $n"; exit 1; }; done
rm -f "$dir"/*.said
builds | while IFS='|' read -r name compiler runner packages; do
    case " ${*:-$name} " in *" $name "*) printf '%s\0%s\0%s\0%s\0' "$name" "$compiler" "$runner" "$packages" ;; esac
done | xargs -0 -n 4 -P 2 sh "$0" "$dir" --one
passed=$(cat "$dir"/*.said | grep -c '^ok') failed=$(cat "$dir"/*.said | grep -c '^FAILED')
skipped=$(cat "$dir"/*.said | grep -c '^skipped')
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
