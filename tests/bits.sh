#!/bin/sh
# Builds ten small worlds with every compiler and for every machine that can be had, and compares where they end with
# tests/bits.golden. Usage: bits.sh DIR [NAME...]   without names: all
dir=$1; shift
mkdir -p "$dir"
# name, compiler and options, what runs its programs, Debian's packages of both. -O2 without -std: products and sums may
# be fused where the machine can.
builds() {
    cat <<END
gcc-O0|gcc -O0||gcc
gcc-O3-native|gcc -O3 -march=native||gcc
clang-O3-native|clang -O3 -march=native||clang
c++|g++ -x c++ -O1 -march=native||g++
lanes-1|gcc -O1 -DEMBIPC_LANES=1||gcc
avx|gcc -O1 -mavx -DEMBIPC_PLAIN_KERNEL||gcc
tcc|tcc||tcc
musl|musl-gcc -O1 -static||musl-tools
i686|i686-linux-gnu-gcc -O1 -msse2 -mfpmath=sse -static||gcc-i686-linux-gnu libc6-dev-i386-cross
aarch64|aarch64-linux-gnu-gcc -O2 -static|qemu-aarch64|gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
armhf|arm-linux-gnueabihf-gcc -O2 -static|qemu-arm|gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user
riscv64|riscv64-linux-gnu-gcc -O2 -static|qemu-riscv64|gcc-riscv64-linux-gnu libc6-dev-riscv64-cross qemu-user
s390x|s390x-linux-gnu-gcc -O2 -static|qemu-s390x|gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user
wasm|clang --target=wasm32-wasi -O2 -nodefaultlibs -Wl,-z,stack-size=1048576|node --no-warnings --experimental-wasi-unstable-preview1 $dir/wasm.mjs|clang lld wasi-libc nodejs
END
}

# one build; its verdict goes to $dir/NAME.said
one() {
    name=$1 compiler=$2 runner=$3 packages=$4
    said=$dir/$name.said
    out=$dir/$name.out
    if ! command -v "${compiler%% *}" > /dev/null || { [ "$runner" ] && ! command -v "${runner%% *}" > /dev/null; }; then
        echo "skipped  $name: Debian's $packages" > "$said"
    elif ! $compiler tests/bits.c -o "$dir/$name" -lm -lc > "$dir/$name.log" 2>&1; then
        if echo 'int main(void) { return 0; }' > "$dir/$name.c" && $compiler "$dir/$name.c" -o "$dir/$name" -lm -lc > /dev/null 2>&1; then
            { echo "FAILED   $name: does not compile"; head -n 5 "$dir/$name.log"; } > "$said"
        else echo "skipped  $name: no whole compiler (Debian's $packages)" > "$said"; fi
    elif ! $runner "$dir/$name" > "$out" 2> "$dir/$name.log"; then
        { echo "FAILED   $name: does not run"; head -n 5 "$dir/$name.log"; } > "$said"
    elif cmp -s "$out" tests/bits.golden; then echo "ok       $name" > "$said"
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
