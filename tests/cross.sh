#!/bin/sh
# A compiler for a machine of tests/machines, as CC of make. In place of each program it writes a script that runs the
# program by its emulator, so that tests, and what they start, run as others do. Usage: cross.sh MACHINE arguments...
machine=$1; shift
line=$(grep "^$machine|" "$(dirname "$0")/machines") || { echo "cross.sh: there is no machine $machine"; exit 2; }
compiler=$(echo "$line" | cut -d '|' -f 2) runner=$(echo "$line" | cut -d '|' -f 3) out=a.out program=1 before=
for a; do
    [ "$before" = -o ] && out=$a
    case $a in -c | -E | -S | -fsyntax-only) program= ;; esac
    before=$a
done
$compiler "$@" || exit
[ "$program" ] && [ "$runner" ] || exit 0
case $machine in windows) binary=$out.exe ;; *) binary=$out.$machine; mv "$out" "$binary" || exit ;; esac
case $binary in /*) ;; *) binary=$PWD/$binary ;; esac
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$runner" "$binary" > "$out"
chmod +x "$out"
