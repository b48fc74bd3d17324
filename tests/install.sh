#!/bin/sh
# Installs into a directory of its own, compiles hello.c against that with pkg-config and CMake, runs Python on it, and
# removes it.
# Usage: install.sh BUILD CC CFLAGS
set -e
BUILD=$1 CC=$2 CFLAGS=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make_here() {
    MAKEFLAGS= make --no-print-directory BUILD="$BUILD" CC="$CC" CFLAGS="$CFLAGS" DESTDIR="$dir" PREFIX=/opt/embipc "$@"
}
fail() { echo "install: $*"; exit 1; }
at=$dir/opt/embipc
make_here install

# the program that only calls the library
sed -e '/define EMBIPC_IMPLEMENTATION/d' -e 's|"../embipc.h"|<embipc.h>|' examples/hello.c > "$dir/hello.c"
$CC -std=c99 $CFLAGS "$dir/hello.c" -I"$at/include" "$at/lib/libembipc.a" -lm -lpthread -o "$dir/hello_static"
"$dir/hello_static" > "$dir/said_static"
grep -q "after 1.0 s its centre is at z = 0.04799" "$dir/said_static" \
    || fail "hello with libembipc.a says $(cat "$dir/said_static")"
if command -v pkg-config > /dev/null; then
    export PKG_CONFIG_PATH="$at/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$dir"
    $CC -std=c99 $CFLAGS "$dir/hello.c" $(pkg-config --cflags --libs embipc) -Wl,-rpath,"$at/lib" -o "$dir/hello_shared"
    "$dir/hello_shared" > "$dir/said_shared"
    cmp "$dir/said_static" "$dir/said_shared" || fail "the shared and the static library differ"
    "$at/bin/embipc" --version | grep -q "^embipc $(pkg-config --modversion embipc) " \
        || fail "pkg-config and embipc --version differ"
    if command -v cmake > /dev/null; then   # as docs/library.md has it
        mkdir "$dir/cmake"
        cp "$dir/hello.c" "$dir/cmake/you.c"
        { printf 'cmake_minimum_required(VERSION 3.13)\nproject(you C)\nadd_executable(you you.c)\n'
          awk '/^```cmake/ { on = 1; next } /^```/ { on = 0 } on' docs/library.md; } > "$dir/cmake/CMakeLists.txt"
        cmake -S "$dir/cmake" -B "$dir/cmake/build" -DCMAKE_C_COMPILER="$CC" > "$dir/cmake.log" 2>&1 \
          && cmake --build "$dir/cmake/build" >> "$dir/cmake.log" 2>&1 || { cat "$dir/cmake.log"; fail "cmake"; }
        LD_LIBRARY_PATH="$at/lib" "$dir/cmake/build/you" | cmp - "$dir/said_static" \
            || fail "what cmake builds says something else"
    else echo "skipped: no cmake"
    fi
else echo "skipped: no pkg-config"
fi

# no global name outside embipc_
names=$(nm -D --defined-only "$at/lib/libembipc.so" \
    | awk '$3 !~ /^(embipc_|_init$|_fini$|_edata$|_end$|__bss_start$)/ { print $3 }')
[ -z "$names" ] || fail "libembipc.so exports $names"

if command -v python3 > /dev/null; then
    export PYTHONPATH="$at/share/embipc" PYTHONDONTWRITEBYTECODE=1
    python3 tests/bindings.py hello > "$dir/said_python" || fail "tests/bindings.py hello"
    cmp "$dir/said_static" "$dir/said_python" || fail "Python and C differ"
    python3 tests/bindings.py layout > "$dir/layout.c"
    $CC -std=c99 -w "$dir/layout.c" -I"$at/include" -o "$dir/layout"
    "$dir/layout" || fail "structs of embipc.py and of the header differ"
    python3 tests/bindings.py calls || fail "tests/bindings.py calls"
else echo "skipped: no python3"
fi

make_here uninstall
left=$(find "$dir/opt" -type f -o -type l)
[ -z "$left" ] || fail "make uninstall leaves $left"

# a name with spaces, as a build place of packages may have
make_here DESTDIR="$dir/a b" install
"$dir/a b/opt/embipc/bin/embipc" --version > /dev/null || fail "DESTDIR with a space"
make_here DESTDIR="$dir/a b" uninstall
left=$(find "$dir/a b" -type f -o -type l)
[ -z "$left" ] || fail "make uninstall leaves $left"
echo "install: header, library, tool, pkg-config and Python work from where they are installed"
