#!/bin/sh
# Compiles the header in every way it promises, with warnings as errors; the compilers side by side.
# Usage: matrix.sh BUILD
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion -Werror"
# floats become doubles on purpose, where doubles are needed
floats="$strict -Wno-double-promotion -DEMBIPC_REAL=float"

# Words that other headers define before this one is read: windows.h, complex.h, X11, Arduino, Qt, altivec.h, old compilers.
# None of them may stand in the header: each becomes a character that no compiler takes.
words="near far small hyper huge interface pascal cdecl min max IN OUT OPTIONAL CONST VOID TRUE FALSE FAR NEAR DELETE ERROR STRICT
    THIS PURE ABSOLUTE RELATIVE TRANSPARENT OPAQUE IGNORE INFINITE DIFFERENCE CALLBACK rad1 grp1 edt1 lst1 ctl1 MIN MAX ABS
    I complex imaginary creal None Bool Status True False Success Always Complex Convex Above Below Opposite Unsorted
    PI HALF_PI TWO_PI EULER HIGH LOW INPUT OUTPUT DEFAULT EXTERNAL INTERNAL CHANGE FALLING RISING DEC HEX OCT BIN B0 B1 B10
    vector pixel emit slots signals foreach forever unix linux i386 sun"
# These are macros with arguments: they may be names here, but no bracket may follow one.
calls="F(a) P(a) bit(a) sq(a) word(a) radians(a) degrees(a) constrain(a,b,c) major(a) minor(a) move(a,b) clear() erase() swap(a,b)
    sign(a) vec(a) box(a,b,c) index(a,b) step(a) lock(a) trace(a) check(a) verify(a) require(a)"
# And these are functions of libc that debugging heaps and tgmath.h make macros: members may have their names.
same="free(a) malloc(a) realloc(a,b) calloc(a,b) alloc(a) abs(a) round(a) log(a) sqrt(a) exp(a) pow(a,b) floor(a) clock()"

# the parts that can be left out, as the header lists them, and functions that go with them
parts=$(sed -n 's/^ \*   \(EMBIPC_NO_[A-Z0-9_]*\) .*/\1/p' embipc.h)
all=$(printf -- '-D%s ' $parts)
gone="embipc_cage_build embipc_drive_create embipc_separate embipc_surface_fill embipc_world_validate embipc_body_set_pose embipc_world_cast_ray embipc_world_contact_events embipc_shape embipc_body_wake embipc_world_set_budget embipc_body_ask_pairs embipc_world_draw embipc_world_save"

# sources in the directory $dir
sources() {
    header=$(pwd)/embipc.h
    mkdir -p "$dir"
    printf '#include "%s"\nint matrix_b(void); int matrix_b(void) { return (int)embipc_default_world_def().max_iterations; }\n' "$header" > "$dir/user.c"
    printf '#define EMBIPC_IMPLEMENTATION\n#include "%s"\n' "$header" > "$dir/impl.c"
    printf '#define EMBIPC_STATIC\n#define EMBIPC_IMPLEMENTATION\n#include "%s"\nint matrix_a(void); int matrix_a(void) { return (int)embipc_default_world_def().max_iterations; }\n' "$header" > "$dir/static_a.c"
    {   # the system's headers first: what they do about such words is their affair
        for h in assert errno float limits math stdarg stddef stdint stdio stdlib string time pthread sched; do
            echo "#include <$h.h>"
        done
        for w in $words $calls; do echo "#undef ${w%%(*}"; echo "#define $w @"; done
        for w in $same; do echo "#undef ${w%%(*}"; echo "#define $w (${w%%(*})(${w#*(}"; done
        echo "#define EMBIPC_PTHREADS"
        cat "$dir/impl.c"
    } > "$dir/words.c"
    { printf '#include <complex.h>\n#include <tgmath.h>\n'; cat "$dir/impl.c"; } > "$dir/generic.c"
    printf '#include "%s"\nint main(void) { embipc_world_def d = embipc_default_world_def(); embipc_world *w; return embipc_world_create(&d, &w, NULL) == EMBIPC_OK; }\n' "$header" > "$dir/main_3.c"
    printf 'int main(void) { return 0; }\n' > "$dir/main_0.c"
    printf 'int matrix_b(void); int main(void) { return matrix_b() == 100 ? 0 : 1; }\n' > "$dir/main_1.c"
    printf 'int matrix_a(void); int matrix_b(void); int main(void) { return matrix_a() + matrix_b() == 200 ? 0 : 1; }\n' > "$dir/main_2.c"
}
try() { done_=$((done_ + 1)); "$@" > "$dir/log" 2>&1 || { echo "FAILED: $*"; head -n 20 "$dir/log"; bad=$((bad + 1)); }; }

