# embipc: plain make, no configure, nothing downloaded.
#   make            the tool, build/embipc            make demo      lifts the bear (under a minute)
#   make test       the short tests (T=name: those, long or short)   make test-all  every test
#   make validate   runs of minutes (the longest, a quarter of an hour: T=cage)
#   make lib        build/libembipc.so and .a         make install   tool, header, library, pkg-config file, Python
#                                                     (PREFIX=/usr/local, DESTDIR; make uninstall)
#   make examples   build/examples/*                  make check     silent compile matrix, order, symbols,
#                                                     comments, contents, stack, what is installed
#   make docs/scenes.md   the keys of scene files, from the table that the reader has
#   make pictures   those of README.md and docs/pictures.md, in build/pictures
#   make paper      the papers' experiments, build/paper/index.html (paper-quick: some of them, in minutes;
#                   paper-browser: opens every page of it in Chromium)
#   make bench      times a set of scenes, tells where the time goes and which targets are met (T=quick: in minutes)
#   make bench-compare BASE=revision   the same scenes with that revision's tool and this one, run for run: times, results
#   make plain-compare   EMBIPC_PLAIN against the full build, on quick bench scenes and examples of at most 20 bodies; and what
#                   each acceleration brings: that one alone left out (T=name: scenes; ONLY="PREDICTIONS PATHS": accelerations)
#   make tuning     what half and double of each tuning value do that docs/measured.md calls not measured (T, ONLY, WRITE)
#   make compare    the sparse solver beside CHOLMOD and Eigen, on the systems of scenes; needs Debian's
#                   libsuitesparse-dev and libeigen3-dev, else it says so
#   make web        a page that runs the library: build/web/index.html; needs clang, lld and wasi-libc, else it says so
#   make browser    the page of embipc run --view in headless Chromium; needs node and chromium, else it says so
#                   (web-browser: the page of make web)
#   make tsan       threads, under the thread sanitizer: none may write to what is another's
#   make bits       ten small worlds end with the same bits with each compiler and machine that can be had (BITS="tcc wasm")
#   make emulated   the short tests, built for another machine of tests/machines and run by its emulator: some hours
#                   (MACHINE=aarch64, armhf, i686, riscv64, s390x, windows; T=name: those)
#   make boards     two worlds on a Cortex-M7 and a Cortex-M4 in qemu, in 256 KiB of code (260 and 320 where doubles are
#                   software) and 512 KiB of memory: the same bits, instructions of a step, bytes; needs arm-none-eabi-gcc with newlib, else it says so
#   make coverage   how much of the header make test-all runs, by gcov; tests/unrun.txt says why not the rest
#   make mutants    wrong versions of the header, of which each must fail a test; about an hour (M="names": those)
#   make fuzz       damaged files for each of 7 mesh readers, damaged robots and scenes, random worlds, forged snapshots, under
#                   sanitizers (T=seconds for each, 60; 600 before a release, 8 for a minute or so)
#   make size       bytes of code of two programs at -Os, x86 and Cortex-M7, without each part that can be left out;
#                   needs arm-none-eabi-gcc with newlib, else it says so
#   make memory     bytes of the arrays of five small worlds; needs addr2line and glibc, else it says so
#   make campaign   violent worlds by chance, T of them (500: 5 minutes); their first ones are part of make test-all
#                   (make campaign-proof: a second computation proves that no step crosses, T=100 in a few minutes)
#                   (make campaign-float: with floats)
#                   (make soak: a million steps of such worlds, hours)
#                   (PLAIN_TOO=1: the candidates of every iteration against those of the plain search, half a second a world)
#   make install-check   whether what make install leaves can be used, from C with pkg-config and from Python
#   DATA=DIR        mesh data outside the project; tests that need it say "skipped" without it
# CC, CXX, CFLAGS as usual; V=1 shows the commands.
CC = gcc
CXX = g++
CFLAGS = -O2
STRICT = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
STD = -std=c99
BUILD = build
T =
MAKEFLAGS += --jobs=$(shell nproc 2>/dev/null || echo 1)
Q = $(if $(V),,@)

