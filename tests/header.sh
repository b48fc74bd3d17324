#!/bin/sh
# Do the instruments of tools/header.py notice the faults of header_faults.h? Usage: header.sh PYTHON BUILD
python=$1 dir=$2/instruments done_=0 bad=0
mkdir -p "$dir/tests"
cp tests/header_faults.h "$dir/faults.h" && : > "$dir/tests/header.sh"

run() { $python tools/header.py "$@" > "$dir/log" 2>&1; code=$?; }   # instrument, files
says() {                                                              # lines of its output
    for line in "$@"; do
        done_=$((done_ + 1))
        grep -qx "$line" "$dir/log" || { echo "FAILED: no line \"$line\" in:"; cat "$dir/log"; bad=$((bad + 1)); }
    done
}
ends() { done_=$((done_ + 1)); [ $code -eq "$1" ] || { echo "FAILED: exit code $code, not $1"; bad=$((bad + 1)); }; }

run metrics "$dir/faults.h"
says 'functions  *9  ' 'structs above 40 members  *1  embi_large (42)' 'flags in embi_body  *3  holds, by_caller, by_call' \
    'functions longer than 5 lines: commented, %  *0.0  0 of 2' 'functions that a step reaches  *9  ' \
    'calls downward  *1  embi_one > embi_late' 'own prototypes  *1  ' 'writable statics  *3  .*embi_counter.*embi_text.*calls'
ends 0
run docs "$dir/faults.h"
says '.*:14: public, and no comment: EMBIPC_API int embipc_world_step(int n);' \
    '.*: embi_unexplained(), 8 lines, has no comment directly above'
ends 1
sed 's/^EMBIPC_API.*;$/&   \/* said *\//' tests/header_faults.h > "$dir/said.h"
run docs "$dir/said.h"
says 'docs-check: 1 of 1 public declarations, 0.0 % .*'
ends 1
run toc "$dir/faults.h"
says '.*: missing are 3 Three' 'toc: section 1 uses "two", and no section above begins so' \
    'toc: section 1 is checked by tests/none.c, and there is none' \
    'toc: section 3 calls embi_unexplained() of "One", and does not say so' \
    'toc: equation Newton names no function' 'toc: equation 9 is missing' \
    'toc: equation 10-17 names embi_nowhere(), and there is none'
ends 1
run toc "$dir/faults.h" --write
says 'toc: the contents were written anew'
[ "$(grep -c '2 Two; 3 Three\.' "$dir/faults.h")" = 1 ] || { echo "FAILED: contents"; bad=$((bad + 1)); }

# tuning: one value each that is right, has no comment, has no row, has another value there, stands elsewhere twice over
mkdir -p "$dir/docs"
printf '| `%s` | %s | scene | %s |\n' EMBI_RIGHT 1.5 'not measured' EMBI_BARE 2 'not measured' \
    EMBI_OTHER 3 '1.1; other values were not compared' EMBI_GONE 4 0.9 > "$dir/docs/measured.md"
{ cat tests/header_faults.h
  echo '/* ==== 5. Tuning ==='; echo ' * Uses: one. */'
  echo '/* s */'; echo '#ifndef EMBI_RIGHT'; echo '#define EMBI_RIGHT ((embipc_real)1.5)'; echo '#endif'; echo
  echo '#define EMBI_BARE 2'; echo '/* s */'; echo '#define EMBI_ROWLESS 5'; echo '/* s */'; echo '#define EMBI_OTHER 6'
  echo '/* ==== 6. Last ==='; echo ' * Uses: one. */'
  echo '#define EMBI_STRAY 7 /* said */'; echo '#define EMBI_SHARE_STRAY (2 * EMBI_SHARE(8))'; } > "$dir/tuned.h"
run toc "$dir/tuned.h"
says 'toc: EMBI_BARE has no comment' 'toc: EMBI_ROWLESS has no row in docs/measured.md' \
    'toc: EMBI_OTHER is 6, and 3 in docs/measured.md' 'toc: EMBI_GONE has a row in docs/measured.md, and is no tuning value' \
    'toc: EMBI_STRAY is defined outside section Tuning' 'toc: EMBI_SHARE_STRAY is defined outside section Tuning' \
    'tuning: 4 values, 2 not measured, 1 measured without another value'