# must not compile, or make no world; and does not disturb who only calls it
refused() {   # compiler, options
    try "$@" -c "$dir/user.c" -o "$dir/user_fast.o"
    done_=$((done_ + 1))
    # of a static library code is made for what creates a world, and no more
    if "$@" -DEMBIPC_STATIC -DEMBIPC_IMPLEMENTATION "$dir/main_3.c" -o "$dir/fast" -lm > "$dir/log" 2>&1 && ! "$dir/fast"; then
        echo "NOT REFUSED: $*"; bad=$((bad + 1))
    fi
}

# whatever stands side by side, the mathematics are the same
lanes() {   # compiler, options, more of them for code that runs
    try $1 -std=c99 $strict $2 -DEMBIPC_IMPLEMENTATION -fsyntax-only -x c embipc.h
    # the three share one object of the library: see Makefile
    tests="$dir/lanes/test_math $dir/lanes/test_elastic $dir/lanes/test_ldlt"
    try env MAKEFLAGS= make --no-print-directory BUILD="$dir/lanes" CC="$1" CFLAGS="-Werror $2 $3" $tests
    for t in $tests; do try $t; done
}

# A small world runs without parts, with the same bits, and says what it lacks (tests/test_parts.c). The example prints the
# same, or is told that its cage cannot be made.
runs_without() {   # compiler, object of the library, macros
    compiler=$1 object=$2; shift 2
    try $compiler -std=c99 $strict -DEMBI_IMPLEMENTED -DPARTS_AS_GIVEN "$@" tests/test_parts.c "$object" -o "$dir/parts" -lm
    try "$dir/parts"
    grep rests "$dir/log" > "$dir/rests"
    [ -f "$dir/rests_all" ] || cp "$dir/rests" "$dir/rests_all"
    try cmp "$dir/rests" "$dir/rests_all"
    try $compiler -std=c99 $strict -DEMBI_IMPLEMENTED "$@" examples/hello.c "$object" -o "$dir/hello" -lm
    case " $* " in
    *" -DEMBIPC_NO_CAGE_BUILDER "*) try sh -c '! "$1" > "$1_told" && grep EMBIPC_NO_CAGE_BUILDER "$1_told"' sh "$dir/hello" ;;
    *)  try "$dir/hello"; cp "$dir/log" "$dir/hello_now"
        [ -f "$dir/hello_all" ] || cp "$dir/hello_now" "$dir/hello_all"
        try cmp "$dir/hello_now" "$dir/hello_all" ;;
    esac
}
without() {   # compiler, macros
    compiler=$1; shift
    try $compiler -std=c99 $strict "$@" -c "$dir/impl.c" -o "$dir/impl_without.o"
    runs_without $compiler "$dir/impl_without.o" "$@"
}
# without all parts, whose functions are then not there; and without each, by the compiler that takes a third of the time
parts() {   # compiler
    rm -f "$dir/rests_all" "$dir/hello_all"
    runs_without $1 "$dir/impl.o"
    without $1 $all
    try $1 -std=c99 $strict $all "$dir/main_1.c" "$dir/user.c" "$dir/impl_without.o" -o "$dir/least" -lm; try "$dir/least"
    if [ $1 = clang ] || ! command -v clang > /dev/null; then
        for part in $parts; do without $1 -D$part; done
    fi
    for f in $gone; do
        printf '#include "%s"\nint matrix_gone(void); int matrix_gone(void) { return &%s != 0; }\n' "$(pwd)/embipc.h" $f > "$dir/gone.c"
        done_=$((done_ + 1))
        if $1 -std=c99 $all -fsyntax-only "$dir/gone.c" > "$dir/log" 2>&1; then echo "NOT GONE: $f"; bad=$((bad + 1)); fi
        $1 -std=c99 -fsyntax-only "$dir/gone.c" > "$dir/log" 2>&1 || { echo "NOT THERE: $f"; bad=$((bad + 1)); }
    done
}