HEADER = embipc.h
TOOL_C = $(wildcard tools/*.c)
TESTS = $(filter-out $(WITHOUT),$(patsubst tests/%.c,%,$(wildcard tests/test_*$(T)*.c)))
LONG = $(patsubst tests/%.c,%,$(wildcard tests/validate_*$(T)*.c))
ifeq ($(T),)
LONG := $(filter-out validate_cage,$(LONG))
endif
EXAMPLES = $(patsubst examples/%.c,%,$(wildcard examples/*.c))

all: $(BUILD)/embipc

$(BUILD) $(BUILD)/examples $(BUILD)/out $(BUILD)/tools:
	$(Q)mkdir -p $@

# the page of --view as C: a string for each line, as compilers promise to take no more than 4095 characters in one;
# a line @FILE of view.html stands for that file
$(BUILD)/view_page.h: $(wildcard tools/view*.html tools/view*.css tools/view*.js) | $(BUILD)
	$(Q){ echo '/* made of tools/view* by make */'; echo 'static const char *const view_page[] = {'; \
	  awk '/^@view/ { f = "tools/" substr($$0, 2); while ((getline line < f) > 0) print line; next } { print }' \
	    tools/view.html | sed -e 's/[\\"?]/\\&/g' -e 's/.*/    "&\\n",/'; echo '    0'; echo '};'; } > $@.new
	$(Q)mv $@.new $@

# The library, compiled once for the tool and for all programs that only call it, and the parts of the tool.
LIBRARY_O = $(BUILD)/library.o
LIBRARY = $(CC) $(STD) $(STRICT) $(CFLAGS) -DEMBIPC_PTHREADS -DEMBIPC_SELFTEST -DEMBIPC_IMPLEMENTATION -x c -c
$(BUILD)/library.o: $(HEADER) | $(BUILD)
	$(Q)$(LIBRARY) -fstack-usage $(HEADER) -o $@
TOOL_O = $(TOOL_C:tools/%.c=$(BUILD)/tools/%.o)
$(BUILD)/tools/%.o: tools/%.c $(wildcard tools/*.h) $(HEADER) $(BUILD)/view_page.h | $(BUILD)/tools
	$(Q)$(CC) $(STD) $(STRICT) $(CFLAGS) -DBENCH_FLAGS='"$(CFLAGS)"' -I$(BUILD) -DEMBIPC_PTHREADS -c $< -o $@
$(BUILD)/tools.a: $(filter-out %/main.o,$(TOOL_O))
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/embipc: $(BUILD)/tools/main.o $(BUILD)/tools.a $(LIBRARY_O)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ -lm -lpthread

# ---- a library for others ----------------------------------------------------------------------
# Version 0.N of EMBIPC_VERSION N. PREFIX: where it will be; DESTDIR: stands before PREFIX, for packages.
VERSION := 0.$(shell sed -n 's/^\#define EMBIPC_VERSION //p' $(HEADER))
PREFIX = /usr/local
DESTDIR =
AT = $(DESTDIR)$(PREFIX)
INSTALLED = bin/embipc include/embipc.h lib/libembipc.a lib/libembipc.so lib/libembipc.so.0 lib/libembipc.so.$(VERSION) \
  lib/pkgconfig/embipc.pc share/embipc/embipc.py
$(BUILD)/library_pic.o: $(HEADER) | $(BUILD)
	$(Q)$(LIBRARY) -fPIC -fno-semantic-interposition $(HEADER) -o $@
$(BUILD)/libembipc.a: $(BUILD)/library_pic.o
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/libembipc.so: $(BUILD)/library_pic.o
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,libembipc.so.0 $^ -o $@ -lm -lpthread
lib: $(BUILD)/libembipc.a $(BUILD)/libembipc.so
install: lib $(BUILD)/embipc
	$(Q)mkdir -p "$(AT)/bin" "$(AT)/include" "$(AT)/lib/pkgconfig" "$(AT)/share/embipc"
	$(Q)install -m 755 $(BUILD)/embipc "$(AT)/bin/embipc"
	$(Q)install -m 644 $(HEADER) "$(AT)/include/embipc.h"
	$(Q)install -m 644 $(BUILD)/libembipc.a "$(AT)/lib/libembipc.a"
	$(Q)install -m 755 $(BUILD)/libembipc.so "$(AT)/lib/libembipc.so.$(VERSION)"
	$(Q)ln -sf libembipc.so.$(VERSION) "$(AT)/lib/libembipc.so.0"
	$(Q)ln -sf libembipc.so.0 "$(AT)/lib/libembipc.so"
	$(Q)install -m 644 tools/embipc.py "$(AT)/share/embipc/embipc.py"
	$(Q)printf '%s\n' 'prefix=$(PREFIX)' 'Name: embipc' 'Description: Embedded Incremental Potential Contact' \
	  'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -lembipc' 'Libs.private: -lm -lpthread' \
	  > "$(AT)/lib/pkgconfig/embipc.pc"
uninstall:
	$(Q)for f in $(INSTALLED); do rm -f "$(AT)/$$f"; done
	$(Q)rmdir "$(AT)/share/embipc" 2> /dev/null || true
# what is installed: a program against it with pkg-config, and Python
install-check: lib $(BUILD)/embipc
	@sh tests/install.sh $(BUILD) "$(CC)" "$(CFLAGS)"

demo: $(BUILD)/embipc | $(BUILD)/out
	$(Q)$(BUILD)/embipc run examples/scenes/grasp.json --out $(BUILD)/out/grasp --report --picture $(BUILD)/grasp.png
	@echo "picture: $(BUILD)/grasp.png"

# the experiments of the papers, one page: build/paper/index.html (T=section,section: only those)
$(BUILD)/embipc_paper: $(wildcard tools/paper/*.[ch] tools/*.h tests/*.h) $(BUILD)/tools.a $(BUILD)/library.o
	$(Q)$(CC) $(STD) $(STRICT) -Wno-unused-function $(CFLAGS) -DEMBIPC_PTHREADS $(filter %.c,$^) $(filter %.a %.o,$^) -o $@ -lm -lpthread

paper: $(BUILD)/embipc_paper
	@DATA="$(DATA)" $(BUILD)/embipc_paper --out $(BUILD)/paper $(if $(T),--only $(T))
paper-quick: $(BUILD)/embipc_paper
	@DATA="$(DATA)" $(BUILD)/embipc_paper --quick --out $(BUILD)/paper-quick $(if $(T),--only $(T))
# every page of a report, $(BUILD)/paper or REPORT, in Chromium on a screen and on a phone; SHOTS: a folder for screenshots
paper-browser:
	@command -v node > /dev/null || { echo "skipped: no node"; echo "0 passed, 0 failed, 1 skipped"; }
	@! command -v node > /dev/null || node tests/browser/report_test.js $(or $(REPORT),$(BUILD)/paper) $(SHOTS)

# the keys of scene files, as embipc scene-help prints them
docs/scenes.md: $(BUILD)/embipc
	$(Q)$(BUILD)/embipc scene-help --markdown > $@.new
	$(Q)mv $@.new $@

pictures: $(BUILD)/embipc
	@BUILD=$(BUILD) sh docs/pictures.sh $(BUILD)/pictures

# ---- tests -------------------------------------------------------------------------------------
# A test that only calls the library shares its object. Those that look inside share one more, whose values some of them set
# (tests/small.h). What they include is its declarations (tests/inside.h, inside.awk). A test that defines
# EMBIPC_IMPLEMENTATION itself carries its own.
$(BUILD)/inside_parts.h $(BUILD)/inside.c: $(HEADER) tests/inside.awk | $(BUILD)
	$(Q)awk -v make=$(subst .,,$(suffix $@)) -f tests/inside.awk $(HEADER) > $@.new
	$(Q)mv $@.new $@
$(BUILD)/inside.o: $(BUILD)/inside.c tests/small.h
	$(Q)$(LIBRARY) -include tests/small.h $< -o $@

programs_with = $(patsubst tests/%.c,$(BUILD)/%,$(shell grep -l $(1) tests/test_*.c tests/validate_*.c tests/fuzz_*.c))
WHOLE := $(call programs_with,'define EMBIPC_IMPLEMENTATION')
INSIDE := $(call programs_with,'"inside.h"')
$(INSIDE): $(BUILD)/inside.o
$(filter-out $(WHOLE) $(INSIDE),$(call programs_with,.)): $(LIBRARY_O)
# of the tool a test gets what it does not include as .c
$(call programs_with,'tools/'): $(BUILD)/tools.a
TEST_PARTS = $(HEADER) $(wildcard tests/*.h tools/*.[ch]) $(BUILD)/inside_parts.h
TEST_BUILD = $(CC) $(STD) $(STRICT) -Wno-unused-function $(CFLAGS) -I$(BUILD) -DEMBIPC_PTHREADS \
  $(if $(filter $@,$(WHOLE)),-DEMBIPC_STATIC,-DEMBIPC_INSIDE) $< $(filter %.a,$^) $(filter %.o,$^) -o $@ -lm -lpthread
$(BUILD)/test_%: tests/test_%.c $(TEST_PARTS) | $(BUILD)
	$(Q)$(TEST_BUILD)
$(BUILD)/validate_%: tests/validate_%.c $(TEST_PARTS) | $(BUILD)
	$(Q)$(TEST_BUILD)
$(BUILD)/fuzz_%: tests/fuzz_%.c $(TEST_PARTS) | $(BUILD)
	$(Q)$(TEST_BUILD)

# Two tests include an example; of the header they get the declarations.
$(BUILD)/test_tiny: examples/tiny_ipc.c
$(BUILD)/test_convex: $(BUILD)/convex_contact.inc
$(BUILD)/convex_contact.inc: examples/convex_contact.c | $(BUILD)
	$(Q)sed -e '/^#define EMBIPC_IMPLEMENTATION/d' -e '/^#include "..\/embipc.h"/d' $< > $@

# Two carry the whole header, one with wrong formulas, and run for no time: unoptimized they compile in 6 s instead of 20.
$(BUILD)/selftest_broken.h: $(HEADER) tests/selftest_breaks.sed | $(BUILD)
	$(Q)sed -f tests/selftest_breaks.sed $(HEADER) > $@
$(BUILD)/test_selftest_broken: $(BUILD)/selftest_broken.h
$(BUILD)/test_selftest_broken $(BUILD)/test_parts: private CFLAGS := $(patsubst -O2,-O0,$(CFLAGS))

# tests/times: the processor time of each test, and which are long to run or to compile. make test leaves those out.
LONGER = $(shell awk '$$3 == "long" { print $$1 }' tests/times)
SHORTER = $(if $(T),$(TESTS),$(filter-out $(LONGER),$(TESTS)))
tests: $(addprefix $(BUILD)/,$(TESTS)) $(BUILD)/embipc examples
test: begin $(addprefix $(BUILD)/,$(SHORTER)) $(BUILD)/embipc examples
	@sh tests/run.sh "$(DATA)" $(addprefix $(BUILD)/,$(SHORTER))
test-all: begin tests
	@sh tests/run.sh "$(DATA)" $(addprefix $(BUILD)/,$(TESTS))
begin:
	@echo "compiling what has changed; with the run all of it takes about 4 minutes of processor time (make test-all: 11)"

validate: $(addprefix $(BUILD)/,$(LONG)) $(BUILD)/embipc
	@PRESS="$(or $(PRESS),$(if $(T),4 7 11 16,4 7))" sh tests/run.sh "$(DATA)" $(addprefix $(BUILD)/,$(LONG))

# Left out: tests of numbers, and of what `make tsan` and `make fuzz` try; other tests call the same functions. GOAL=tests: only
# builds the tests; EVERY=1: all tests, and all cases of those that take some otherwise; T=name: also those left out.
NUMBERS = $(if $(EVERY)$(T),,test_motion test_integrator test_defaults test_self_contact test_dual test_world_material test_slope \
  test_ccd test_contact test_friction test_elastic test_seams test_threads test_campaign test_sleep test_game_large test_reach test_cells test_tiny test_convex test_selftest_broken test_parts)
asan:
	$(Q)$(SANITIZED) $(or $(GOAL),test-all) T="$(T)" WITHOUT="$(NUMBERS)"
# in a build of its own; one object less: programs that only call the library take that of those that look inside
SANITIZED = MAKEFLAGS= $(MAKE) --no-print-directory BUILD=$(BUILD)/asan LIBRARY_O=$(BUILD)/asan/inside.o EXAMPLES= CC="$(CC)" \
  CFLAGS="-Og -g1 -fsanitize=address,undefined -fno-sanitize-recover=all $(if $(EVERY),-DTEST_EVERY)"

# do threads write to what is another's?
tsan: | $(BUILD)
	$(Q)$(CC) $(STD) -O1 -g1 -fsanitize=thread -Wno-unused-function -I$(BUILD) -DEMBIPC_STATIC -DEMBIPC_PTHREADS tests/test_threads.c -o $(BUILD)/tsan -lm -lpthread
	@TSAN_OPTIONS=halt_on_error=1 $(BUILD)/tsan

# four seconds of the grasp as a page, played by Chromium; screenshots in $(BUILD)
browser: $(BUILD)/embipc
	@$(BUILD)/embipc run examples/scenes/grasp.json --quiet --view $(BUILD)/view.html
	@$(BUILD)/embipc run examples/scenes/arm.json --quiet --view $(BUILD)/view_joints.html
	@$(BUILD)/embipc run examples/scenes/arch.json --duration 0.05 --quiet --view $(BUILD)/view_many.html
	@command -v node > /dev/null || { echo "skipped: no node"; echo "0 passed, 0 failed, 1 skipped"; }
	@! command -v node > /dev/null || node tests/browser/view_test.js $(BUILD)/view.html $(BUILD)/view_joints.html $(BUILD)/view_many.html
# the page that runs the library, played by mouse and fingers; screenshots beside it
web-browser: web
	@command -v node > /dev/null || { echo "skipped: no node"; echo "0 passed, 0 failed, 1 skipped"; }
	@! command -v node > /dev/null || node tests/browser/web_test.js $(WEB)/index.html

# One page with the library as WebAssembly in it, packed: $(BUILD)/web/index.html. Its lines @FILE stand for files.
WEB = $(BUILD)/web
WASM_FLAGS = -Oz -fno-inline-functions
# linked without an option -O, as clang then would run wasm-opt where there is one
WASM = clang --target=wasm32-wasi -mbulk-memory -mnontrapping-fptoint -msign-ext
# the stack lies below all data, so that more than it has is an error and not a change of data
WASM_LINK = -mexec-model=reactor -nostartfiles -nodefaultlibs -lc -lm -Wl,--no-entry,--strip-all,--compress-relocations \
  -Wl,--stack-first,-z,stack-size=1048576
$(WEB)/web.o: tools/web/web.c $(HEADER)
	$(Q)$(WASM) $(STD) $(STRICT) -Wno-unused-function $(WASM_FLAGS) -DNDEBUG -c $< -o $@
$(WEB)/web.wasm: $(WEB)/web.o
	$(Q)$(WASM) $< $(WASM_LINK) -o $@
$(WEB)/scene: tools/web/bear.json $(BUILD)/embipc
	$(Q)$(BUILD)/embipc run $< --quiet --view $@.html
	$(Q)sed -n '/^<script id="scene"/,/^<\/script>/p' $@.html > $@
$(WEB)/index.html: $(WEB)/web.wasm $(WEB)/scene $(wildcard tools/web/*.html tools/web/*.css tools/web/*.js tools/view*.css tools/view*.js)
	$(Q)gzip -9 -n -c $(WEB)/web.wasm | base64 > $(WEB)/wasm
	$(Q)awk -v web=$(WEB) '/^@/ { f = substr($$0, 2); if (f !~ /\//) f = web "/" f; \
	  while ((getline line < f) > 0) print line; next } { print }' tools/web/web.html > $@.new
	$(Q)mv $@.new $@
web:
	$(Q)mkdir -p $(WEB)
	@if printf '#include <stdio.h>\n__attribute__((export_name("f"))) int f(char *s, double x) { return snprintf(s, 9, "%%g", x); }\n' | \
	  $(WASM) -x c - $(WASM_LINK) -o $(WEB)/probe.wasm 2> /dev/null; then \
	  MAKEFLAGS= $(MAKE) -s --no-print-directory CC="$(CC)" CFLAGS="$(CFLAGS)" BUILD=$(BUILD) WASM_FLAGS="$(WASM_FLAGS)" \
	    $(WEB)/index.html && echo "page: $(WEB)/index.html"; \
	else rm -f $(WEB)/index.html; echo "skipped: no compiler for WebAssembly (Debian: clang, lld, wasi-libc)"; fi

# The set of examples/scenes/bench/list.json, by plain -O2 and beside it by -O3 for this very machine, then the
# targets; build/bench.json and build/bench_native.json. T=quick: the quick set; T=name: cases with that in their names.
BENCH = examples/scenes/bench/list.json
BENCH_RUN = --threads 2 --repeats $(or $(REPEATS),3) --data "$(DATA)" $(if $(T),$(if $(filter quick,$(T)),--quick,--only "$(T)")) $(BENCH)
NATIVE = -O3 -march=native
bench: $(BUILD)/embipc $(BUILD)/embipc_native
	@echo "$(CFLAGS):"
	@$(BUILD)/embipc bench --json $(BUILD)/bench.json $(BENCH_RUN)
	@echo "$(NATIVE):"
	@$(BUILD)/embipc_native bench --json $(BUILD)/bench_native.json $(BENCH_RUN)
	@$(BUILD)/embipc bench --targets $(BENCH) $(BUILD)/bench.json $(BUILD)/bench_native.json

# BASE (a git revision) against what is here, both built with CFLAGS, run for run in one go over the same scenes: T as
# above, or SCENES="a.json b.json". REPEATS=3, THREADS=1.
BASE = HEAD
COMPARE = $(BUILD)/compare
bench-compare: | $(BUILD)
	$(Q)rm -rf $(COMPARE) && mkdir -p $(COMPARE)/old $(COMPARE)/scenes
	$(Q)git archive $(BASE) | tar -x -C $(COMPARE)/old
	$(Q)MAKEFLAGS= $(MAKE) --no-print-directory -C $(COMPARE)/old CC="$(CC)" CFLAGS="$(CFLAGS)" BUILD=build build/embipc
	$(Q)MAKEFLAGS= $(MAKE) --no-print-directory CC="$(CC)" CFLAGS="$(CFLAGS)" BUILD=$(COMPARE)/new $(COMPARE)/new/embipc
	@$(if $(SCENES),true,$(COMPARE)/new/embipc bench --write $(COMPARE)/scenes $(BENCH_RUN))
	@echo "old: $(BASE), new: what is here; both $(CFLAGS), $(or $(THREADS),1) thread(s)"
	@sh tools/bench_compare.sh $(COMPARE)/old/build/embipc $(COMPARE)/new/embipc $(COMPARE)/runs $(or $(REPEATS),3) \
	  $(or $(THREADS),1) $(or $(SCENES),$(COMPARE)/scenes/*.json)

# the reference method, and then each acceleration alone left out; REPEATS=3
PLAIN = $(BUILD)/plain
plain-compare: | $(BUILD)
	$(Q)rm -rf $(PLAIN) && mkdir -p $(PLAIN)/scenes
	$(Q)MAKEFLAGS= $(MAKE) --no-print-directory CC="$(CC)" CFLAGS="$(CFLAGS)" BUILD=$(PLAIN)/full $(PLAIN)/full/embipc
	$(Q)MAKEFLAGS= $(MAKE) --no-print-directory CC="$(CC)" CFLAGS="$(CFLAGS) -DEMBIPC_PLAIN" BUILD=$(PLAIN)/without_all $(PLAIN)/without_all/embipc
	$(Q)MAKEFLAGS= $(MAKE) --no-print-directory CC="$(CC)" CFLAGS="$(CFLAGS) -include tools/without.h" BUILD=$(PLAIN)/without $(PLAIN)/without/embipc
	@$(PLAIN)/full/embipc bench --write $(PLAIN)/scenes --quick $(if $(T),--only "$(T)") $(BENCH) > $(PLAIN)/cases
	@echo "old: all accelerations, new: EMBIPC_PLAIN; both $(CFLAGS), one thread, scenes of at most 20 bodies"
	@sh tools/bench_compare.sh $(PLAIN)/full/embipc $(PLAIN)/without_all/embipc $(PLAIN)/runs 1 1 \
	  $$(sh tools/few_bodies.sh $(PLAIN)/full/embipc $(PLAIN)/few 20 $(PLAIN)/scenes/*.json examples/scenes/*$(T)*.json)
	@echo "each acceleration alone left out, quick bench scenes:"
	@ONLY="$(ONLY)" sh tools/without_compare.sh $(PLAIN)/without/embipc embipc.h $(PLAIN)/each $(or $(REPEATS),3) $(PLAIN)/scenes/*.json
# values of chapter Tuning halved and doubled, on quick bench scenes (T=name: those; SCENES="a.json b.json"; ONLY="EMBI_X": these
# values, else all that are not measured; tools/tuning.py tells of FACTORS, COUNT, THREADS, MODEL, REPEATS, EACH, and of WRITE=1)
TUNING = $(foreach v,ONLY FACTORS COUNT THREADS MODEL REPEATS EACH WRITE,$(v)="$($(v))")
tuning: $(BUILD)/tools/main.o $(BUILD)/tools.a | $(BUILD)/embipc
	$(Q)rm -rf $(BUILD)/tuning && mkdir -p $(BUILD)/tuning
	@$(if $(SCENES),true,$(BUILD)/embipc bench --write $(BUILD)/tuning --quick $(if $(filter-out quick,$(T)),--only "$(T)") $(BENCH) > $(BUILD)/tuning/cases)
	@BUILD='$(LIBRARY) -w $(if $(MODEL),$(foreach f,create for destroy,-Dembipc_pool_$(f)=embipc_real_$(f))) %.h -o %.o && \
	  $(CC) $(CFLAGS) $^ %.o $(if $(MODEL),-DEMBIPC_PTHREADS tools/model/pool.c) -o % -lm -lpthread' $(TUNING) python3 tools/tuning.py $(HEADER) \
	  $(BUILD)/embipc_tuned docs/measured.md $(or $(SCENES),$(BUILD)/tuning/*.json)
$(BUILD)/library_native.o: $(HEADER) | $(BUILD)
	$(Q)$(LIBRARY) $(NATIVE) $(HEADER) -o $@
$(BUILD)/embipc_native: $(TOOL_C) $(wildcard tools/*.h) $(BUILD)/library_native.o $(BUILD)/view_page.h
	$(Q)$(CC) $(STD) $(STRICT) -I$(BUILD) $(NATIVE) -DBENCH_FLAGS='"$(NATIVE)"' -DEMBIPC_PTHREADS $(TOOL_C) $(BUILD)/library_native.o -o $@ -lm -lpthread

# our sparse LDL^T beside two others, on the systems of scenes; the two are not part of anything else here
compare: | $(BUILD)
	@CC="$(CC)" CXX="$(CXX)" sh tests/compare/compare.sh $(BUILD)

FUZZ = fuzz_meshio fuzz_import fuzz_world fuzz_snapshot
fuzzers: $(FUZZ:%=$(BUILD)/%)
fuzz:
	$(Q)$(SANITIZED) fuzzers
	@for f in $(FUZZ); do $(BUILD)/asan/$$f $(or $(T),60) || exit 1; done

# violent worlds by chance: what no failing call may change, no NaN, no energy from nowhere (T=worlds, FIRST=seed)
campaign: $(BUILD)/test_campaign
	@$(BUILD)/test_campaign $(or $(T),500) $(or $(FIRST),1) $(if $(PLAIN_TOO),plain)
# with the proof of each step (EMBIPC_PROOF), by a library of its own
campaign-proof: | $(BUILD)
	@$(CC) $(STD) -Wno-unused-function $(CFLAGS) -DEMBIPC_STATIC -DEMBIPC_PROOF tests/test_campaign.c -o $(BUILD)/campaign_proof -lm && \
	$(BUILD)/campaign_proof $(or $(T),100) $(or $(FIRST),1)
# with floats
campaign-float: | $(BUILD)
	@$(CC) $(STD) -w $(CFLAGS) -DEMBIPC_STATIC -include tests/as_float.h tests/test_campaign.c -o $(BUILD)/campaign_float -lm && \
	$(BUILD)/campaign_float $(or $(T),100) $(or $(FIRST),1)
# the same for a million steps, in four parts side by side; each tells what it found
soak: $(BUILD)/test_campaign
	@for k in 0 1 2 3; do echo $$((1000000 * k + 100000)); done | xargs -P $$(nproc) -n 1 $(BUILD)/test_campaign $(or $(T),7500)

coverage:
	@-MAKEFLAGS= $(MAKE) --no-print-directory BUILD=$(BUILD)/coverage CFLAGS="-O1 --coverage -fprofile-update=atomic" DATA="$(DATA)" test-all
	@python3 tests/coverage.py $(BUILD)/coverage $(BUILD)/coverage/missed
mutants: | $(BUILD)
	@sh tests/mutants.sh $(BUILD)/mutants $(M)
bits: | $(BUILD)
	@sh tests/bits.sh $(BUILD)/bits $(BITS)
MACHINE = aarch64
emulated:
	@MAKEFLAGS= $(MAKE) --no-print-directory CC="sh tests/cross.sh $(MACHINE)" CFLAGS= BUILD=$(BUILD)/$(MACHINE) \
	  DATA="$(DATA)" T="$(T)" test
boards: | $(BUILD)
	@sh tests/boards.sh $(BUILD)/boards
valgrind: $(addprefix $(BUILD)/,$(TESTS))
	@RUNNER="valgrind -q --error-exitcode=1 --leak-check=full" sh tests/run.sh "$(DATA)" $(addprefix $(BUILD)/,$(TESTS))

# ---- what the header promises about itself -------------------------------------------------------
check: matrix order symbols instruments toc docs-check stack install-check

# silent as C99, C11, C17 and C++11, implementation in C and in C++, two files, and EMBIPC_STATIC
matrix: | $(BUILD)
	@sh tests/matrix.sh $(BUILD)

# a chapter uses only what stands above it: no prototypes of static functions, and no call to a
# public function that is defined further down (public prototypes removed)
order: | $(BUILD)
	@test -z "$$(awk '/^#ifdef EMBIPC_IMPLEMENTATION/{i=1} i && /^static[^={]*\);/' $(HEADER))" || \
	  { echo "order: the implementation has a prototype"; exit 1; }
	@{ echo '#define EMBIPC_IMPLEMENTATION'; echo '#define EMBIPC_PTHREADS'; echo '#define EMBIPC_VALIDATE'; echo '#define EMBIPC_SELFTEST'; \
	  awk '/^#ifdef EMBIPC_IMPLEMENTATION/{impl=1} !impl && /^EMBIPC_API/{skip=1} !skip{print} \
	       skip{if(/;/)skip=0; print ""}' $(HEADER); } > $(BUILD)/order.c
	@$(CC) -std=c99 -fsyntax-only -Werror=implicit-function-declaration $(BUILD)/order.c
	@sh tests/mutants.sh --check
	@echo "order: every chapter uses only what stands above it"

# no writable data, and no global name outside embipc_
symbols: $(BUILD)/library.o
	@bad="$$(nm -f sysv $< | tr -d ' ' | awk -F'|' '($$7 ~ /^\.(t?data|t?bss)/ && $$7 !~ /^\.data\.rel\.ro/) || \
	  $$7 == "*COM*" || ($$3 ~ /^[A-TV-Z]$$/ && $$1 !~ /^embipc_/) { print $$1 }')"; \
	  test -z "$$bad" || { echo "symbols: $$bad"; exit 1; }
	@echo "symbols: no writable data, no global outside embipc_"

# ---- measures of the header; they need python3, else they say so ----------------------------------
#   make metrics     lines per function, sections, members, flags, comments, calls of a step
#   make docs-check  a comment above each public declaration and each function longer than five lines
#   make toc         contents, `Uses:` lines and equations name what is there (WRITE=1: writes the contents anew)
#                    each tuning value stands in chapter "Tuning", with a comment, and has a row in docs/measured.md
#   make stack       bound of a step's stack, from the frames that gcc tells of library.o, and the calls
#   make instruments whether these notice the faults of tests/header_faults.h
PYTHON = python3
MEASURE = command -v $(PYTHON) > /dev/null || { echo "skipped: no $(PYTHON)"; exit 0; }; $(PYTHON) tools/header.py
metrics:
	@$(MEASURE) metrics $(HEADER)
docs-check:
	@$(MEASURE) docs $(HEADER)
toc:
	@$(MEASURE) toc $(HEADER) $(if $(WRITE),--write)
stack: $(BUILD)/library.o
	@$(MEASURE) stack $(HEADER) $(BUILD)/library.su
instruments: | $(BUILD)
	@command -v $(PYTHON) > /dev/null || { echo "skipped: no $(PYTHON)"; exit 0; }; sh tests/header.sh $(PYTHON) $(BUILD)

# code of the library in hello and in embed_mesh, with parts of it left out
size: | $(BUILD)
	@sh tools/size.sh $(BUILD)

# nothing is inlined, so that an allocation can be told by its line
memory: | $(BUILD)
	@if ! command -v addr2line > /dev/null || ! echo '#include <execinfo.h>' | $(CC) -E - > /dev/null 2>&1; then \
	  echo "skipped: no addr2line, or no glibc"; else \
	$(CC) $(STD) -O1 -g1 -fno-inline -fno-optimize-sibling-calls -fno-omit-frame-pointer -no-pie -w -DEMBIPC_STATIC \
	  -DEMBIPC_IMPLEMENTATION -DMEMORY_ROWS tests/test_memory.c -o $(BUILD)/memory -lm && \
	$(BUILD)/memory > $(BUILD)/memory.rows && python3 tools/memory.py $(BUILD)/memory $(HEADER) < $(BUILD)/memory.rows; fi

# ---- examples ----------------------------------------------------------------------------------
# hello is compiled as its first lines say, unoptimized as that takes less. All others carry the whole header, too, but here
# they share its object.
$(BUILD)/examples/hello: examples/hello.c $(HEADER) | $(BUILD)/examples
	$(Q)$(CC) $(STD) $(STRICT) -Wno-unused-function $(patsubst -O2,-O0,$(CFLAGS)) -DEMBIPC_STATIC $< -o $@ -lm -lpthread
$(BUILD)/examples/%: examples/%.c $(BUILD)/library.o | $(BUILD)/examples
	$(Q)sed -e 's/^#define EMBIPC_IMPLEMENTATION//' -e 's|"../embipc.h"|"$(HEADER)"|' $< | $(CC) $(STD) $(STRICT) $(CFLAGS) -x c - -x none $(BUILD)/library.o -o $@ -lm -lpthread

# the program of README.md, as it is pasted, with the same object
$(BUILD)/examples/readme: README.md $(BUILD)/library.o | $(BUILD)/examples
	$(Q)sed -n '/^```c$$/,/^```$$/p' README.md | sed -e 1d -e '$$d' > $@.c
	$(Q)$(CC) $(STD) $(STRICT) $(CFLAGS) -DEMBI_IMPLEMENTED -I. $@.c $(BUILD)/library.o -o $@ -lm -lpthread

examples: $(addprefix $(BUILD)/examples/,$(EXAMPLES) $(if $(EXAMPLES),readme))

clean:
	rm -rf build

.PHONY: all lib install uninstall install-check tuning demo paper paper-quick paper-browser pictures browser web \
        web-browser tests test test-all begin validate asan tsan fuzzers bits emulated boards mutants coverage bench bench-compare compare fuzz campaign campaign-proof campaign-float soak valgrind check matrix order \
        symbols size memory metrics docs-check toc stack instruments \
        examples clean
.SECONDARY:
