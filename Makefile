# SPDX-License-Identifier: GPL-2.0-or-later
#
#   make            smcd, smcd-netns and smcctl, into build/bin/
#   make demo       the main job on a real kernel, explained line by line
#   make check      every test: unit, end to end on the fake kernel, fuzzers, guests with real kernels
#   make help       all targets
#
# V=1 shows the commands. SAN=address,undefined builds with sanitizers (give B= another directory with it).
# CC=clang works too. DESTDIR= and PREFIX= as usual.

VERSION := 0.1.0
B ?= build
CC = gcc
PREFIX ?= /usr
SYSCONFDIR ?= /etc
BINDIR ?= $(PREFIX)/bin
LIBEXECDIR ?= $(PREFIX)/libexec/smcd
MANDIR ?= $(PREFIX)/share/man
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
DATADIR ?= $(PREFIX)/share/smcd
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
FUZZ_SECONDS ?= 30

# ---- packages: the one list of what Debian 12 has to bring ----
PKGS_BUILD := gcc libc6-dev make pkg-config libnl-3-dev libnl-genl-3-dev libjson-c-dev libreadline-dev libsystemd-dev \
	libibverbs-dev
PKGS_VM := qemu-system-x86 busybox-static kmod xz-utils iproute2 ibverbs-providers python3 procps gcc-12 libelf1 \
	dpkg-dev bc patch
PKGS_TEST := libcmocka-dev clang libclang-rt-dev llvm clang-format cppcheck strace prometheus systemd groff-base \
	bash-completion util-linux python3-yaml python3-jsonschema dkms
PKGS_KERNEL := sparse perl
PKGS_BENCH := nginx-light wrk
PKGS_DEBUG := flex bison libelf-dev libssl-dev pahole binutils
DEPS ?= $(PKGS_BUILD) $(PKGS_VM) $(PKGS_TEST)

# ---- flags ----
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2);)
# Looked up once, when first used, so that `make deps` works before pkg-config is there.
pkg = $(eval $(1) := $$(shell pkg-config $(2)))$($(1))
NL_CFLAGS = $(call pkg,NL_CFLAGS,--cflags libnl-genl-3.0)
NL_LIBS = $(call pkg,NL_LIBS,--libs libnl-genl-3.0)
JSON_CFLAGS = $(call pkg,JSON_CFLAGS,--cflags json-c)
JSON_LIBS = $(call pkg,JSON_LIBS,--libs json-c)
SYSTEMD_CFLAGS = $(call pkg,SYSTEMD_CFLAGS,--cflags libsystemd)
SYSTEMD_LIBS = $(call pkg,SYSTEMD_LIBS,--libs libsystemd)

OPT ?= -O2 -g
WARN := -Wall -Wextra -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wundef -Wwrite-strings \
	$(if $(WERROR),-Werror)
HARDEN := -fstack-protector-strong -fPIE $(if $(SAN),,-D_FORTIFY_SOURCE=2)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CPPFLAGS_ALL = -D_GNU_SOURCE -DSMCD_VERSION='"$(VERSION)"' -DSYSCONFDIR='"$(SYSCONFDIR)"' \
	-Ilib -Ilib/uapi $(NL_CFLAGS) $(JSON_CFLAGS) $(SYSTEMD_CFLAGS) $(CPPFLAGS)
CFLAGS_ALL = -std=gnu17 $(OPT) $(WARN) $(HARDEN) $(SANFLAGS) $(CFLAGS)
LDFLAGS_ALL = -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(SANFLAGS) $(LDFLAGS)
LIBS_COMMON = $(NL_LIBS) $(JSON_LIBS)
LIBS_SMCD = $(LIBS_COMMON) $(SYSTEMD_LIBS)
LIBS_SMCCTL = $(LIBS_COMMON) -lreadline -libverbs

