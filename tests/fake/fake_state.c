/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake_state.c - the fake kernel's state: eras, namespaces, sysctls, scripted faults, and how processes share it.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_script.h"

#define FAKE_MAGIC 0x66616b656b726e31ULL
#define FIRST_FAMILY 0x1b

const struct fake_era fake_era_table[] = {
	{ .name = "none", .rank = RANK_NONE },
	{ .name = "unloaded", .rank = RANK_6_12 },
	{ .name = "6.1", .rank = RANK_6_1, .loaded = true },
	{ .name = "6.12", .rank = RANK_6_12, .loaded = true },
	{ .name = "6.12-smcd", .rank = RANK_6_12, .loaded = true, .series = true },
	{ .name = "7.2", .rank = RANK_7_2, .loaded = true },
};

const char *const fake_eras[] = { "none", "unloaded", "6.1", "6.12", "6.12-smcd", "7.2", NULL };
_Static_assert(ARRAY_SIZE(fake_eras) == ARRAY_SIZE(fake_era_table) + 1, "each era has a name");

/* net/smc/smc_sysctl.c; the bounds are the kernel's, not the knob table's: that they agree is what the tests show. */
/* clang-format off */
static const char *const buf_types[] = { "physical", "virtual", "mixed", NULL };
static const char *const cork_modes[] = { "auto", "application", "off", NULL };

const struct fake_sysctl fake_sysctls[] = {
	{ "autocorking_size", RANK_6_1, SYSCTL_UINT, 0, UINT_MAX, 65536,
	  .unit = SMC_TUNE_KNOB_UNIT_BYTES, .effect = SMC_TUNE_KNOB_EFFECT_AT_ONCE },
	{ "smcr_buf_type", RANK_6_1, SYSCTL_UINT_MINMAX, 0, 2, 0,
	  .knob_type = SMC_TUNE_KNOB_TYPE_CHOICE, .choices = buf_types, .effect = SMC_TUNE_KNOB_EFFECT_NEW_LINK_GROUPS,
	  .scope = SMC_TUNE_KNOB_SCOPE_RDMA_DEVICE },
	{ "smcr_testlink_time", RANK_6_1, SYSCTL_JIFFIES, 0, INT_MAX / FAKE_HZ, 30,
	  .unit = SMC_TUNE_KNOB_UNIT_SECONDS, .effect = SMC_TUNE_KNOB_EFFECT_NEW_LINK_GROUPS },
	{ "wmem", RANK_6_1, SYSCTL_INT_MINMAX, 16384, INT_MAX / 2, 65536,
	  .unit = SMC_TUNE_KNOB_UNIT_BYTES, .effect = SMC_TUNE_KNOB_EFFECT_NEW_SOCKETS },
	{ "rmem", RANK_6_1, SYSCTL_INT_MINMAX, 16384, INT_MAX / 2, 65536,
	  .unit = SMC_TUNE_KNOB_UNIT_BYTES, .effect = SMC_TUNE_KNOB_EFFECT_NEW_SOCKETS },
	{ "smcr_max_links_per_lgr", RANK_6_12, SYSCTL_INT_MINMAX, 1, 2, 2,
	  .effect = SMC_TUNE_KNOB_EFFECT_NEW_LINK_GROUPS },
	{ "smcr_max_conns_per_lgr", RANK_6_12, SYSCTL_INT_MINMAX, 16, 255, 255,
	  .effect = SMC_TUNE_KNOB_EFFECT_NEW_LINK_GROUPS },
	{ "limit_smc_hs", RANK_6_12, SYSCTL_INT_MINMAX, 0, 1, 0,
	  .knob_type = SMC_TUNE_KNOB_TYPE_BOOL, .effect = SMC_TUNE_KNOB_EFFECT_NEW_LISTENERS },
	{ "smcr_max_send_wr", RANK_7_2, SYSCTL_INT_MINMAX, 2, 2048, 16,
	  .effect = SMC_TUNE_KNOB_EFFECT_NEW_LINK_GROUPS },
	{ "smcr_max_recv_wr", RANK_7_2, SYSCTL_INT_MINMAX, 2, 2048, 48,
	  .effect = SMC_TUNE_KNOB_EFFECT_NEW_LINK_GROUPS },
	{ "hs_ctrl", RANK_7_2, SYSCTL_HS_CTRL, 0, 0, 0, .series = false },
	{ "hs_workers", RANK_6_12, SYSCTL_INT_MINMAX, 1, 512, 256, .series = true, .host = true,
	  .effect = SMC_TUNE_KNOB_EFFECT_AT_ONCE, .scope = SMC_TUNE_KNOB_SCOPE_HOST },
	{ "lo_max_dmbs", RANK_6_12, SYSCTL_UINT_MINMAX, 2, 65536, 5000, .series = true, .host = true,
	  .effect = SMC_TUNE_KNOB_EFFECT_AT_ONCE, .scope = SMC_TUNE_KNOB_SCOPE_HOST },
	{ "cork_mode", RANK_6_12, SYSCTL_UINT_MINMAX, 0, 2, 0, .series = true,
	  .knob_type = SMC_TUNE_KNOB_TYPE_CHOICE, .choices = cork_modes, .effect = SMC_TUNE_KNOB_EFFECT_AT_ONCE },
	{ "cork_ceiling", RANK_6_12, SYSCTL_UINT_MINMAX, 0, 60000, 0, .series = true,
	  .unit = SMC_TUNE_KNOB_UNIT_MILLISECONDS, .effect = SMC_TUNE_KNOB_EFFECT_AT_ONCE },
	{ "tx_nocache_min", RANK_6_12, SYSCTL_UINT, 0, UINT_MAX, 0, .series = true,
	  .unit = SMC_TUNE_KNOB_UNIT_BYTES, .effect = SMC_TUNE_KNOB_EFFECT_AT_ONCE },
};
/* clang-format on */
const size_t n_fake_sysctls = ARRAY_SIZE(fake_sysctls);
_Static_assert(ARRAY_SIZE(fake_sysctls) <= FAKE_SYSCTLS_MAX, "room for each sysctl");

/* What transport_open() opens: the newest kernel of fake_new(), else the shared one. Test binaries only. */
static struct fake *newest;

void fake_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("fake kernel: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	abort();
}

bool fake_loadable(const struct fake *f)
{
	return fake_era_table[f->s->era].rank != RANK_NONE;
}

bool fake_has(const struct fake *f, enum rank since)
{
	return f->s->loaded && fake_era_table[f->s->era].rank >= since;
}

/* ---- namespaces and the module ---- */

static void netns_defaults(struct fake_netns *ns)
{
	for (size_t i = 0; i < n_fake_sysctls; i++)
		ns->sysctl[i] = fake_sysctls[i].def;
	ns->hs_ctrl[0] = '\0';
	ns->knob_gen = 1;
	ns->n_pnet = 0;
	memset(ns->fback, 0, sizeof(ns->fback));
	memset(ns->fback_total, 0, sizeof(ns->fback_total));
	memset(ns->stats, 0, sizeof(ns->stats));
	memset(ns->hs_errors, 0, sizeof(ns->hs_errors));
}

struct fake_netns *fake_ns(struct fake *f, const char *netns)
{
	for (unsigned int i = 0; i < FAKE_NETNS_MAX; i++) {
		struct fake_netns *ns = &f->s->ns[i];

		if (ns->used && ns->named && strcmp(ns->name, netns ? netns : "") == 0)
			return ns;
	}
	return NULL;
}

struct fake_netns *fake_ns_create(struct fake *f, const char *netns)
{
	struct fake_netns *ns = fake_ns(f, netns);

	for (unsigned int i = 0; !ns && i < FAKE_NETNS_MAX; i++) {
		if (f->s->ns[i].used)
			continue;
		ns = &f->s->ns[i];
		ns->used = ns->named = true;
		snprintf(ns->name, sizeof(ns->name), "%s", netns);
		netns_defaults(ns);
	}
	if (!ns)
		fake_die("more than %d namespaces", FAKE_NETNS_MAX);
	return ns;
}

void fake_module_load(struct fake *f)
{
	struct fake_kstate *s = f->s;

	if (s->loaded || !fake_loadable(f))
		return;
	s->loaded = true;
	s->smc_family = s->next_family++;
	s->pnet_family = s->next_family++;
	if (fake_era_table[s->era].series && !s->no_tune)
		s->tune_family = s->next_family++;
	for (unsigned int i = 0; i < FAKE_NETNS_MAX; i++)
		netns_defaults(&s->ns[i]);
}

void fake_module_unload(struct fake *f)
{
	struct fake_kstate *s = f->s;

	s->loaded = s->seid_enabled = false;
	s->smc_family = s->pnet_family = s->tune_family = 0;
	s->n_ueid = s->n_lgrs = 0;
	for (unsigned int i = 0; i < FAKE_NETNS_MAX; i++)
		netns_defaults(&s->ns[i]);
	/* What the devices had came with the module, too, but as a script's devices they stay. */
	for (unsigned int i = 0; i < s->n_devices; i++)
		for (unsigned int p = 0; p < 2; p++)
			if (s->devices[i].port[p].by_user)
				s->devices[i].port[p] = (struct fake_port){ .valid = s->devices[i].port[p].valid };
	for (unsigned int i = s->n_sockets; i-- > 0;)
		if (!s->sockets[i].is_tcp)
			s->sockets[i] = s->sockets[--s->n_sockets];
}

/* All of the state is zeros again, without touching the pages one by one. */
static void state_clear(struct fake *f)
{
	int r;

	if (!f->script)
		r = madvise(f->s, sizeof(*f->s), MADV_DONTNEED);
	else
		r = ftruncate(f->fd, 0) < 0 ? -1 : ftruncate(f->fd, sizeof(*f->s));
	if (r < 0)
		fake_die("cannot clear the state: %s", strerror(errno));
}

void fake_boot(struct fake *f, const char *era)
{
	size_t pos = f->s->script_pos, i;
	unsigned int line = f->s->script_line;
	struct fake_kstate *s = f->s;

	for (i = 0; i < ARRAY_SIZE(fake_era_table) && strcmp(fake_era_table[i].name, era) != 0; i++)
		;
	if (i == ARRAY_SIZE(fake_era_table))
		fake_die("there is no era '%s'", era);
	state_clear(f);
	s->magic = FAKE_MAGIC;
	s->size = sizeof(*s);
	s->script_pos = pos;
	s->script_line = line;
	s->era = (unsigned int)i;
	s->privileged = true;
	s->goodsize = 2560;
	s->next_family = FIRST_FAMILY;
	fake_ns_create(f, "");
	if (fake_era_table[i].loaded)
		fake_module_load(f);
}

/* ---- one kernel, many processes ---- */

static struct fake *fake_map(const char *script)
{
	CLEANUP_FREE char *path = NULL;
	struct fake *f = calloc(1, sizeof(*f));
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;

	if (!f)
		fake_die("out of memory");
	f->fd = -1;
	if (script) {
		flags = MAP_SHARED;
		f->script = strdup(script);
		if (!f->script || asprintf(&path, "%s.state", script) < 0)
			fake_die("out of memory");
		f->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (f->fd < 0 || flock(f->fd, LOCK_EX) < 0 || ftruncate(f->fd, sizeof(*f->s)) < 0)
			fake_die("%s: %s", path, strerror(errno));
	}
	f->s = mmap(NULL, sizeof(*f->s), PROT_READ | PROT_WRITE, flags, f->fd, 0);
	if (f->s == MAP_FAILED)
		fake_die("cannot map the state: %s", strerror(errno));
	if (f->s->magic != FAKE_MAGIC || f->s->size != sizeof(*f->s)) {
		f->s->script_pos = f->s->script_line = 0;
		fake_boot(f, "6.12");
	}
	if (script)
		flock(f->fd, LOCK_UN);
	return f;
}

/* Read what was appended to the script; the last line counts when it ends in a newline. */
static void script_follow(struct fake *f)
{
	CLEANUP_FREE char *text = NULL;
	CLEANUP_FD int fd = -1;
	struct stat st;
	ssize_t n;

	if (stat(f->script, &st) < 0)
		fake_die("%s: %s", f->script, strerror(errno));
	if ((size_t)st.st_size < f->s->script_pos) {
		f->s->script_pos = f->s->script_line = 0;
		fake_boot(f, "6.12");
	}
	if ((size_t)st.st_size == f->s->script_pos)
		return;
	text = calloc(1, (size_t)st.st_size - f->s->script_pos + 1);
	fd = open(f->script, O_RDONLY | O_CLOEXEC);
	if (!text || fd < 0)
		fake_die("%s: %s", f->script, strerror(errno));
	n = pread(fd, text, (size_t)st.st_size - f->s->script_pos, (off_t)f->s->script_pos);
	if (n < 0)
		fake_die("%s: %s", f->script, strerror(errno));
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		f->s->script_pos += (size_t)(end - line) + 1;
		f->s->script_line++;
		fake_line(f, line);
	}
}

void fake_lock(struct fake *f)
{
	if (!f->script)
		return;
	while (flock(f->fd, LOCK_EX) < 0)
		if (errno != EINTR)
			fake_die("lock: %s", strerror(errno));
	script_follow(f);
}

void fake_unlock(struct fake *f)
{
	if (f->script)
		flock(f->fd, LOCK_UN);
}

void fake_trace(struct fake *f, const char *fmt, ...)
{
	CLEANUP_FREE char *path = NULL;
	FILE *out;
	va_list ap;

	if (!f->s->trace || !f->script || asprintf(&path, "%s.log", f->script) < 0)
		return;
	out = fopen(path, "ae");
	if (!out)
		fake_die("%s: %s", path, strerror(errno));
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fclose(out);
}

struct fake *fake_new(const char *era)
{
	struct fake *f = fake_map(NULL);

	fake_boot(f, era);
	newest = f;
	return f;
}

struct fake *fake_free(struct fake *f)
{
	if (!f)
		return NULL;
	if (newest == f)
		newest = NULL;
	munmap(f->s, sizeof(*f->s));
	close_fd(&f->fd);
	text_done(&f->text);
	free(f->script);
	free(f);
	return NULL;
}

struct fake *fake_shared(void)
{
	const char *script = getenv("SMCD_FAKE");

	if (!newest && script)
		newest = fake_map(script);
	return newest;
}

/* ---- faults ---- */

struct fake_fault *fake_fault_due(struct fake *f, enum fault_point point, int bus, const char *cmd)
{
	for (unsigned int i = 0; i < f->s->n_faults; i++) {
		struct fake_fault *x = &f->s->faults[i];

		if (x->point != point || (x->bus >= 0 && x->bus != bus))
			continue;
		if (x->cmd[0] && !str_eq(x->cmd, cmd))
			continue;
		if (x->times && x->hits >= x->times)
			continue;
		if (x->seen++ < x->after)
			continue;
		x->hits++;
		return x;
	}
	return NULL;
}

unsigned int fake_dumps_open(struct fake *f)
{
	return f->s->dumps_open;
}

unsigned int fake_faults_left(struct fake *f)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < f->s->n_faults; i++)
		n += !f->s->faults[i].times || f->s->faults[i].hits < f->s->faults[i].times;
	return n;
}

/* ---- sysctls ---- */

int fake_sysctl_index(const char *name)
{
	for (size_t i = 0; i < n_fake_sysctls; i++)
		if (strcmp(fake_sysctls[i].name, name) == 0)
			return (int)i;
	return -ENOENT;
}

int fake_sysctl_here(const struct fake *f, const struct fake_netns *ns, const char *name)
{
	int i = fake_sysctl_index(name);

	if (i < 0 || !fake_has(f, fake_sysctls[i].since) ||
	    (fake_sysctls[i].series && !fake_era_table[f->s->era].series) || (fake_sysctls[i].host && ns->name[0]))
		return -ENOENT;
	return i;
}

int fake_sysctl_show(struct fake *f, const struct fake_netns *ns, const char *name, char *buf, size_t size)
{
	int i = fake_sysctl_here(f, ns, name);

	if (i < 0)
		return i;
	if (fake_sysctls[i].type == SYSCTL_HS_CTRL)
		return snprintf(buf, size, "%s", ns->hs_ctrl);
	return snprintf(buf, size, "%lld", (long long)ns->sysctl[i]);
}

/*
 * kernel/sysctl.c, proc_get_long() for one value: blanks around it, "-", base 0, at most 21 characters, no overflow of
 * an unsigned long.
 */
static int proc_number(const char *text, bool *ret_neg, uint64_t *ret)
{
	char tmp[22], *end;
	unsigned long long v;
	bool neg;

	text += strspn(text, " \t\n");
	snprintf(tmp, sizeof(tmp), "%s", text);
	neg = tmp[0] == '-';
	if (tmp[neg] < '0' || tmp[neg] > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(tmp + neg, &end, 0);
	if (errno || end == tmp + sizeof(tmp) - 1 || (*end && !strchr(" \t\n", *end)))
		return -EINVAL;
	*ret_neg = neg;
	*ret = v;
	return 0;
}

static int store_hs_ctrl(struct fake *f, struct fake_netns *ns, const char *text)
{
	char name[16];

	/* proc_dostring: up to the newline, cut at the buffer's size. */
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "\n"), text);
	for (unsigned int i = 0; i < f->s->n_hs_ctrls; i++)
		if (strcmp(f->s->hs_ctrls[i], name) == 0)
			goto found;
	if (name[0])
		return -EINVAL;
