#!/bin/sh
# Builds the comparison and runs it on the matrices of some scenes. Usage: compare.sh BUILD, from the top folder
# (make compare). It needs CHOLMOD and Eigen, and says which package is missing.
dir=$1/compare; here=tests/compare; mkdir -p "$dir"; missing=
strict="-std=c99 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-unused-function"
CC=${CC:-gcc}; CXX=${CXX:-g++}
need() { printf '#include <%s>\n' "$1" | $CXX -I/usr/include/eigen3 -x c++ -fsyntax-only - 2> /dev/null || missing="$missing $2"; }
need suitesparse/cholmod.h libsuitesparse-dev
need Eigen/Sparse libeigen3-dev
if [ -n "$missing" ]; then
    echo "skipped: not installed (Debian packages):$missing"
    exit 0
fi
set -e
blas=$(readlink -f "$($CXX -print-file-name=libblas.so.3)")
echo "BLAS under CHOLMOD: $blas"
case $blas in *openblas*|*blis*|*mkl*) ;; *) echo "  (libopenblas-dev has a faster one)" ;; esac
$CC $strict -O2 -c $here/ours.c -o "$dir/o2.o"
$CC $strict -O3 -march=native -DOURS_NATIVE -c $here/ours.c -o "$dir/native.o"
$CXX -std=c++11 -Wall -Wextra -O3 -march=native -DNDEBUG -isystem /usr/include/eigen3 \
    $here/ldlt.cpp "$dir/o2.o" "$dir/native.o" -o "$dir/ldlt" -lcholmod
$CC $strict -O2 $here/dump.c -o "$dir/dump" -lm
dump() { [ -e "$dir/$3.mtx" ] || "$dir/dump" "$1" "$2" "$dir/$3.mtx"; }   # once: some of them take a minute
dump examples/scenes/tower.json 100 tower
dump examples/scenes/drop.json 60 drop
dump examples/scenes/grasp_medium.json 110 grasp_medium
dump examples/scenes/grasp_full.json 110 grasp_full
dump mat:30 70 mat
dump pile:27 35 pile
dump slab:16 5 slab
cd "$dir"
OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 BLIS_NUM_THREADS=1 ./ldlt tower.mtx drop.mtx grasp_medium.mtx grasp_full.mtx \
    pile.mtx mat.mtx slab.mtx