# ---- sources ----
LIB_SRC := $(wildcard lib/*.c)
SMCD_SRC := $(filter-out smcd/netns_helper.c,$(wildcard smcd/*.c))
SMCCTL_SRC := $(wildcard smcctl/*.c)
GEN_SRC := $(wildcard smcctl/gen/*.c)
FAKE_SRC := $(wildcard tests/fake/*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
# The one file that differs between the programs and the test binaries.
REAL := lib/transport_real.c

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
LIB_OBJ := $(call obj,$(filter-out $(REAL),$(LIB_SRC)))
REAL_OBJ := $(call obj,$(REAL))
FAKE_OBJ := $(call obj,$(FAKE_SRC))
not_main = $(filter-out %/main.o,$(call obj,$(1)))

PROGRAMS := $(B)/bin/smcd $(B)/bin/smcd-netns $(B)/bin/smcctl
FAKES := $(B)/test/smcd-fake $(B)/test/smcctl-fake
TOOLS := $(patsubst tests/vm/tools/%.c,$(B)/bin/%,$(wildcard tests/vm/tools/*.c))
# Load programs of bench-kernel, one file each.
LOADS := $(patsubst tests/bench/load/%.c,$(B)/bench/bin/%,$(wildcard tests/bench/load/*.c)) \
	$(B)/bench/bin/smc-preload.so
UNITS := $(patsubst tests/unit/%.c,$(B)/test/%,$(UNIT_SRC))
FUZZERS := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(FUZZ_SRC))
GEN := $(B)/gen/generate

all: $(PROGRAMS)

$(B)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(if $(filter tests/% smcctl/gen/%,$<),-Ismcd -Ismcctl -Itests/fake) \
		-MMD -MP -c -o $@ $<

$(B)/libsmc.a: $(LIB_OBJ)
	$(call say,AR,$@)rm -f $@; ar rcs $@ $^

link = $(call say,LD,$@)mkdir -p $(@D); $(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $(1) $(LDLIBS)

$(B)/bin/smcd: $(call obj,$(SMCD_SRC)) $(REAL_OBJ) $(B)/libsmc.a
	$(call link,$^ $(LIBS_SMCD))
$(B)/bin/smcd-netns: $(call obj,smcd/netns_helper.c) $(REAL_OBJ) $(B)/libsmc.a
	$(call link,$^ $(LIBS_SMCD))
$(B)/bin/smcctl: $(call obj,$(SMCCTL_SRC)) $(REAL_OBJ) $(B)/libsmc.a
	$(call link,$^ $(LIBS_SMCCTL))
$(B)/bin/%: tests/vm/tools/%.c Makefile
	$(call say,CC,$<)mkdir -p $(@D); $(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $<
$(B)/bench/bin/%: tests/bench/load/%.c tests/bench/load/bench.h Makefile
	$(call say,CC,$<)mkdir -p $(@D); $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $<
$(B)/bench/bin/smc-preload.so: tests/bench/preload/smc.c Makefile
	$(call say,CC,$<)mkdir -p $(@D); $(CC) $(CPPFLAGS_ALL) $(OPT) $(WARN) -shared -fPIC -o $@ $<
$(GEN): $(call obj,$(GEN_SRC) smcd/options.c) $(call not_main,$(SMCCTL_SRC)) $(REAL_OBJ) $(B)/libsmc.a
	$(call link,$^ $(LIBS_SMCCTL))

# ---- test binaries: the programs on the fake kernel, unit tests, fuzzers ----
$(B)/test/smcd-fake: $(call obj,$(SMCD_SRC)) $(FAKE_OBJ) $(B)/libsmc.a
	$(call link,$^ $(LIBS_SMCD))
$(B)/test/smcctl-fake: $(call obj,$(SMCCTL_SRC)) $(FAKE_OBJ) $(B)/libsmc.a
	$(call link,$^ $(LIBS_SMCCTL))
$(B)/test/test_%: $(B)/obj/tests/unit/test_%.o $(call not_main,$(SMCD_SRC) $(SMCCTL_SRC)) $(FAKE_OBJ) $(B)/libsmc.a
	$(call link,$< $(call unit_objs,$*) $(FAKE_OBJ) $(B)/libsmc.a $(LIBS_SMCD) $(LIBS_SMCCTL) -lcmocka)
# smcd and smcctl each have names of their own; a test links the program it is about.
unit_objs = $(call not_main,$(if $(filter smcctl%,$(1)),$(SMCCTL_SRC),$(SMCD_SRC)))

$(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(call not_main,$(SMCD_SRC) $(SMCCTL_SRC)) $(FAKE_OBJ) $(B)/libsmc.a
	$(call link,-fsanitize=fuzzer $< $(call not_main,$(if $(findstring args,$*),$(SMCCTL_SRC),$(SMCD_SRC))) $(FAKE_OBJ) \
		$(B)/libsmc.a $(LIBS_SMCD) $(LIBS_SMCCTL))

# What the guest that boots systemd gets laid over its root: an installation, and a policy.
stage: programs
	$(Q)rm -rf build/stage
	$(Q)$(MAKE) --no-print-directory -s install DESTDIR=$(CURDIR)/build/stage
	$(Q)$(INSTALL) -D -m 644 tests/data/systemd-policy.json build/stage/etc/smcd/policy.json

programs: $(PROGRAMS)
fakes: $(FAKES)
loads: $(LOADS)
# ynl: the kernel's tool for netlink specifications, for the guests.
tools: $(TOOLS) $(B)/ynl
$(B)/ynl: tests/vm/kernels
	$(Q)ln -sfn "$$(tests/vm/kernels ynl 6.12)" $@
units: $(UNITS)
fuzzers: $(FUZZERS)
gen: $(GEN)

# ---- what is generated from the tables and checked in, so that it can be read without building ----

IFACE := org.smcd.Manager.varlink
generate: $(GEN)
	$(Q)tests/generated write $(GEN)

# ---- packages ----
deps:
	$(Q)tests/deps $(DEPS)

# ---- tests ----
# The checks need what deps brings; a second make is started after it, because this one has looked already.
check: deps
	$(Q)$(MAKE) --no-print-directory check-built
check-built:
	$(Q)tests/check $(CHECK)
check-vm: deps
	$(Q)$(MAKE) --no-print-directory programs tools stage && tests/vm/run $(TESTS)
check-unit: deps
	$(Q)tests/check units
fuzz: deps
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) tests/check fuzz
lint: deps
	$(Q)tests/lint
bench: deps
	$(Q)$(MAKE) --no-print-directory programs fakes tools && tests/bench/run
bench-kernel: DEPS = $(PKGS_BUILD) $(PKGS_VM) $(PKGS_KERNEL) $(PKGS_BENCH)
bench-kernel: deps
	$(Q)$(MAKE) --no-print-directory programs tools loads && tests/bench/kernel $(if $(ROWS),--rows $(ROWS)) \
		$(if $(PAIRS),--pairs $(PAIRS)) $(if $(ONLY),--only $(ONLY))

# ---- the kernel series ----
kernel kernel-check kernel-prefixes kernel-lint: DEPS = $(PKGS_BUILD) $(PKGS_VM) $(PKGS_KERNEL)
kernel-debug: DEPS = $(PKGS_BUILD) $(PKGS_VM) $(PKGS_DEBUG)
kernel: deps
	$(Q)mkdir -p $(B)/kernel
	$(Q)ln -sfn "$$(tests/vm/kernels module 6.12 --unpatched)" $(B)/kernel/unpatched
	$(Q)ln -sfn "$$(tests/vm/kernels module 6.12)" $(B)/kernel/patched
	@echo "modules: $(B)/kernel/{unpatched,patched}/modules/*/kernel/net/smc"
kernel-check: deps
	$(Q)$(MAKE) --no-print-directory tools && tests/kernel-check $(TESTS)
kernel-prefixes: deps
	$(Q)$(MAKE) --no-print-directory tools && tests/kernel-prefixes
kernel-debug: deps
	$(Q)$(MAKE) --no-print-directory programs tools && tests/kernel-debug $(TESTS)
kernel-lint: deps
	$(Q)tests/kernel-lint

# The demonstration needs no test tools.
demo: DEPS = $(PKGS_BUILD) $(PKGS_VM)
demo: deps
	$(Q)$(MAKE) --no-print-directory -j2 programs tools && tests/demo

# ---- installation ----
INSTALL := install
install: programs
	$(INSTALL) -D -m 755 $(B)/bin/smcctl $(DESTDIR)$(BINDIR)/smcctl
	$(INSTALL) -D -m 755 $(B)/bin/smcd $(DESTDIR)$(LIBEXECDIR)/smcd
	$(INSTALL) -D -m 755 $(B)/bin/smcd-netns $(DESTDIR)$(LIBEXECDIR)/smcd-netns
	for u in conf/*.service conf/*.socket; do \
		sed -e 's|/usr/libexec/smcd|$(LIBEXECDIR)|g' $$u | $(INSTALL) -D -m 644 /dev/stdin $(DESTDIR)$(UNITDIR)/$${u##*/} || exit; done
	$(INSTALL) -D -m 644 conf/sysusers.d/smcd.conf $(DESTDIR)$(SYSUSERSDIR)/smcd.conf
	$(INSTALL) -D -m 644 conf/$(IFACE) $(DESTDIR)$(DATADIR)/$(IFACE)
	$(INSTALL) -d $(DESTDIR)$(DATADIR)/examples $(DESTDIR)$(SYSCONFDIR)/smcd/policy.d
	$(INSTALL) -m 644 conf/examples/*.json $(DESTDIR)$(DATADIR)/examples/
	$(INSTALL) -D -m 644 conf/completions/smcctl.bash $(DESTDIR)$(COMPLETIONDIR)/smcctl
	for m in man/*.[1-9]; do $(INSTALL) -D -m 644 $$m $(DESTDIR)$(MANDIR)/man$${m##*.}/$${m##*/} || exit; done

