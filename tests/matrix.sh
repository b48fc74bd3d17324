#!/bin/sh
# Compiles the header in every way it promises, with warnings as errors. Usage: matrix.sh BUILD
dir=$1/matrix; mkdir -p "$dir"; bad=0; done_=0
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
printf '#include "../../embipc.h"\nint matrix_b(void); int matrix_b(void) { return (int)embipc_default_world_def().max_iterations; }\n' > "$dir/user.c"
printf '#define EMBIPC_IMPLEMENTATION\n#include "../../embipc.h"\n' > "$dir/impl.c"
printf '#define EMBIPC_STATIC\n#define EMBIPC_IMPLEMENTATION\n#include "../../embipc.h"\nint matrix_a(void); int matrix_a(void) { return (int)embipc_default_world_def().max_iterations; }\n' > "$dir/static_a.c"
sed 's/matrix_a/matrix_b/g' "$dir/static_a.c" > "$dir/static_b.c"
printf 'int matrix_b(void); int main(void) { return matrix_b() == 100 ? 0 : 1; }\n' > "$dir/main_1.c"
printf 'int matrix_a(void); int matrix_b(void); int main(void) { return matrix_a() + matrix_b() == 200 ? 0 : 1; }\n' > "$dir/main_2.c"
try() { done_=$((done_ + 1)); "$@" > "$dir/log" 2>&1 || { echo "FAILED: $*"; head -n 20 "$dir/log"; bad=$((bad + 1)); }; }
for cc in gcc clang; do
    command -v $cc > /dev/null || { echo "matrix: $cc is not installed, skipped"; continue; }
    for std in c99 c11 c17; do
        for more in "" "-DEMBIPC_PTHREADS" "-DEMBIPC_VALIDATE" "-DEMBIPC_PLAIN_KERNEL"; do try $cc -std=$std $strict $more -c "$dir/impl.c" -o "$dir/impl.o"; done
        try $cc -std=$std $strict -c "$dir/user.c" -o "$dir/user.o"
        try $cc -std=$std $strict -c "$dir/static_a.c" -o "$dir/static_a.o"
    done
    try $cc -std=c99 "$dir/main_1.c" "$dir/user.o" "$dir/impl.o" -o "$dir/two" -lm; try "$dir/two"
    try $cc -std=c99 $strict -c "$dir/static_b.c" -o "$dir/static_b.o"
    try $cc -std=c99 "$dir/main_2.c" "$dir/static_a.o" "$dir/static_b.o" -o "$dir/static" -lm; try "$dir/static"
done
for cxx in g++ clang++; do
    command -v $cxx > /dev/null || { echo "matrix: $cxx is not installed, skipped"; continue; }
    for f in impl user static_a; do try $cxx -x c++ -std=c++11 $strict -c "$dir/$f.c" -o "$dir/$f.cxx.o"; done
    try $cxx -x c++ -std=c++11 $strict -DEMBIPC_PTHREADS -c "$dir/impl.c" -o "$dir/impl_p.cxx.o"
    try $cxx -x c++ -std=c++11 -c "$dir/main_1.c" -o "$dir/main.cxx.o"
done
echo "matrix: $((done_ - bad)) of $done_ compilations silent"
[ $bad -eq 0 ]
