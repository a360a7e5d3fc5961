// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nl_pnet.c - the family SMC_PNETID (net/smc/smc_pnet.c). An entry of the kernel's table names an interface or a port
 * of an RDMA device. What makes it hard: DEL removes all entries of an ID; ADD with both kinds hides that one half
 * failed; an RDMA device can be listed once, whatever the port, yet the ID of a second port takes effect before that is
 * refused; EEXIST means a dozen things. So each half is added by a request of its own, after a look at the table has
 * shown that it is new. smc_tune deletes one entry, and replaces the whole table.
 *
 * An ID that a live port has without being listed (only that kernel behaviour makes one) is lost when its ID is
 * rebuilt.
 */
#include "nl.h"

#include <linux/netlink.h>
#include <linux/smc.h>
#include <linux/smc_tune.h>

#define NOT_GIVEN "n/a" /* what the kernel sends for the kind that an entry has not */
#define NO_PORT 255
#define PNET_ENTRIES_AT_ONCE 128 /* that smc_tune takes in one message */

/* ---- reading ---- */

static int pnet_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct value *row = NULL;
	int r = knl_add_row(arg, WIRE_R, m->body, PNET_ID, &row, e);

	if (r < 0)
		return r;
	if (str_eq(row[PNET_INTERFACE].s, NOT_GIVEN))
		row[PNET_INTERFACE] = (struct value){ 0 };
	if (str_eq(row[PNET_RDMA].s, NOT_GIVEN))
		row[PNET_RDMA] = (struct value){ 0 };
	if (row[PNET_PORT].u == NO_PORT)
		row[PNET_PORT] = (struct value){ 0 };
	if (row[PNET_INTERFACE].kind == VALUE_ABSENT && row[PNET_RDMA].kind == VALUE_ABSENT)
		return err_set(e, -EBADMSG, "the kernel's answer has a pnet entry without a device");
	return 0;
}

static int pnet_reset(void *arg)
{
	((struct list *)arg)->n = 0;
	return 0;
}

int knl_read_pnet(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e)
{
	struct knl_dump d = { .handler = pnet_message, .reset = pnet_reset, .arg = l };

	(void)arg;
	return knl_family_dump(k, KNL_PNET, SMC_PNETID_GET, &d, interrupted, e);
}

static void copy_cell(char *to, size_t size, struct value v)
{
	snprintf(to, size, "%s", v.kind == VALUE_STR ? v.s : "");
}

struct pnet_entry pnet_entry_of(const struct list *l, size_t row)
{
	const struct value *cells = list_row(l, row);
	struct pnet_entry p = { 0 };

	copy_cell(p.id, sizeof(p.id), cells[PNET_ID]);
	copy_cell(p.interface, sizeof(p.interface), cells[PNET_INTERFACE]);
	copy_cell(p.rdma, sizeof(p.rdma), cells[PNET_RDMA]);
	p.port = cells[PNET_PORT].kind == VALUE_UINT && cells[PNET_PORT].u < NO_PORT ? (uint8_t)cells[PNET_PORT].u : 0;
	return p;
}

/* ---- checking ---- */

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static int check_id(struct pnet_entry *p, struct err *e)
{
	size_t n = strnlen(p->id, sizeof(p->id));
	char raw[sizeof(p->id) + 1] = "", shown[SHOWN_MAX * 4 + 4];

	memcpy(raw, p->id, n);
	safe_str(shown, sizeof(shown), raw);
	if (n == 0)
		return err_set(e, -EINVAL, "the pnet ID is empty: 1 to %d letters and digits are allowed", PNET_ID_MAX);
	if (n > PNET_ID_MAX)
		return err_set(e, -EINVAL, "pnet ID '%s' is too long: 1 to %d letters and digits are allowed", shown,
			       PNET_ID_MAX);
	for (size_t i = 0; i < n; i++) {
		if (!is_alnum(p->id[i]))
			return err_set(e, -EINVAL, "'%s' is no pnet ID: only letters and digits are allowed, 1 to %d",
				       shown, PNET_ID_MAX);
	}
	for (size_t i = 0; i < n; i++)
		if (p->id[i] >= 'a' && p->id[i] <= 'z')
			p->id[i] = (char)(p->id[i] - 'a' + 'A');
	return 0;
}