clean:
	rm -rf $(B)

help:
	@sed -n 's/^#   make/  make/p' Makefile
	@echo '  make deps       install the Debian packages that are missing (root), or print the command'
	@echo '  make check-vm   the guest tests only; TESTS="NAME ..." picks some'
	@echo '  make check-unit, fuzz (FUZZ_SECONDS=30), lint, bench'
	@echo '  make kernel     net/smc without and with the series of kernel-patch/6.12, into build/kernel'
	@echo '  make kernel-check, kernel-prefixes, kernel-lint'
	@echo '                  tests of its faults (TESTS=), of each step of it, and of its form; JOBS=1: one guest at a time'
	@echo '  make bench-kernel'
	@echo '                  net/smc without and with the series, measured in guests; ROWS=a,b and PAIRS=9 as wanted'
	@echo '  make kernel-debug'
	@echo '                  the series on a kernel with KASAN, lockdep, UBSAN and kmemleak: tests and a stress (an hour; STRESS_SECONDS=600)'
	@echo '  make generate   man pages, completion and interface file from the tables'
	@echo '  make install    DESTDIR=, PREFIX=/usr'
	@echo '  make clean      removes build/; downloaded kernels stay in the cache (~/.cache/smcd)'

.PHONY: all stage programs fakes tools loads units fuzzers gen generate deps check check-built check-vm check-unit fuzz lint bench bench-kernel demo \
	kernel kernel-check kernel-debug kernel-prefixes kernel-lint install clean help
.DELETE_ON_ERROR:
.SECONDARY:

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
