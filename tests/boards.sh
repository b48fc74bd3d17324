#!/bin/sh
# Builds tests/board.c for boards without an operating system, runs it in qemu, and compares where its worlds end with the same
# program on this machine, with doubles and with floats. The linker refuses more than 256 KiB of code and 512 KiB of memory;
# 320 KiB for doubles in software. Usage: boards.sh DIR
dir=$1
mkdir -p "$dir"
passed=0 failed=0 skipped=0
without="-DEMBIPC_NO_THREADS -DEMBIPC_NO_BUDGET -DEMBIPC_NO_BDF2 -DEMBIPC_NO_JOINTS -DEMBIPC_NO_MATERIALS -DEMBIPC_NO_SLEEP"
for real in double float; do
    gcc -std=c99 -O1 -w -DEMBIPC_IMPLEMENTATION -DEMBIPC_REAL=$real $without tests/board.c -o "$dir/here" -lm &&
        "$dir/here" > "$dir/here_$real.out" ||
        { echo "FAILED   board.c of ${real}s on this machine"; cat "$dir/here_$real.out"; failed=1; }
done

# name, machine of qemu, room for code, options of the processor, type of numbers
board() {
    name=$1_$5 machine=$2 room=$3 cpu=$4 real=$5
    if ! echo "#include <math.h>" | arm-none-eabi-gcc -E - > /dev/null 2>&1 || ! command -v qemu-system-arm > /dev/null; then
        echo "skipped  $name: Debian's gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm"
        skipped=$((skipped + 1)); return
    fi
    sed "s/LENGTH = 256K/LENGTH = $room/" tests/board.ld > "$dir/$name.ld"
    if ! arm-none-eabi-gcc -std=gnu99 -Os -ffunction-sections -fdata-sections -mthumb $cpu -w -DBOARD -DEMBIPC_IMPLEMENTATION \
        -DEMBIPC_REAL=$real -DEMBIPC_STATIC $without tests/board.c tests/board_start.c -o "$dir/$name.elf" -T "$dir/$name.ld" --specs=rdimon.specs \
        -nostartfiles -Wl,--gc-sections -lm > "$dir/$name.log" 2>&1; then
        echo "FAILED   $name: does not link"; grep -m 3 'overflow\|error' "$dir/$name.log"; failed=$((failed + 1)); return
    fi
    timeout 300 qemu-system-arm -M "$machine" -kernel "$dir/$name.elf" -semihosting -icount shift=0 -nographic -monitor none \
        -serial none > "$dir/$name.out" 2> "$dir/$name.log"
    grep -v '^#' "$dir/$name.out" > "$dir/$name.state"; grep -v '^#' "$dir/here_$real.out" > "$dir/here.state"
    if cmp -s "$dir/here.state" "$dir/$name.state"; then echo "ok       $name: the bits of this machine"; passed=$((passed + 1))
    else echo "FAILED   $name"; diff "$dir/here.state" "$dir/$name.state"; failed=$((failed + 1)); fi
    arm-none-eabi-size "$dir/$name.elf" | awk 'NR == 2 { print "         " $1 " bytes of code and constants, with those of libc" }'
    sed -n 's/^# /         /p' "$dir/$name.out"
}
[ $failed = 1 ] || {
    m7="-mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard" m4="-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard"
    board cortex-m7 mps2-an500 256K "$m7" double
    board cortex-m4 mps2-an386 320K "$m4" double
    board cortex-m7 mps2-an500 256K "$m7" float
    board cortex-m4 mps2-an386 256K "$m4" float
}
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