/* s has max + 1 bytes, not necessarily a NUL among them. */
static int check_device(const char *what, const char *s, size_t max, struct err *e)
{
	size_t n = strnlen(s, max + 1);
	char raw[PNET_RDMA_MAX + 2] = "", shown[SHOWN_MAX * 4 + 4];

	memcpy(raw, s, n);
	safe_str(shown, sizeof(shown), raw);
	if (n > max)
		return err_set(e, -EINVAL, "%s name '%s' is too long: at most %zu characters are allowed", what, shown,
			       max);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] <= ' ' || s[i] == '/' || s[i] == 0x7f)
			return err_set(e, -EINVAL,
				       "'%s' is no %s name: blanks, '/' and control characters are not allowed", shown,
				       what);
	if (str_eq(raw, ".") || str_eq(raw, ".."))
		return err_set(e, -EINVAL, "'%s' is no %s name", shown, what);
	return 0;
}

int pnet_entry_check(struct pnet_entry *p, struct err *e)
{
	int r = check_id(p, e);

	if (r < 0)
		return r;
	r = check_device("interface", p->interface, PNET_IFNAME_MAX, e);
	if (r < 0)
		return r;
	r = check_device("RDMA device", p->rdma, PNET_RDMA_MAX, e);
	if (r < 0)
		return r;
	if (p->port > 2)
		return err_set(e, -ERANGE, "port %u is out of range: 1, 2", p->port);
	if (p->port && !p->rdma[0])
		return err_set(e, -EINVAL, "a port needs an RDMA device");
	return 0;
}

/* ---- the kernel's commands, one half of an entry each ---- */

static struct pnet_entry interface_half(const struct pnet_entry *p)
{
	struct pnet_entry half = *p;

	half.rdma[0] = '\0';
	half.port = 0;
	return half;
}

static struct pnet_entry rdma_half(const struct pnet_entry *p)
{
	struct pnet_entry half = *p;

	half.interface[0] = '\0';
	if (half.port == 0)
		half.port = 1;
	return half;
}

static int send_add(struct kernel *k, const struct pnet_entry *half, struct err *e)
{
	bool rdma = half->rdma[0];
	const struct knl_arg args[] = {
		{ SMC_PNETID_NAME, half->id, strlen(half->id) + 1 },
		{ SMC_PNETID_ETHNAME, rdma ? NULL : half->interface, strlen(half->interface) + 1 },
		{ SMC_PNETID_IBNAME, rdma ? half->rdma : NULL, strlen(half->rdma) + 1 },
		{ SMC_PNETID_IBPORT, rdma ? &half->port : NULL, sizeof(half->port) },
	};

	return knl_family_do(k, KNL_PNET, SMC_PNETID_ADD, args, ARRAY_SIZE(args), e);
}

static int send_delete(struct kernel *k, const char *id, struct err *e)
{
	const struct knl_arg arg = { SMC_PNETID_NAME, id, strlen(id) + 1 };

	return knl_family_do(k, KNL_PNET, SMC_PNETID_DEL, &arg, 1, e);
}

static int read_table(struct kernel *k, struct list *ret, struct err *e)
{
	return knl_read_until_agreed(k, &nouns[NOUN_PNET], knl_read_pnet, NULL, ret, e);
}

/* -EAGAIN: *ret has what was seen, which need not be all. */
static int read_whole(struct kernel *k, struct list *ret, struct err *e)
{
	int r = read_table(k, ret, e);

	return r == 0 && ret->incomplete ? err_set(e, -EAGAIN, "the table changes all the time") : r;
}

/* ---- adding ---- */

/* Does the row name the same interface or RDMA device (whatever the port)? */
static bool same_device(const struct value *row, const struct pnet_entry *half)
{
	return half->rdma[0] ? str_eq(row[PNET_RDMA].s, half->rdma) : str_eq(row[PNET_INTERFACE].s, half->interface);
}

static const char *device_of(const struct pnet_entry *half)
{
	return half->rdma[0] ? half->rdma : half->interface;
}

/* 0: the half is new; -EEXIST: it is there; -EBUSY: its device has another entry. */
static int look_for(const struct list *table, const struct pnet_entry *half, struct err *e)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct value *row = list_row(table, i);

		if (!same_device(row, half))
			continue;
		if (half->rdma[0] && row[PNET_PORT].u != half->port)
			return err_set(e, -EBUSY,
				       "'%s' is in the table with port %u and ID '%s'; the kernel lists an RDMA "
				       "device once",
				       half->rdma, (unsigned int)row[PNET_PORT].u, row[PNET_ID].s);
		if (!str_eq(row[PNET_ID].s, half->id))
			return err_set(e, -EBUSY, "'%s' has the ID '%s' already", device_of(half), row[PNET_ID].s);
		return err_set(e, -EEXIST, "'%s' has this ID already", device_of(half));
	}
	return 0;
}

/*
 * The kernel said EEXIST though the table does not have the device: its ID comes from the hardware, or it is an RDMA
 * entry outside the initial namespace.
 */
static int explain_exists(struct kernel *k, const struct pnet_entry *half, struct err *e)
{
	struct list devices CLEANUP_LIST = { 0 };
	int r = 0;

	if (half->rdma[0])
		r = knl_read_until_agreed(k, &nouns[NOUN_DEVICES], knl_read_devices, NULL, &devices, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < devices.n; i++) {
		const struct value *row = list_row(&devices, i);
		bool named = str_eq(row[DEV_NAME].s, half->rdma) || str_eq(row[DEV_PCI_ID].s, half->rdma);

		if (!named || (row[DEV_PORT].kind == VALUE_UINT && row[DEV_PORT].u != half->port))
			continue;
		if (str_eq(row[DEV_PNETID].s, half->id))
			return err_set(e, -EEXIST, "'%s' has this ID already", half->rdma);
		if (row[DEV_PNETID].kind == VALUE_STR && row[DEV_PNETID].s[0])
			return err_set(e, -EBUSY, "'%s' has the ID '%s' already", half->rdma, row[DEV_PNETID].s);
	}
	if (half->rdma[0])
		return err_set(e, -EBUSY,
			       "the kernel does not take '%s': entries of RDMA and ISM devices can be made in the "
			       "initial namespace only, for a device that has no ID from its hardware",
			       half->rdma);
	return err_set(e, -EBUSY, "the kernel does not take '%s': it has an ID from its hardware", half->interface);
}

/* Adding the half, which was not there, failed with r. Was it done all the same? */
static int settle_add(struct kernel *k, const struct pnet_entry *half, int r, struct err *e)
{
	struct list table CLEANUP_LIST = { 0 };
	struct err reading = { 0 };
	int seen = read_whole(k, &table, &reading);

	if (look_for(&table, half, NULL) == -EEXIST)
		return 0;
	return seen < 0 ? knl_untold(e, r, &reading) : r;
}

static int add_half(struct kernel *k, const struct pnet_entry *half, struct err *e)
{
	int r = send_add(k, half, e);

	if (r == -EEXIST)
		return explain_exists(k, half, e);
	return r < 0 && !knl_is_refusal(r) ? settle_add(k, half, r, e) : r;
}

static int delete_entry(struct kernel *k, const struct pnet_entry *p, struct err *e);

/* Both halves, or none. */
static int add_both(struct kernel *k, const struct pnet_entry *interface, const struct pnet_entry *rdma, struct err *e)
{
	struct err undo = { 0 };
	int r = add_half(k, interface, e);

	if (r < 0)
		return r;
	r = add_half(k, rdma, e);
	if (r >= 0)
		return 0;
	if (delete_entry(k, interface, &undo) < 0)
		return err_set(e, -EIO, "'%s' was added, '%s' was not, and the first could not be taken out again: %s",
			       interface->interface, rdma->rdma, undo.text);
	return r;
}

/* 0: both are new (one that names no device counts as new); else the graver of the two answers. */
static int look_for_both(const struct list *table, const struct pnet_entry *interface, const struct pnet_entry *rdma,
			 struct err *e)
{
	struct err other = { 0 };
	int r = interface->interface[0] ? look_for(table, interface, e) : 0;
	int r_rdma = rdma->rdma[0] ? look_for(table, rdma, &other) : 0;

	if (r_rdma == 0 || r == -EBUSY || (r == -EEXIST && r_rdma == -EEXIST))
		return r;
	if (e)
		*e = other;
	return r_rdma;
}

static int add_entry(struct kernel *k, const struct pnet_entry *p, struct err *e)
{
	struct pnet_entry interface = interface_half(p), rdma = rdma_half(p);
	struct list table CLEANUP_LIST = { 0 };
	int r = read_table(k, &table, e);

	if (r < 0)
		return r;
	r = look_for_both(&table, &interface, &rdma, e);
	if (r < 0)
		return r;
	/* What is not seen can be there, and of the second port of a device the kernel takes the ID before it refuses.
	 */
	if (table.incomplete)
		return err_set(e, -EAGAIN, "the table changes all the time; nothing was added");
	if (p->interface[0] && p->rdma[0])
		return add_both(k, &interface, &rdma, e);
	return add_half(k, p->rdma[0] ? &rdma : &interface, e);
}

/* "pnet entry 'NETA' of 'eth0' and 'rxe0' port 1" */
static void describe(const struct pnet_entry *p, char *buf, size_t size)
{
	char port[16] = "";

	if (p->port)
		snprintf(port, sizeof(port), " port %u", p->port);
	snprintf(buf, size, "pnet entry '%s'%s%s%s%s%s%s%s%s", p->id, p->interface[0] || p->rdma[0] ? " of " : "",
		 p->interface[0] ? "'" : "", p->interface, p->interface[0] ? "'" : "",
		 p->interface[0] && p->rdma[0] ? " and '"
		 : p->rdma[0]                  ? "'"
					       : "",
		 p->rdma, p->rdma[0] ? "'" : "", port);
}

int kernel_pnet_add(struct kernel *k, const struct pnet_entry *p, struct err *e)
{
	struct pnet_entry entry = *p;
	char what[160];
	int r = pnet_entry_check(&entry, e);

	if (r < 0)
		return r;
	describe(&entry, what, sizeof(what));
	if (!entry.interface[0] && !entry.rdma[0])
		return err_set(e, -EINVAL, "add %s: an interface or an RDMA device is needed", what);
	r = add_entry(k, &entry, e);
	return r < 0 ? kernel_fail(k, e, r, "add %s", what) : 0;
}

/* ---- deleting ---- */

#define PUT_BACK_TRIES 3

/* Is the row one of those that p names? No device in p: all of the ID; port 0: any. */
static bool names_row(const struct pnet_entry *p, const struct value *row)
{
	if (!str_eq(row[PNET_ID].s, p->id))
		return false;
	if (!p->interface[0] && !p->rdma[0])
		return true;
	if (p->interface[0] && str_eq(row[PNET_INTERFACE].s, p->interface))
		return true;
	return p->rdma[0] && str_eq(row[PNET_RDMA].s, p->rdma) && (p->port == 0 || row[PNET_PORT].u == p->port);
}

static bool names_any(const struct pnet_entry *p, const struct list *table)
{
	for (size_t i = 0; i < table->n; i++)
		if (names_row(p, list_row(table, i)))
			return true;
	return false;
}

/* Does the kernel delete the row along with those that p names? */
static bool goes_along(const struct pnet_entry *p, const struct value *row)
{
	return str_eq(row[PNET_ID].s, p->id) && !names_row(p, row);
}

static bool has_row(const struct list *l, const struct value *row)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct value *other = list_row(l, i);
		bool same = true;

		for (size_t f = 0; same && f < N_PNET_FIELDS; f++)
			same = value_equal(row[f], other[f]);
		if (same)
			return true;
	}
	return false;
}

/* Add again what went along with p and is not seen now. Goes on after a failure, so that as few as possible are lost.
 */
static void add_missing(struct kernel *k, const struct list *before, const struct list *now, const struct pnet_entry *p,
			struct err *why)
{
	for (size_t i = 0; i < before->n; i++) {
		const struct value *row = list_row(before, i);
		struct pnet_entry entry = pnet_entry_of(before, i);
		struct err failed = { 0 };
		int r;

		if (!goes_along(p, row) || has_row(now, row))
			continue;
		r = send_add(k, &entry, &failed);
		/* EEXIST, when it is not there: another entry of the device. Any other failure says more. */
		if (r < 0 && (r != -EEXIST || !why->code))
			*why = failed;
	}
}

/* How many that went along with p are not seen now, and their names. */
static size_t list_missing(const struct list *before, const struct list *now, const struct pnet_entry *p,
			   struct text *names)
{
	size_t n = 0;

	for (size_t i = 0; i < before->n; i++) {
		const struct value *row = list_row(before, i);
		struct pnet_entry entry = pnet_entry_of(before, i);

		if (!goes_along(p, row) || has_row(now, row))
			continue;
		text_add(names, "%s'%s'", n++ ? ", " : "", device_of(&entry));
		if (entry.port)
			text_add(names, " port %u", entry.port);
	}
	return n;
}

/*
 * The entries that p names were deleted, and with them all others of the ID: put those back, and read whether they are
 * there. The first try is made without a look at the table, because until then they are missing.
 */
static int put_back(struct kernel *k, const struct list *before, const struct pnet_entry *p, struct err *e)
{
	struct list now CLEANUP_LIST = { 0 };
	struct text names CLEANUP_TEXT = { 0 };
	struct err why = { 0 }, reading = { 0 };
	size_t missing = 1;
	int seen = 0;

	for (int i = 0; missing > 0 && i < PUT_BACK_TRIES; i++) {
		add_missing(k, before, &now, p, &why);
		list_done(&now);
		text_done(&names);
		seen = read_whole(k, &now, &reading);
		missing = list_missing(before, &now, p, &names);
	}
	if (missing > 0)
		return err_set(e, -EIO, "the kernel deletes all entries of an ID; of the others %zu %s (%s): %s",
			       missing, seen < 0 ? "may not have been put back" : "could not be put back",
			       text_str(&names),
			       seen < 0   ? reading.text
			       : why.code ? why.text
					  : "it said that it took them, but does not have them");
	if (names_any(p, &now))
		return err_set(e, -EIO, "the kernel said that it was done, but the entry is still there");
	return seen < 0 ? err_set(e, -EIO, "whether it is gone cannot be told: %s", reading.text) : 0;
}

/* Is something that p names in the table? 1, 0, -errno: none was seen, but not all could be read. */
static int is_there(struct kernel *k, const struct pnet_entry *p, struct err *e)
{
	struct list now CLEANUP_LIST = { 0 };
	int r = read_whole(k, &now, e);

	return names_any(p, &now) ? 1 : r;
}

static int delete_entry(struct kernel *k, const struct pnet_entry *p, struct err *e)
{
	struct list table CLEANUP_LIST = { 0 };
	int r = read_table(k, &table, e);

	if (r < 0)
		return r;
	if (table.incomplete)
		return err_set(e, -EAGAIN, "the table changes all the time; nothing was deleted");
	if (!names_any(p, &table))
		return err_set(e, -ENOENT, "there is no such entry");
	r = send_delete(k, p->id, e);
	/* Where it cannot be told whether it was done, the others are added too: the kernel keeps what it has. */
	if (r < 0 && (knl_is_refusal(r) || is_there(k, p, NULL) > 0))
		return r;
	return put_back(k, &table, p, e);
}

