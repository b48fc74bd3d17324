#!/bin/sh
# Bytes of code that two programs take of the library: with nothing left out, without each part that can be, and without all
# of them. Functions of libc and of the start are not counted. Usage: size.sh BUILD
dir=$1/size; mkdir -p "$dir"
header=$(pwd)/embipc.h
parts=$(sed -n 's/^ \*   \(EMBIPC_NO_[A-Z0-9_]*\) .*/\1/p' embipc.h)
flags="-std=c99 -Os -ffunction-sections -fdata-sections"

# the library without some parts, and each program with what it needs of it: "-" where it calls a part that is left out
column() {   # name, tools' prefix, options, linker's options, macros
    name=$1 gcc=${2}gcc nm=${2}nm cpu=$3 link=$4; shift 4
    $gcc $flags $cpu "$@" -DEMBIPC_IMPLEMENTATION -x c -c "$header" -o "$dir/$name.o" || return
    for program in hello embed_mesh; do
        if $gcc $flags $cpu "$@" -DEMBI_IMPLEMENTED -Werror=implicit-function-declaration "examples/$program.c" "$dir/$name.o" \
            -o "$dir/$name" -Wl,--gc-sections $link -lm > "$dir/$name.log" 2>&1
        then $nm -S -t d "$dir/$name" | awk '$3 ~ /[tT]/ && $4 ~ /^embi/ { sum += $2 } END { printf "%12d", sum }'
        else printf '%12s' -; fi
    done
}
row() {   # text, macros
    text=$1; shift
    set -- $(printf ' -D%s' "$@" | sed 's/ -D$//')
    column x86 "" "" "" "$@" > "$dir/x86.row" &
    if [ "$arm" ]; then column arm arm-none-eabi- "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard" --specs=nosys.specs "$@" > "$dir/arm.row"; fi
    wait
    printf '%-34s%s%s\n' "$text" "$(cat "$dir/x86.row")" "$([ "$arm" ] && cat "$dir/arm.row")"
}

if echo "#include <math.h>" | arm-none-eabi-gcc -E - > "$dir/log" 2>&1; then arm=1
else arm=; echo "size: arm-none-eabi-gcc with newlib is not installed, Cortex-M7 skipped"; fi
printf '%-34s%24s%s\n%-34s%12s%12s%s\n' "bytes of code at -Os" "$(uname -m)" "${arm:+               Cortex-M7}" "left out" hello embed_mesh "${arm:+       hello  embed_mesh}"
row nothing
for part in $parts; do row "$part" "$part"; done
row "all but EMBIPC_NO_CAGE_BUILDER" $(echo "$parts" | grep -v CAGE_BUILDER)
row all $parts
! grep -q '^ \*   EMBIPC_PLAIN ' embipc.h || row "all, and EMBIPC_PLAIN" $parts EMBIPC_PLAIN
