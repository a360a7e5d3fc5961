/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake.h - a stateful kernel for tests: it implements struct transport_ops and answers real netlink bytes and sysctl
 * texts as net/smc of an era does, traps and all, or as a script of faults says.
 *
 * It has one language, lines of text, for unit tests (fake_do) and for whole programs. A program linked with it reads
 * the lines from the file that the environment variable SMCD_FAKE names, keeps the kernel's state in SMCD_FAKE.state,
 * shared with every other such program, and before each operation reads lines that were appended to the file since:
 * appending is how a test changes a running kernel. A file that became shorter is a reboot.
 *
 *   era NAME                 none, unloaded, 6.1, 6.12, 6.12-smcd, 7.2: boots anew, all else is forgotten
 *   module load|unload       family ids change with each load; unloading forgets what the module held
 *   privileged on|off        off: netlink writes are EPERM, sysctl writes EACCES
 *   s390 on|off              SEID can be set, removing the last UEID turns it on; also ISM v2
 *   ism_v2 on|off            there is a system EID to show
 *   host NAME                host name as the module knows it
 *   pads on|off              64-bit attributes are aligned by PAD attributes, as on some architectures
 *   wide on|off              VLAN IDs have 16 bits and fallbacks are counted in 64, as our series for 6.12 has it
 *   capped on|off            errors do not repeat the request's payload
 *   datagram BYTES           how much of a dump goes into one datagram (2560; the statistics need 2300)
 *   trace on|off             write each operation to SMCD_FAKE.log
 *   hs_ctrl NAME             a handshake control that can be chosen
 *   tune on|off              loads the module anew with or without the family smc_tune, which 6.12-smcd has
 *   knob NAME KEY=VALUE...   one that smc_tune offers and no table of the programs knows (type=number|bool|choice,
 *                            unit=none|bytes|seconds|milliseconds, min=, max=, def=, scope=, effect=, read_only=on,
 *                            choice0= to choice3=)
 *   event link|fallback KEY=VALUE...        to the multicast group of smc_tune
 *   pool KEY=VALUE...        a pool of buffers; handshakes client|server KEY=VALUE...; reason KEY=VALUE...: one more
 * row tx NAME N                a counter of tx-get by its name there; tx size0 (to 3) N: one of its buckets netns
 * [NAME]             what follows concerns this namespace, which is created; without NAME the initial one netns_del
 * NAME           its name goes away, open transports stay iface NAME INDEX [HWPNETID] sysctl NAME VALUE        as
 * another process with all privileges would ueid NAME                the same, for the list of EIDs pnet ID [eth=NAME]
 * [ib=NAME] [port=N] lgr r|d ID KEY=VALUE...  replaces the one with this ID; link LGR ID KEY=VALUE...; device r|d NAME
 * KEY=VALUE... socket KEY=VALUE...      cookie= names one that is replaced; tcp KEY=VALUE... is a plain TCP socket
 *   remove lgr|device|socket|tcp KEY
 *   stat smcr|smcd|all KEY[BUCKET] VALUE   KEY of stats_table; "+N" adds
 *   fallback server|client CODE COUNT
 *   fault POINT WHAT [TIMES] [after=N] [times=N] [cmd=NAME] [bus=genl|diag|events] [text="..."] [arg=N]
 *   fault clear
 *
 * Points and what can go wrong there; TIMES is 1 unless given, 0 is for ever; cmd is an operation as fake_requests()
 * names it, or a sysctl:
 *   send, sysctl_read, sysctl_write: an errno name. sysctl_write and answer also "ignored": success without effect.
 *   recv: an errno name. ENOBUFS loses what waits in the socket, EAGAIN leaves it there to come late.
 *   answer: an errno name: the kernel refuses the request, with text as its extended ack.
 *   dump: intr (NLM_F_DUMP_INTR), hide (an entry is missing in this reading, another one each time), skip and double
 *     (a change in mid-dump shifted the entries behind the first datagram), endless, no_done, nothing (it ends
 *     before it has begun), an errno name (in NLMSG_DONE).
 *   mangle: len_big, len_small, len_zero; attr_long, attr_zero, attr_short (arg=1: of the first attribute inside the
 *     first); truncate, empty, foreign_seq (a stray answer in front), wrong_type, narrow (integers are too short), wide
 *     (too long), unterminated (strings), garbage, no_id (GETFAMILY),
 *     lacking (attribute number arg, nests not counted, is left out).
 */
#pragma once

#include "kernel.h"

struct fake;

/* A kernel of the given era in this process's memory. The newest one is what transport_open() opens. Else aborts. */
struct fake *fake_new(const char *era);
struct fake *fake_free(struct fake *f);
static inline void fake_freep(struct fake **f)
{
	*f = fake_free(*f);
}

/* One line of the language. Aborts with a message when it is wrong: it is a mistake in the test. */
void fake_do(struct fake *f, const char *fmt, ...) PRINTF(2, 3);
/* A transport to a namespace ("" the initial one); -ENOENT. */
int fake_transport(struct fake *f, const char *netns, struct transport *ret);
/* A struct kernel on it; aborts when it cannot. */
struct kernel *fake_kernel(struct fake *f, const char *netns);

/*
 * All that can be written to the kernel in this namespace, as text, for "is as before" and for looking at. Valid until
 * the next call.
 */
const char *fake_state(struct fake *f, const char *netns);
/* The value of a sysctl as a reader sees it; NULL: this era has none. Valid until the next call. */
const char *fake_sysctl(struct fake *f, const char *netns, const char *name);
/* Is the pnet ID applied to this RDMA device's port? "" when the port has none. Valid as long as f. */
const char *fake_port_pnetid(struct fake *f, const char *device, unsigned int port);
/* Requests of this name so far ("GET_STATS", "PNET_ADD", "GETFAMILY", "KNOB_SET", "SMC_DIAG", "TCP_DIAG"), or
 * "sysctl_read" or "sysctl_write". */
unsigned int fake_requests(struct fake *f, const char *name);
/* Dumps that nobody read to the end: they make the socket's next dump EBUSY and keep the module from being unloaded. */
unsigned int fake_dumps_open(struct fake *f);
/* Faults that are still due. */
unsigned int fake_faults_left(struct fake *f);

/* Names of the eras, NULL-terminated. */
extern const char *const fake_eras[];