/* What came of a deletion that ended with r: where that does not tell, the table does. */
static int deleted(struct kernel *k, const struct pnet_entry *p, int r, struct err *e)
{
	struct err reading = { 0 };
	int there;

	if (r >= 0 || knl_is_refusal(r))
		return r;
	there = is_there(k, p, &reading);
	if (there < 0)
		return knl_untold(e, r, &reading);
	return there ? r : 0;
}

static int delete_id(struct kernel *k, const struct pnet_entry *p, struct err *e)
{
	return deleted(k, p, send_delete(k, p->id, e), e);
}

/* ---- by smc_tune: one entry, or all of them at a time ---- */

/* The nest of an entry of one target behind what is in the message already. */
static void put_entry(struct text *message, const struct pnet_entry *p)
{
	const bool rdma = p->rdma[0];
	const struct knl_arg id = { SMC_TUNE_A_PNET_ENTRY_PNETID, p->id, strlen(p->id) + 1 };
	const struct knl_arg name = {
		rdma ? SMC_TUNE_A_PNET_ENTRY_IBNAME : SMC_TUNE_A_PNET_ENTRY_ETHNAME,
		device_of(p),
		strlen(device_of(p)) + 1,
	};
	const struct knl_arg port = { SMC_TUNE_A_PNET_ENTRY_IBPORT, &p->port, sizeof(p->port) };
	CLEANUP_TEXT struct text nest = { 0 };

	knl_put(&nest, &id);
	knl_put(&nest, &name);
	if (rdma && p->port)
		knl_put(&nest, &port);
	message->failed |= nest.failed;
	if (!nest.failed)
		knl_put(message, &(struct knl_arg){ SMC_TUNE_A_PNET_ENTRY | NLA_F_NESTED, nest.s, nest.len });
}

/* A command with n entries. */
static int send_entries(struct kernel *k, uint8_t cmd, const struct pnet_entry *p, size_t n, struct err *e)
{
	struct knl_arg args[PNET_ENTRIES_AT_ONCE];
	CLEANUP_TEXT struct text message = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		put_entry(&message, &p[i]);
	if (message.failed)
		return err_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		struct nlattr a;

		memcpy(&a, message.s + at, sizeof(a));
		args[i] = (struct knl_arg){ a.nla_type, message.s + at + NLA_HDRLEN, a.nla_len - (size_t)NLA_HDRLEN };
		at += NLA_ALIGN((size_t)a.nla_len);
	}
	return knl_family_do(k, KNL_TUNE, cmd, args, n, e);
}

/* One half, on any port where none is given. -ENOENT: there is none of them. */
static int delete_half(struct kernel *k, const struct pnet_entry *p, struct err *e)
{
	struct pnet_entry half = *p;
	int worst = -ENOENT;

	for (uint8_t port = 1; port <= 2; port++) {
		int r;

		half.port = p->port || !p->rdma[0] ? p->port : port;
		r = send_entries(k, SMC_TUNE_CMD_PNET_DEL, &half, 1, e);
		if (r < 0 && r != -ENOENT)
			return r;
		if (r == 0)
			worst = 0;
		if (half.port == p->port)
			break;
	}
	return worst;
}

static int delete_halves(struct kernel *k, const struct pnet_entry *p, struct err *e)
{
	struct pnet_entry interface = interface_half(p), rdma = *p;
	int r = -ENOENT, r_rdma = -ENOENT;

	rdma.interface[0] = '\0';
	if (p->interface[0])
		r = delete_half(k, &interface, e);
	if (p->rdma[0] && (r == 0 || r == -ENOENT))
		r_rdma = delete_half(k, &rdma, e);
	if (r == 0 && r_rdma < 0 && r_rdma != -ENOENT)
		return err_prefix(e, "the entry of '%s' was deleted, that of '%s' was not", p->interface, p->rdma);
	return r == -ENOENT ? r_rdma : r;
}