as_c() {   # compiler
    # Without making code, clang tells of functions that nobody calls, too, where they are not of an included file.
    # "-DEMBIPC_PTHREADS -DEMBIPC_SELFTEST" is how make has it; -fshort-enums: an enum's type is unsigned char.
    for more in "-DEMBIPC_PTHREADS -DEMBIPC_SELFTEST" -DEMBIPC_VALIDATE -DEMBIPC_PROOF -DEMBIPC_PLAIN -DEMBIPC_PLAIN_KERNEL -fshort-enums; do
        try $1 -std=c99 $strict $more -DEMBIPC_IMPLEMENTATION -fsyntax-only -x c embipc.h
    done
    for more in "-DEMBIPC_PTHREADS -DEMBIPC_SELFTEST -DEMBIPC_PROOF -DEMBIPC_VALIDATE" -DEMBIPC_PLAIN -DEMBIPC_LANES=1 "$all"; do
        try $1 -std=c99 $floats $more -DEMBIPC_IMPLEMENTATION -fsyntax-only -x c embipc.h
    done
    # what the standards differ in is syntax
    for std in c11 c17; do
        try $1 -std=$std $strict -DEMBIPC_PTHREADS -DEMBIPC_SELFTEST -DEMBIPC_VALIDATE -fsyntax-only "$dir/impl.c"
        try $1 -std=$std $strict -fsyntax-only "$dir/user.c"
    done
    for f in words generic; do try $1 -std=c99 $strict -fsyntax-only "$dir/$f.c"; done
    # some warnings of gcc come with -O3 alone
    if [ $1 = gcc ]; then try $1 -std=c99 $strict -O3 -c "$dir/impl.c" -o "$dir/impl_o3.o"; fi
    if [ $1 = gcc ]; then lanes $1 -DEMBIPC_LANES=1 -O1; elif grep -q -m 1 -w avx /proc/cpuinfo; then
        watch="-fsanitize=address,undefined -fno-sanitize-recover=all"
        $1 $watch -x c "$dir/main_0.c" -o "$dir/probe" > "$dir/log" 2>&1 && "$dir/probe" || watch=
        lanes $1 -mavx "$watch"   # with -O1 this alone takes 90 s
    fi
    # two files, of which one has the library; and beside them one with a copy of its own
    for f in user impl static_a; do try $1 -std=c99 $strict -c "$dir/$f.c" -o "$dir/$f.o"; done
    try $1 -std=c99 "$dir/main_1.c" "$dir/user.o" "$dir/impl.o" -o "$dir/two" -lm; try "$dir/two"
    try $1 -std=c99 "$dir/main_2.c" "$dir/static_a.o" "$dir/user.o" "$dir/impl.o" -o "$dir/static" -lm; try "$dir/static"
    for fast in -ffast-math -ffinite-math-only -funsafe-math-optimizations; do refused $1 -std=c99 -O2 $fast; done
    parts $1
}
as_cxx() {
    for f in impl user; do
        try $1 -x c++ -std=c++11 $strict -DEMBIPC_PTHREADS -DEMBIPC_SELFTEST -c "$dir/$f.c" -o "$dir/$f.cxx.o"
    done
    for f in static_a words; do try $1 -x c++ -std=c++11 $strict -fsyntax-only "$dir/$f.c"; done
    try $1 -x c++ -std=c++11 $strict $all -fsyntax-only "$dir/impl.c"
    try $1 -x c++ -std=c++11 $floats -DEMBIPC_PTHREADS -DEMBIPC_SELFTEST -fsyntax-only "$dir/impl.c"
    try $1 -x c++ -std=c++11 -c "$dir/main_1.c" -o "$dir/main.cxx.o"
}
# the small one: no system underneath, and enums as small as they can be
as_arm() {   # compiler
    for std in c99 c11; do try $1 -std=$std $strict -mcpu=cortex-m4 -O1 -c "$dir/impl.c" -o "$dir/impl_arm.o"; done
    try $1 -std=c99 $strict -mcpu=cortex-m4 -c "$dir/user.c" -o "$dir/user_arm.o"
    try $1 -std=c99 $floats -mcpu=cortex-m4 -O1 -c "$dir/impl.c" -o "$dir/impl_arm_float.o"
    try $1 -std=c99 $strict $all -mcpu=cortex-m4 -c "$dir/impl.c" -o "$dir/impl_arm_least.o"
}
# everything of one family; its counts go to $dir/count
family() {   # C compiler, C++ compiler, and one more C compiler
    dir=$1; bad=0; done_=0
    sources
    if command -v "$2" > /dev/null; then as_c "$2"; else echo "matrix: $2 is not installed, skipped"; fi
    if command -v "$3" > /dev/null; then as_cxx "$3"; else echo "matrix: $3 is not installed, skipped"; fi
    if [ "$4" ]; then
        if echo "#include <math.h>" | "$4" -E - > "$dir/log" 2>&1; then as_arm "$4"
        else echo "matrix: $4 with newlib is not installed, skipped"; fi
    fi
    echo "$done_ $bad" > "$dir/count"
}

family "$1/matrix/gcc" gcc g++ arm-none-eabi-gcc & family "$1/matrix/clang" clang clang++ & wait
set -- $(cat "$1/matrix/gcc/count") $(cat "$1/matrix/clang/count")
echo "matrix: $(($1 + $3 - $2 - $4)) of $(($1 + $3)) compilations as they should be"
[ $(($2 + $4)) -eq 0 ]