done_=$((done_ + 1))
grep -q 'EMBI_RIGHT' "$dir/log" && { echo "FAILED: EMBI_RIGHT is right"; bad=$((bad + 1)); }
ends 1
run toc "$dir/faults.h"
says 'toc: there is no section Tuning'

# parts: a header with parts lists its sections by them, and numbers both as they stand
sed -e 's|^/\* ==== 1\. .*|/* ######## Part I. Low ####\n * What all needs:\n *   embi_one()   one\n *   embi_lost()   none */\n\n&|' \
    -e '/==== 1\. /,/Uses/s|^ \* Uses|\ * Part of the search.\n&|' \
    -e 's|^/\* ==== 3\. Three.*|/* ######## Part III. High ####\n * What needs it; see chapter "Two" and chapter "None". */\n\n/* ==== 5. Three =====|' \
    -e 's|Uses: platform\.|Uses: part I, part IX.|' tests/header_faults.h > "$dir/parts.h"
run toc "$dir/parts.h"
says 'toc: section 5 Three stands at place 3' 'toc: part III High stands at place 2' \
    'toc: parts.h names chapter "None", and there is none' 'toc: section 5 uses "part IX", and no section above begins so' \
    'toc: part I lists embi_lost(), and there is none' \
    'toc: embi_three() calls embi_unexplained() of "One", which is not in the contract of part I'
done_=$((done_ + 1))
grep -q 'chapter "Two"\|uses "part I"\|does not say so\|calls embi_one' "$dir/log" && { echo "FAILED: named without fault:"; cat "$dir/log"; bad=$((bad + 1)); }
ends 1
run toc "$dir/parts.h" --write
[ "$(grep -c '^ \*   Part III\. High: 3 Three\.' "$dir/parts.h")" = 1 ] && grep -q '^/\* ==== 3\. Three =' "$dir/parts.h" ||
    { echo "FAILED: contents of parts"; bad=$((bad + 1)); }
{ sed '/==== 3\. /q' "$dir/parts.h" | sed '$d'; i=0; while [ $i -lt 700 ]; do echo; i=$((i + 1)); done
  sed -n '/==== 3\. /,$p' "$dir/parts.h"; } > "$dir/long.h"
run toc "$dir/long.h"
says 'toc: section .*Two has 7[0-9]* lines, more than 700'
ends 1
run metrics "$dir/parts.h"
says 'lines per part  *I 5., III .*'

# the contract of a part binds all parts below it, but not the one around the step
sed 's|^/\* #* Part III\. High|/* ######## Part II. Middle ####\n * Nothing. */\n\n&|' "$dir/parts.h" > "$dir/middle.h"
run toc "$dir/middle.h"
says 'toc: embi_three() calls embi_unexplained() of "One", which is not in the contract of part I'
sed 's/Part III\. High/Part III. Around the step/' "$dir/middle.h" > "$dir/around.h"
run toc "$dir/around.h"
done_=$((done_ + 1))
grep -q 'in the contract of' "$dir/log" && { echo "FAILED: the part around the step is bound:"; cat "$dir/log"; bad=$((bad + 1)); }

# frames: those that only indirect calls reach count below who makes the call
frame() { printf 'faults.h:1:1:%s\t%s\t%s\n' "$1" "$2" "${3:-static}"; }
{ frame embipc_world_step 16; frame embi_one 100; frame embi_late.part.0 8; frame embi_late 32; frame embi_run.constprop.0 64
  frame embi_callback 48; frame embi_unexplained 24 dynamic; } > "$dir/faults.su"
run stack "$dir/faults.h" "$dir/faults.su"
says 'recursion: embi_one' 'stack: no bound; frames of unknown size: embi_unexplained'
ends 1
sed 's/embi_one(n - 1)/0/' tests/header_faults.h > "$dir/straight.h"
sed 's/dynamic/static/' "$dir/faults.su" > "$dir/straight.su"
run stack "$dir/straight.h" "$dir/straight.su"
says 'recursion: none' "stack: a step takes at most 268 bytes .*"   # 16 + 100 + 40 + 64 + 48
ends 0
echo "instruments: $((done_ - bad)) of $done_ as they should be"
[ $bad -eq 0 ]