static int delete_exactly(struct kernel *k, const struct pnet_entry *p, struct err *e)
{
	return deleted(k, p, delete_halves(k, p, e), e);
}

static int committed_message(void *arg, const struct knl_message *m, struct err *e)
{
	uint64_t *entries = arg;
	struct knl_attr a;

	if (m->cmd != SMC_TUNE_CMD_PNET_COMMIT || knl_attr_find(m->body, SMC_TUNE_A_PNET_ENTRIES, &a) <= 0 ||
	    knl_attr_uint(&a, entries) < 0)
		return err_set(e, -EBADMSG, "the kernel's answer is malformed (entries)");
	return 0;
}

static int stage(struct kernel *k, const struct pnet_entry *v, size_t n, struct err *e)
{
	uint64_t committed = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i += PNET_ENTRIES_AT_ONCE)
		r = send_entries(k, SMC_TUNE_CMD_PNET_ADD, &v[i],
				 n - i < PNET_ENTRIES_AT_ONCE ? n - i : PNET_ENTRIES_AT_ONCE, e);
	if (r == 0)
		r = knl_family_ask(k, KNL_TUNE, SMC_TUNE_CMD_PNET_COMMIT, NULL, 0, committed_message, &committed, e);
	if (r == 0 && committed != n)
		r = err_set(e, -EIO, "the kernel took %llu entries, not %zu", (unsigned long long)committed, n);
	return r;
}

static int replace(struct kernel *k, const struct pnet_entry *v, size_t n, struct err *e)
{
	int r;

	if (!knl_has_tune(k))
		return err_set(e, -EOPNOTSUPP, KNL_NO_TUNE);
	if (n > PNET_REPLACE_MAX)
		return err_set(e, -E2BIG, "%zu entries are more than %d", n, PNET_REPLACE_MAX);
	for (size_t i = 0; i < n; i++) {
		struct pnet_entry p = v[i];

		r = pnet_entry_check(&p, e);
		if (r == 0 && !p.interface[0] == !p.rdma[0])
			r = err_set(e, -EINVAL, "an entry has either an interface or an RDMA device");
		if (r < 0)
			return err_prefix(e, "entry %zu", i + 1);
	}
	r = knl_family_do(k, KNL_TUNE, SMC_TUNE_CMD_PNET_BEGIN, NULL, 0, e);
	if (r < 0)
		return r;
	r = stage(k, v, n, e);
	/* What was committed is closed already; an abort is refused then, and does no harm. */
	if (r < 0)
		(void)knl_family_do(k, KNL_TUNE, SMC_TUNE_CMD_PNET_ABORT, NULL, 0, NULL);
	return r;
}

int kernel_pnet_replace(struct kernel *k, const struct pnet_entry *entries, size_t n, struct err *e)
{
	int r = replace(k, entries, n, e);

	return r < 0 ? kernel_fail(k, e, r, "replace the pnet table") : 0;
}

int kernel_pnet_delete(struct kernel *k, const struct pnet_entry *p, struct err *e)
{
	struct pnet_entry entry = *p;
	char what[160];
	int r = pnet_entry_check(&entry, e);

	if (r < 0)
		return r;
	describe(&entry, what, sizeof(what));
	if ((entry.interface[0] || entry.rdma[0]) && knl_has_tune(k))
		r = delete_exactly(k, &entry, e);
	else if (entry.interface[0] || entry.rdma[0])
		r = delete_entry(k, &entry, e);
	else
		r = delete_id(k, &entry, e);
	if (r == -ENOENT)
		err_set(e, r, "there is no such entry");
	return r < 0 ? kernel_fail(k, e, r, "delete %s", what) : 0;
}

int kernel_pnet_flush(struct kernel *k, struct err *e)
{
	int r = knl_family_do(k, KNL_PNET, SMC_PNETID_FLUSH, NULL, 0, e);

	return r < 0 ? kernel_fail(k, e, r, "delete all pnet entries") : 0;
}