found:
	memcpy(ns->hs_ctrl, name, sizeof(name));
	return 0;
}

int fake_sysctl_store(struct fake *f, struct fake_netns *ns, const char *name, const char *text)
{
	int i = fake_sysctl_here(f, ns, name), r;
	const struct fake_sysctl *t;
	struct fake_change change;
	bool neg, signed_jiffies;
	uint64_t u;

	if (i < 0)
		return i;
	t = &fake_sysctls[i];
	if (t->type == SYSCTL_HS_CTRL)
		return store_hs_ctrl(f, ns, text);
	r = proc_number(text, &neg, &u);
	if (r < 0)
		return r;
	/*
	 * Only proc_dointvec_jiffies() takes negatives here; its one bound is on the absolute value. With smc_tune all
	 * are unsigned.
	 */
	signed_jiffies = t->type == SYSCTL_JIFFIES && !f->s->tune_family;
	if (u > (uint64_t)t->max || (neg && !signed_jiffies && (u || t->type != SYSCTL_INT_MINMAX)) ||
	    (!neg && (int64_t)u < t->min))
		return -EINVAL;
	change = (struct fake_change){ name, (uint64_t)ns->sysctl[i], u };
	ns->sysctl[i] = neg ? -(int64_t)u : (int64_t)u;
	fake_knobs_changed(f, ns, SMC_TUNE_SOURCE_SYSCTL, 0, &change, 1);
	return 0;
}

const char *fake_sysctl(struct fake *f, const char *netns, const char *name)
{
	const struct fake_netns *ns = fake_ns(f, netns);
	char buf[64];

	if (!ns || fake_sysctl_show(f, ns, name, buf, sizeof(buf)) < 0)
		return NULL;
	f->text.len = 0;
	text_add(&f->text, "%s", buf);
	return text_str(&f->text);
}

/* ---- looking at it ---- */

const char *fake_port_pnetid(struct fake *f, const char *device, unsigned int port)
{
	for (unsigned int i = 0; i < f->s->n_devices; i++)
		if (strcmp(f->s->devices[i].name, device) == 0)
			return f->s->devices[i].port[port - 1].pnetid;
	return "";
}

unsigned int fake_requests(struct fake *f, const char *name)
{
	const struct fake_op *op;

	if (strcmp(name, "sysctl_write") == 0)
		return f->s->sysctl_writes;
	if (strcmp(name, "sysctl_read") == 0)
		return f->s->sysctl_reads;
	for (unsigned int i = 0; (op = fake_op_at(i)); i++)
		if (strcmp(op->name, name) == 0)
			return f->s->requests[i];
	fake_die("there is no operation '%s'", name);
}

const char *fake_state(struct fake *f, const char *netns)
{
	const struct fake_netns *ns = fake_ns(f, netns);
	struct text *t = &f->text;

	t->len = 0;
	text_add(t, "%s", "");
	if (!ns)
		return text_str(t);
	for (size_t i = 0; i < n_fake_sysctls; i++) {
		char buf[64];

		if (fake_sysctl_show(f, ns, fake_sysctls[i].name, buf, sizeof(buf)) >= 0)
			text_add(t, "sysctl %s %s\n", fake_sysctls[i].name, buf);
	}
	for (unsigned int i = 0; i < ns->n_pnet; i++) {
		const struct fake_pnet *p = &ns->pnet[i];

		text_add(t, "pnet %s %s=%s", p->id, p->ib ? "ib" : "eth", p->name);
		if (p->ib)
			text_add(t, " port=%u", p->port);
		text_add(t, "\n");
	}
	for (unsigned int i = 0; i < f->s->n_ueid; i++)
		text_add(t, "ueid %.32s\n", f->s->ueid[i]);
	for (unsigned int i = 0; i < f->s->n_devices; i++)
		for (unsigned int p = 0; p < 2; p++)
			if (f->s->devices[i].port[p].by_user)
				text_add(t, "applied %s %u %s\n", f->s->devices[i].name, p + 1,
					 f->s->devices[i].port[p].pnetid);
	text_add(t, "seid %s\n", f->s->seid_enabled ? "on" : "off");
	return text_str(t);
}
