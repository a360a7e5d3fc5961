// SPDX-License-Identifier: GPL-2.0-or-later
#include "policy.h"

#include <dirent.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define POINTER_SHOWN_MAX 160
#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)

const struct policy_paths policy_paths_default = {
	.usr_dir = "/usr/lib/smcd/policy.d",
	.main_file = SYSCONFDIR "/smcd/policy.json",
	.run_dir = SMCD_RUN_DIR "/policy.d",
	.etc_dir = POLICY_ETC_DIR,
};

struct strings_link {
	struct strings_link *next;
	char s[];
};

struct policy_store {
	struct strings_link *strings;
	size_t pnet_size, files_size; /* rows allocated */
	/*
	 * Open addressing by target of a pnet entry: its index plus one, 0 is free. A power of two, at most half
	 * full.
	 */
	uint32_t *targets;
	size_t targets_size;
};

/* Reading one text. */
struct load {
	struct policy *p;
	const char *file;
	const struct json_index *ix;
	struct problems *problems;
	struct text at; /* pointer of the value in hand */
	bool no_memory;
};

static void json_freep(struct json_object **o)
{
	json_object_put(*o);
}
#define CLEANUP_JSON CLEANUP(json_freep)

/* ---- problems ---- */

void problems_done(struct problems *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->text[i]);
	free(p->text);
	*p = (struct problems){ 0 };
}

static size_t problems_total(const struct problems *p)
{
	return p->n + p->n_more;
}

/* Takes over the text. */
static int problems_add(struct problems *p, struct text *t)
{
	char **bigger;

	if (p->n == POLICY_PROBLEMS_MAX) {
		p->n_more++;
		text_done(t);
		return 0;
	}
	bigger = t->failed ? NULL : reallocarray(p->text, p->n + 1, sizeof(*p->text));
	if (!bigger) {
		text_done(t);
		return -ENOMEM;
	}
	p->text = bigger;
	p->text[p->n++] = t->s;
	*t = (struct text){ 0 };
	return 0;
}

static void add_file_name(struct text *t, const char *file)
{
	text_add_safe(t, file, strlen(file), PATH_MAX);
}

static void add_place(struct text *t, const struct origin *o)
{
	add_file_name(t, o->file);
	text_add(t, ":%u:%u", o->at.line, o->at.column);
}

static int file_problem(struct problems *p, const char *file, const struct err *e)
{
	struct text t = { 0 };

	add_file_name(&t, file);
	text_add(&t, ": %s", e->text);
	return problems_add(p, &t);
}

static struct origin here(const struct load *l, bool key)
{
	struct origin o = { .file = l->file, .at = { 1, 1 } };
	const char *pointer = text_str(&l->at);

	if (!key || json_index_key(l->ix, pointer, &o.at) < 0)
		(void)json_index_value(l->ix, pointer, &o.at); /* exists: json-c's tree was made of the same text */
	return o;
}

/* A problem with the value in hand, or with its name. */
static void complain_text(struct load *l, bool key, const char *what)
{
	struct origin o = here(l, key);
	struct text t = { 0 };

	add_place(&t, &o);
	if (l->at.len) {
		text_add(&t, ": ");
		text_add_safe(&t, l->at.s, l->at.len, POINTER_SHOWN_MAX);
	}
	text_add(&t, ": %s", what);
	if (problems_add(l->problems, &t) < 0)
		l->no_memory = true;
}

static void complain(struct load *l, const struct text *what)
{
	if (what->failed)
		l->no_memory = true;
	else
		complain_text(l, false, text_str(what));
}

static size_t enter(struct load *l, const char *token)
{
	size_t mark = l->at.len;

	json_pointer_add(&l->at, token);
	if (l->at.failed)
		l->no_memory = true;
	return mark;
}

static size_t enter_element(struct load *l, size_t i)
{
	char token[24];

	snprintf(token, sizeof(token), "%zu", i);
	return enter(l, token);
}

static void leave(struct load *l, size_t mark)
{
	l->at.len = mark;
	if (l->at.s)
		l->at.s[mark] = '\0';
}

/* "found ..." of the value in hand: its content where that is short, else its type. */
static void add_found(const struct load *l, struct json_object *o, struct text *t)
{
	const char *number;
	size_t len;

	switch (json_object_get_type(o)) {
	case json_type_null:
		text_add(t, "found null");
		break;
	case json_type_boolean:
		text_add(t, "found %s", json_object_get_boolean(o) ? "true" : "false");
		break;
	case json_type_string:
		text_add(t, "found the string \"");
		text_add_safe(t, json_object_get_string(o), (size_t)json_object_get_string_len(o), SHOWN_MAX);
		text_add(t, "\"");
		break;
	case json_type_object:
		text_add(t, "found an object");
		break;
	case json_type_array:
		text_add(t, "found an array");
		break;
	default:
		text_add(t, "found the number ");
		if (json_index_number(l->ix, text_str(&l->at), &number, &len) == 0)
			text_add_safe(t, number, len, SHOWN_MAX);
		break;
	}
}

static void complain_type(struct load *l, struct json_object *o, const char *allowed)
{
	CLEANUP_TEXT struct text t = { 0 };

	add_found(l, o, &t);
	text_add(&t, ", allowed: %s", allowed);
	complain(l, &t);
}

/* ---- storage ---- */

static const char *store_string(struct policy *p, const char *s)
{
	size_t len = strlen(s);
	struct strings_link *link = malloc(sizeof(*link) + len + 1);

	if (!link)
		return NULL;
	memcpy(link->s, s, len + 1);
	link->next = p->store->strings;
	p->store->strings = link;
	return link->s;
}

static const char *store_file(struct policy *p, const char *file)
{
	struct policy_store *st = p->store;
	char *copy;

	if (p->n_files == st->files_size) {
		size_t size = st->files_size ? 2 * st->files_size : 8;
		char **bigger = reallocarray(p->files, size, sizeof(*p->files));

		if (!bigger)
			return NULL;
		p->files = bigger;
		st->files_size = size;
	}
	copy = strdup(file);
	if (copy)
		p->files[p->n_files++] = copy;
	return copy;
}

int policy_init(struct policy *p)
{
	struct policy_knob *k = calloc(n_knobs, sizeof(*k));
	struct policy_store *st = calloc(1, sizeof(*st));

	if (!k || !st) {
		free(k);
		free(st);
		return -ENOMEM;
	}
	*p = (struct policy){ .knobs = k, .store = st };
	return 0;
}

void policy_done(struct policy *p)
{
	for (size_t i = 0; i < p->n_files; i++)
		free(p->files[i]);
	while (p->store && p->store->strings) {
		struct strings_link *link = p->store->strings;

		p->store->strings = link->next;
		free(link);
	}
	if (p->store)
		free(p->store->targets);
	free(p->store);
	free(p->files);
	free(p->pnet);
	free(p->knobs);
	*p = (struct policy){ 0 };
}

/* ---- values ---- */

/* How a policy writes a value of each type. */
struct notation {
	bool number, string, boolean;
	const char *what; /* what is allowed, in front of the range */
	bool no_range;    /* what says it all */
};

static const struct notation notations[] = {
	[TYPE_COUNT] = { .number = true, .what = "a whole number, " },
	[TYPE_SIZE] = { .number = true, .string = true, .what = "a whole number or a string like \"64K\", " },
	[TYPE_SECONDS] = { .number = true, .string = true, .what = "a whole number or a string like \"30s\", " },
	[TYPE_MSECONDS] = { .number = true, .string = true, .what = "a whole number or a string like \"5s\", " },
	[TYPE_BOOL] = { .boolean = true, .string = true, .what = "true, false, \"on\" or \"off\"", .no_range = true },
	[TYPE_CHOICE] = { .number = true, .string = true, .what = "a name, or its number from 0, out of " },
	[TYPE_STRING] = { .string = true, .what = "a string, " },
	[TYPE_HEX32] = { .string = true, .what = "a string, " },
	[TYPE_HEX64] = { .string = true, .what = "a string, " },
};

void policy_notation(const struct value_spec *spec, struct text *t)
{
	const struct notation *n = &notations[spec->type];

	text_add(t, "%s", n->what);
	if (!n->no_range)
		value_allowed(spec, t);
}

static void complain_notation(struct load *l, struct json_object *o, const struct value_spec *spec)
{
	CLEANUP_TEXT struct text t = { 0 };

	policy_notation(spec, &t);
	complain_type(l, o, text_str(&t));
}

/*
 * The number in hand as it is written, malloced; NULL where it has a fraction or an exponent (or there is no memory).
 */
static char *whole_number(struct load *l)
{
	const char *s;
	size_t len;
	char *copy;

	if (json_index_number(l->ix, text_str(&l->at), &s, &len) < 0 || strcspn(s, ".eE") < len)
		return NULL;
	copy = strndup(s, len);
	if (!copy)
		l->no_memory = true;
	return copy;
}

/* Read the value in hand; complains and returns false when it is not allowed. A string is borrowed from o. */
static bool read_value(struct load *l, struct json_object *o, const struct value_spec *spec, struct value *ret)
{
	const struct notation *n = &notations[spec->type];
	enum json_type type = json_object_get_type(o);
	CLEANUP_FREE char *number = NULL;
	struct value v = { 0 };
	struct err e = { 0 };
	int r;

	if (type == json_type_int || type == json_type_double)
		number = n->number ? whole_number(l) : NULL;
	if (number) {
		r = value_parse(spec, number, &v, &e);
	} else if (type == json_type_string && n->string) {
		r = value_parse(spec, json_object_get_string(o), &v, &e);
	} else if (type == json_type_boolean && n->boolean) {
		v = value_uint(json_object_get_boolean(o) ? 1 : 0);
		r = value_check(spec, v, &e);
	} else {
		complain_notation(l, o, spec);
		return false;
	}
	if (r < 0) {
		complain_text(l, false, e.text);
		return false;
	}
	*ret = v;
	return true;
}

static void take_setting(struct load *l, struct json_object *o, const struct value_spec *spec, struct policy_knob *dest)
{
	struct value v;

	if (!read_value(l, o, spec, &v))
		return;
	if (v.kind == VALUE_STR) {
		v.s = store_string(l->p, v.s);
		if (!v.s) {
			l->no_memory = true;
			return;
		}
	}
	*dest = (struct policy_knob){ .v = v, .from = here(l, false) };
}

/* ---- objects with known members ---- */

struct member {
	const char *name;
	enum json_type type;
	const char *allowed; /* for a value of another type */
	/* NULL: any value of the type is fine and ignored. o is never null. */
	void (*take)(struct load *l, struct json_object *o, void *dest);
};

struct member_table {
	const struct member *v;
	size_t n;
};

static const char *member_name(size_t i, const void *arg)
{
	const struct member_table *table = arg;

	return table->v[i].name;
}

static const char *knob_name(size_t i, const void *arg)
{
	(void)arg;
	return knobs[i].name;
}

/* The name in hand is none of name(0..n-1). */
static void complain_name(struct load *l, const char *found, const char *(*name)(size_t i, const void *arg),
			  const void *arg, size_t n)
{
	const char *close = closest_name(found, name, arg, n);
	CLEANUP_TEXT struct text t = { 0 };

	text_add(&t, "found the name \"");
	text_add_safe(&t, found, strlen(found), SHOWN_MAX);
	text_add(&t, "\"");
	if (close)
		text_add(&t, " (did you mean \"%s\"?)", close);
	text_add(&t, ", allowed: ");
	for (size_t i = 0; i < n; i++)
		text_add(&t, "%s%s", i ? ", " : "", name(i, arg));
	if (t.failed)
		l->no_memory = true;
	else
		complain_text(l, true, text_str(&t));
}

static void take_member(struct load *l, const char *name, struct json_object *o, const struct member_table *table,
			void *dest)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct member *m = &table->v[i];

		if (!str_eq(m->name, name))
			continue;
		if (json_object_get_type(o) != m->type)
			complain_type(l, o, m->allowed);
		else if (m->take)
			m->take(l, o, dest);
		return;
	}
	complain_name(l, name, member_name, table, table->n);
}

static void take_members(struct load *l, struct json_object *object, const struct member_table *table, void *dest)
{
	json_object_object_foreach(object, name, o)
	{
		size_t mark = enter(l, name);

		if (!l->no_memory)
			take_member(l, name, o, table, dest);
		leave(l, mark);
	}
}

/* ---- pnet ---- */

/* Without the port: the kernel lists an RDMA device once (smc_pnet_add_ib). */
struct target {
	const char *kind, *name;
};

static struct target target_of(const struct pnet_entry *e)
{
	if (e->interface[0])
		return (struct target){ .kind = "interface", .name = e->interface };
	return (struct target){ .kind = "RDMA device", .name = e->rdma };
}

/* 0 for interfaces. The kernel takes port 1 where none is given. */
static unsigned int port_of(const struct pnet_entry *e)
{
	return e->rdma[0] && !e->port ? 1 : e->port;
}

static bool target_equal(struct target a, struct target b)
{
	return strcmp(a.kind, b.kind) == 0 && strcmp(a.name, b.name) == 0;
}

static size_t target_hash(struct target t)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	for (const char *s = t.name; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return (size_t)(h ^ h >> 32);
}

/* The slot of this target, or the free one where it would go. */
static uint32_t *target_slot(const struct policy *p, struct target t)
{
	const struct policy_store *st = p->store;
	size_t i = target_hash(t) & (st->targets_size - 1);

	while (st->targets[i] && !target_equal(t, target_of(&p->pnet[st->targets[i] - 1].entry)))
		i = (i + 1) & (st->targets_size - 1);
	return &st->targets[i];
}

/* Room for one more entry in the table and in the list. */
static int pnet_room(struct policy *p)
{
	struct policy_store *st = p->store;
	size_t size = st->pnet_size ? 2 * st->pnet_size : 16;
	struct policy_pnet *bigger;
	uint32_t *targets;

	if (p->n_pnet < st->pnet_size)
		return 0;
	bigger = reallocarray(p->pnet, size, sizeof(*p->pnet));
	if (!bigger)
		return -ENOMEM;
	p->pnet = bigger;
	targets = calloc(2 * size, sizeof(*targets));
	if (!targets)
		return -ENOMEM;
	free(st->targets);
	st->targets = targets;
	st->targets_size = 2 * size;
	st->pnet_size = size;
	for (size_t i = 0; i < p->n_pnet; i++)
		*target_slot(p, target_of(&p->pnet[i].entry)) = (uint32_t)i + 1;
	return 0;
}

/* The entry in hand names a target that has an ID already: the same one is fine from another file. */
static void take_again(struct load *l, const struct pnet_entry *e, const struct policy_pnet *first)
{
	CLEANUP_TEXT struct text t = { 0 };
	struct target target = target_of(e);
	unsigned int port = port_of(e), first_port = port_of(&first->entry);
	bool same = strcmp(e->id, first->entry.id) == 0 && port == first_port;

	if (same && first->from.file != l->file)
		return;
	text_add(&t, "found ID %s for %s \"", e->id, target.kind);
	text_add_safe(&t, target.name, strlen(target.name), SHOWN_MAX);
	text_add(&t, "\"");
	if (port)
		text_add(&t, " port %u", port);
	if (same)
		text_add(&t, " again, allowed: once in a file; it is at ");
	else if (port != first_port)
		text_add(&t, ", allowed: one entry for a device, whatever the port; it has ID %s with port %u at ",
			 first->entry.id, first_port);
	else
		text_add(&t, ", allowed: one ID; it has %s at ", first->entry.id);
	add_place(&t, &first->from);
	text_add(&t, " already");
	complain(l, &t);
}

static void add_entry(struct load *l, const struct pnet_entry *e)
{
	struct policy *p = l->p;
	CLEANUP_TEXT struct text t = { 0 };
	uint32_t *slot;

	if (pnet_room(p) < 0) {
		l->no_memory = true;
		return;
	}
	slot = target_slot(p, target_of(e));
	if (*slot) {
		take_again(l, e, &p->pnet[*slot - 1]);
	} else if (p->n_pnet == POLICY_PNET_MAX) {
		text_add(&t, "found more than %u pnet entries in all files, allowed: %u", POLICY_PNET_MAX,
			 POLICY_PNET_MAX);
		complain(l, &t);
	} else {
		p->pnet[p->n_pnet++] = (struct policy_pnet){ .entry = *e, .from = here(l, false) };
		*slot = (uint32_t)p->n_pnet;
	}
}

/*
 * Copy a name after a look at its length; part is an entry for pnet_entry_check() in which only this name is in
 * doubt.
 */
static void take_name(struct load *l, struct json_object *o, char *dest, size_t max, struct pnet_entry *part,
		      char *name)
{
	const char *s = json_object_get_string(o);
	size_t len = strlen(s);
	CLEANUP_TEXT struct text t = { 0 };
	struct err e = { 0 };

	if (len == 0 || len > max) {
		add_found(l, o, &t);
		text_add(&t, " of %zu characters, allowed: 1 to %zu", len, max);
		complain(l, &t);
		return;
	}
	memcpy(name, s, len + 1);
	if (pnet_entry_check(part, &e) < 0)
		complain_text(l, false, e.text);
	else
		memcpy(dest, name, strlen(name) + 1);
}

static void take_id(struct load *l, struct json_object *o, void *dest)
{
	struct pnet_entry *e = dest, part = { 0 };

	take_name(l, o, e->id, PNET_ID_MAX, &part, part.id);
}

static void take_interface(struct load *l, struct json_object *o, void *dest)
{
	struct pnet_entry *e = dest, part = { .id = "A" };

	take_name(l, o, e->interface, PNET_IFNAME_MAX, &part, part.interface);
}

static void take_rdma(struct load *l, struct json_object *o, void *dest)
{
	struct pnet_entry *e = dest, part = { .id = "A" };

	take_name(l, o, e->rdma, PNET_RDMA_MAX, &part, part.rdma);
}

static void take_port(struct load *l, struct json_object *o, void *dest)
{
	static const struct value_spec spec = { .type = TYPE_COUNT, .min = 1, .max = 2 };
	struct pnet_entry *e = dest;
	struct value v;

	if (read_value(l, o, &spec, &v))
		e->port = (uint8_t)v.u;
}

static const struct member entry_members[] = {
	{ .name = "id", .type = json_type_string, .allowed = "a string", .take = take_id },
	{ .name = "interface", .type = json_type_string, .allowed = "a string", .take = take_interface },
	{ .name = "rdma", .type = json_type_string, .allowed = "a string", .take = take_rdma },
	{ .name = "port", .type = json_type_int, .allowed = "1 or 2", .take = take_port },
	{ .name = "comment", .type = json_type_string, .allowed = "a string" },
};

static const struct member_table entry_table = { entry_members, ARRAY_SIZE(entry_members) };

/* Does it name what it must, and only that? Members that are there but wrong were complained of already. */
static void check_entry(struct load *l, struct json_object *o)
{
	bool interface = json_object_object_get_ex(o, "interface", NULL);
	bool rdma = json_object_object_get_ex(o, "rdma", NULL);
	size_t mark;

	if (!json_object_object_get_ex(o, "id", NULL))
		complain_text(l, false,
			      "found an entry without \"id\", allowed: {\"id\": ..., \"interface\" or \"rdma\": ...}");
	if (!interface && !rdma)
		complain_text(l, false, "found an entry without a target, allowed: one of \"interface\" and \"rdma\"");
	if (interface && rdma)
		complain_text(l, false,
			      "found both \"interface\" and \"rdma\", allowed: one in an entry; make two entries of "
			      "it");
	if (json_object_object_get_ex(o, "port", NULL) && !rdma) {
		mark = enter(l, "port");
		if (!l->no_memory)
			complain_text(l, true, "found \"port\" without \"rdma\", allowed: only for an RDMA device");
		leave(l, mark);
	}
}

static void take_entry(struct load *l, struct json_object *o)
{
	struct pnet_entry e = { 0 };
	size_t before = problems_total(l->problems);

	if (json_object_get_type(o) != json_type_object) {
		complain_type(l, o, "an object {\"id\": ..., \"interface\" or \"rdma\": ...}");
		return;
	}
	take_members(l, o, &entry_table, &e);
	check_entry(l, o);
	if (!l->no_memory && problems_total(l->problems) == before)
		add_entry(l, &e);
}

static void take_elements(struct load *l, struct json_object *array,
			  void (*take)(struct load *l, struct json_object *o))
{
	for (size_t i = 0; i < json_object_array_length(array) && !l->no_memory; i++) {
		size_t mark = enter_element(l, i);

		if (!l->no_memory)
			take(l, json_object_array_get_idx(array, i));
		leave(l, mark);
	}
}

static void take_pnet(struct load *l, struct json_object *o, void *dest)
{
	(void)dest;
	take_elements(l, o, take_entry);
}

/* ---- the other sections ---- */

static void add_eid(struct load *l, const char *eid)
{
	struct policy *p = l->p;
	CLEANUP_TEXT struct text t = { 0 };

	for (size_t i = 0; i < p->n_ueid; i++) {
		if (strcmp(p->ueid[i].eid, eid) != 0)
			continue;
		if (p->ueid[i].from.file == l->file) {
			text_add(&t, "found \"%s\" again, allowed: once in a file; it is at ", eid);
			add_place(&t, &p->ueid[i].from);
			text_add(&t, " already");
			complain(l, &t);
		}
		return;
	}
	if (p->n_ueid < UEID_COUNT_MAX) {
		memcpy(p->ueid[p->n_ueid].eid, eid, strlen(eid) + 1);
		p->ueid[p->n_ueid++].from = here(l, false);
		return;
	}
	text_add(&t, "found more than %d UEIDs in all files, allowed: %d; there are", UEID_COUNT_MAX, UEID_COUNT_MAX);
	for (size_t i = 0; i < p->n_ueid; i++) {
		text_add(&t, "%s %s at ", i ? "," : "", p->ueid[i].eid);
		add_place(&t, &p->ueid[i].from);
	}
	complain(l, &t);
}

static void take_eid(struct load *l, struct json_object *o)
{
	const char *eid = json_object_get_string(o);
	struct err e = { 0 };

	if (json_object_get_type(o) != json_type_string)
		complain_type(l, o, "a string");
	else if (ueid_check(eid, &e) < 0)
		complain_text(l, false, e.text);
	else
		add_eid(l, eid);
}

static void take_ueid(struct load *l, struct json_object *o, void *dest)
{
	(void)dest;
	take_elements(l, o, take_eid);
}

static void take_seid(struct load *l, struct json_object *o, void *dest)
{
	static const struct value_spec spec = { .type = TYPE_BOOL, .min = 0, .max = 1 };

	(void)dest;
	take_setting(l, o, &spec, &l->p->seid);
}

static void take_knobs(struct load *l, struct json_object *object, void *dest)
{
	(void)dest;
	json_object_object_foreach(object, name, o)
	{
		const struct knob *k = knob_find(name);
		size_t mark = enter(l, name);

		if (!l->no_memory && k)
			take_setting(l, o, &k->spec, &l->p->knobs[knob_index(k)]);
		else if (!l->no_memory)
			complain_name(l, name, knob_name, NULL, n_knobs);
		leave(l, mark);
	}
}

#define VERSION_ALLOWED STRINGIFY(POLICY_VERSION) ", the only policy version that this smcd knows"

static void take_version(struct load *l, struct json_object *o, void *dest)
{
	CLEANUP_FREE char *number = whole_number(l);

	(void)dest;
	if (!l->no_memory && !str_eq(number, STRINGIFY(POLICY_VERSION)))
		complain_type(l, o, VERSION_ALLOWED);
}

static const struct member top_members[] = {
	{ .name = "version", .type = json_type_int, .allowed = VERSION_ALLOWED, .take = take_version },
	{ .name = "comment", .type = json_type_string, .allowed = "a string" },
	{ .name = "knobs",
	  .type = json_type_object,
	  .allowed = "an object {\"NAME\": VALUE, ...}",
	  .take = take_knobs },
	{ .name = "pnet", .type = json_type_array, .allowed = "an array of entries", .take = take_pnet },
	{ .name = "ueid", .type = json_type_array, .allowed = "an array of strings", .take = take_ueid },
	{ .name = "seid", .type = json_type_boolean, .allowed = "true or false", .take = take_seid },
};

static const struct member_table top_table = { top_members, ARRAY_SIZE(top_members) };

/* A policy for a newer smcd: nothing else that looks wrong in it needs to be wrong. */
static bool is_newer(struct json_object *version)
{
	return json_object_get_type(version) == json_type_int && json_object_get_int64(version) > POLICY_VERSION;
}

static void take_document(struct load *l, struct json_object *root)
{
	struct json_object *version = NULL;
	size_t mark;

	if (json_object_get_type(root) != json_type_object) {
		complain_type(l, root, "an object {\"version\": " STRINGIFY(POLICY_VERSION) ", ...}");
		return;
	}
	if (!json_object_object_get_ex(root, "version", &version))
		complain_text(l, false, "found no \"version\", allowed: " VERSION_ALLOWED);
	if (!is_newer(version)) {
		take_members(l, root, &top_table, NULL);
		return;
	}
	mark = enter(l, "version");
	if (!l->no_memory)
		complain_type(l, version, VERSION_ALLOWED);
	leave(l, mark);
}

/* ---- texts ---- */

static bool is_null_text(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r\n", text[i]))
		i++;
	return i < len && text[i] == 'n';
}

/* json-c's tree of a text that the scanner has accepted. */
static int parse_tree(const char *text, size_t len, struct json_object **ret, struct err *e)
{
	/* json-c counts what is inside of the innermost array as one level more */
	struct json_tokener *tok = json_tokener_new_ex(JSON_DEPTH_MAX + 1);
	struct json_object *root;
	enum json_tokener_error error;

	if (!tok)
		return err_set(e, -ENOMEM, "out of memory");
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	root = json_tokener_parse_ex(tok, text, (int)len);
	error = json_tokener_get_error(tok);
	if (error == json_tokener_continue) { /* a number may go on: it ends at the NUL */
		root = json_tokener_parse_ex(tok, "", 1);
		error = json_tokener_get_error(tok);
	}
	json_tokener_free(tok);
	if (error != json_tokener_success) {
		json_object_put(root);
		return err_set(e, -EINVAL, "json-c cannot read the text: %s", json_tokener_error_desc(error));
	}
	/* json-c 0.16 calls it success when it gets no memory, and null has no object either */
	if (!root && !is_null_text(text, len))
		return err_set(e, -ENOMEM, "out of memory");
	*ret = root;
	return 0;
}

static int syntax_problem(struct problems *problems, const struct origin *o, const struct err *e)
{
	struct text t = { 0 };
	int r;

	add_place(&t, o);
	text_add(&t, ": %s", e->text);
	r = problems_add(problems, &t);
	return r < 0 ? r : -EINVAL;
}

int policy_add_text(struct policy *p, const char *file, const char *text, size_t len, struct problems *problems)
{
	CLEANUP_JSON_INDEX struct json_index *ix = NULL;
	CLEANUP_JSON struct json_object *root = NULL;
	struct load l = { .p = p, .problems = problems };
	struct origin at = { .at = { 1, 1 } };
	size_t before = problems_total(problems);
	struct err e = { 0 };
	int r;

	at.file = l.file = store_file(p, file);
	if (!l.file)
		return -ENOMEM;
	r = json_index_new(text, len, &ix, &at.at, &e);
	if (r == 0)
		r = parse_tree(text, len, &root, &e);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return syntax_problem(problems, &at, &e);
	l.ix = ix;
	take_document(&l, root);
	text_done(&l.at);
	if (l.no_memory)
		return -ENOMEM;
	return problems_total(problems) == before ? 0 : -EINVAL;
}

/* ---- files ---- */

static int err_system(struct err *e, int code, const char *what)
{
	return err_set(e, code, "%s: %s (%s)", what, strerrordesc_np(-code), errno_name(code));
}

/* What everybody may write is no policy: it would hand out the right to set up the kernel. */
static int check_file(int fd, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_system(e, -errno, "cannot read its status");
	if (S_ISDIR(st.st_mode))
		return err_set(e, -EISDIR, "found a directory, allowed: a regular file");
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "found something that is no regular file, allowed: a regular file");
	if (st.st_mode & S_IWOTH)
		return err_set(e, -EINVAL,
			       "found a file that everybody can write (mode %04o), allowed: one without; see chmod o-w",
			       (unsigned int)st.st_mode & 07777);
	if (st.st_size > JSON_TEXT_MAX)
		return err_set(e, -EFBIG, "found a file of %lld bytes, allowed: %u", (long long)st.st_size,
			       JSON_TEXT_MAX);
	return 0;
}

static int read_rest(int fd, char **ret, size_t *ret_len)
{
	CLEANUP_FREE char *buf = NULL;
	size_t len = 0, size = 0;

	for (;;) {
		ssize_t n;

		if (len == size) {
			char *bigger = realloc(buf, size ? 2 * size : 4096);

			if (!bigger)
				return -ENOMEM;
			buf = bigger;
			size = size ? 2 * size : 4096;
		}
		n = read(fd, buf + len, size - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > JSON_TEXT_MAX)
			return -EFBIG; /* it grew since the look at its size */
	}
	*ret = buf;
	*ret_len = len;
	buf = NULL;
	return 0;
}

/* The file that is checked is the file that is read, whatever happens to the name meanwhile. */
static int read_policy(const char *file, char **ret, size_t *ret_len, struct err *e)
{
	/* not blocking: a FIFO would wait for a writer */
	CLEANUP_FD int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int r;

	if (fd < 0)
		return err_system(e, -errno, "cannot open it");
	r = check_file(fd, e);
	if (r < 0)
		return r;
	r = read_rest(fd, ret, ret_len);
	return r < 0 ? err_system(e, r, "cannot read it") : 0;
}

int policy_add_file(struct policy *p, const char *file, struct problems *problems)
{
	CLEANUP_FREE char *text = NULL;
	struct err e = { 0 };
	size_t len = 0;
	int r;

	r = read_policy(file, &text, &len, &e);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		r = file_problem(problems, file, &e);
		return r < 0 ? r : -EINVAL;
	}
	return policy_add_text(p, file, text, len, problems);
}

/* ---- layers ---- */

struct layer {
	const char *dir;
	struct dirent **v; /* sorted by name */
	int n;
};

enum { LAYER_USR, LAYER_RUN, LAYER_ETC, N_LAYERS };

static void layer_done(struct layer *l)
{
	for (int i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
}

static int is_policy_name(const struct dirent *d)
{
	size_t len = strlen(d->d_name), suffix = strlen(".json");

	return d->d_name[0] != '.' && len > suffix && strcmp(d->d_name + len - suffix, ".json") == 0;
}

/* Not alphasort(), whose order depends on the locale. */
static int compare_entries(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int compare_name(const void *name, const void *entry)
{
	return strcmp(name, (*(struct dirent *const *)entry)->d_name);
}

static int layer_read(struct layer *l, struct problems *problems)
{
	struct err e = { 0 };
	int r;

	if (!l->dir)
		return 0;
	r = scandir(l->dir, &l->v, is_policy_name, compare_entries);
	if (r >= 0) {
		l->n = r;
		return 0;
	}
	if (errno == ENOENT)
		return 0;
	if (errno == ENOMEM)
		return -ENOMEM;
	(void)err_system(&e, -errno, "cannot read the directory");
	return file_problem(problems, l->dir, &e);
}

static bool layer_has(const struct layer *l, const char *name)
{
	return l->n && bsearch(name, l->v, (size_t)l->n, sizeof(*l->v), compare_name);
}

/* Is this the null device, which disables what it stands for? */
static bool is_null_device(const char *file)
{
	struct stat st;

	return stat(file, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

/* One file of the layers. -EINVAL only adds to the problems, so that one look finds all of them. */
static int load_file(struct policy *p, const char *file, struct problems *problems)
{
	struct err e = { 0 };
	int r;

	if (is_null_device(file))
		return 0;
	if (p->n_files >= POLICY_FILES_MAX) {
		(void)err_set(&e, -E2BIG, "found more than %d policy files, allowed: %d", POLICY_FILES_MAX,
			      POLICY_FILES_MAX);
		r = file_problem(problems, file, &e);
	} else {
		r = policy_add_file(p, file, problems);
	}
	return r == -EINVAL ? 0 : r;
}

static int load_layer(struct policy *p, const struct layer *layers, size_t which, struct problems *problems)
{
	const struct layer *l = &layers[which];
	int r = 0;

	for (int i = 0; i < l->n && r == 0; i++) {
		CLEANUP_FREE char *file = NULL;
		bool hidden = false;

		for (size_t above = which + 1; above < N_LAYERS; above++)
			hidden = hidden || layer_has(&layers[above], l->v[i]->d_name);
		if (hidden)
			continue;
		if (asprintf(&file, "%s/%s", l->dir, l->v[i]->d_name) < 0) {
			file = NULL;
			return -ENOMEM;
		}
		r = load_file(p, file, problems);
	}
	return r;
}

/* lstat: a dangling link is not an absent file. */
static int load_main(struct policy *p, const char *file, struct problems *problems)
{
	struct stat st;

	if (!file || (lstat(file, &st) < 0 && errno == ENOENT))
		return 0;
	return load_file(p, file, problems);
}

static int load_layers(struct policy *p, const struct layer *layers, const char *main_file, struct problems *problems)
{
	int r = load_layer(p, layers, LAYER_USR, problems);

	if (r == 0)
		r = load_main(p, main_file, problems);
	if (r == 0)
		r = load_layer(p, layers, LAYER_RUN, problems);
	return r < 0 ? r : load_layer(p, layers, LAYER_ETC, problems);
}

int policy_load(const struct policy_paths *paths, struct policy *ret, struct problems *problems)
{
	struct layer layers[N_LAYERS] = {
		[LAYER_USR] = { .dir = paths->usr_dir },
		[LAYER_RUN] = { .dir = paths->run_dir },
		[LAYER_ETC] = { .dir = paths->etc_dir },
	};
	CLEANUP_POLICY struct policy p = { 0 };
	size_t before = problems_total(problems);
	int r = policy_init(&p);

	for (size_t i = 0; i < N_LAYERS && r == 0; i++)
		r = layer_read(&layers[i], problems);
	if (r == 0)
		r = load_layers(&p, layers, paths->main_file, problems);
	for (size_t i = 0; i < N_LAYERS; i++)
		layer_done(&layers[i]);
	if (r == 0 && problems_total(problems) != before)
		r = -EINVAL;
	if (r < 0)
		return r;
	*ret = p;
	p = (struct policy){ 0 };
	return 0;
}

/* ---- saving ---- */

/* As a person would write it, as long as that says exactly the same. */
static struct json_object *value_to_json(const struct value_spec *spec, struct value v)
{
	CLEANUP_TEXT struct text t = { 0 };
	struct value back;

	if (v.kind == VALUE_STR)
		return json_object_new_string(v.s);
	if (spec->type == TYPE_BOOL)
		return json_object_new_boolean(v.u != 0);
	if (spec->type == TYPE_SIZE || spec->type == TYPE_CHOICE) {
		value_text(spec, v, &t);
		if (t.failed)
			return NULL;
		if (strspn(text_str(&t), "0123456789") < t.len && value_parse(spec, text_str(&t), &back, NULL) == 0 &&
		    value_equal(v, back))
			return json_object_new_string(text_str(&t));
	}
	return json_object_new_uint64(v.u);
}

static int put_member(struct json_object *object, const char *name, struct json_object *o)
{
	if (o && json_object_object_add(object, name, o) == 0)
		return 0;
	json_object_put(o);
	return -ENOMEM;
}

static int merge_knobs(struct json_object *root, const struct value *values, const bool *touched)
{
	struct json_object *object = NULL;
	int r = 0;

	if (!json_object_object_get_ex(root, "knobs", NULL))
		r = put_member(root, "knobs", json_object_new_object());
	json_object_object_get_ex(root, "knobs", &object);
	for (size_t i = 0; i < n_knobs && r == 0; i++) {
		if (!touched[i])
			continue;
		if (values[i].kind == VALUE_ABSENT)
			json_object_object_del(object, knobs[i].name);
		else
			r = put_member(object, knobs[i].name, value_to_json(&knobs[i].spec, values[i]));
	}
	return r;
}

static int check_values(const struct value *values, const bool *touched, struct err *e)
{
	for (size_t i = 0; i < n_knobs; i++) {
		if (touched[i] && values[i].kind != VALUE_ABSENT && value_check(&knobs[i].spec, values[i], e) < 0)
			return err_prefix(e, "%s", knobs[i].name);
	}
	return 0;
}

/* What is in the file, or an empty policy. */
static int load_saved(const char *file, struct json_object **ret, struct problems *problems, struct err *e)
{
	CLEANUP_JSON struct json_object *root = NULL;
	CLEANUP_POLICY struct policy p = { 0 };
	CLEANUP_FREE char *text = NULL;
	size_t before = problems_total(problems), len = 0;
	struct stat st;
	int r;

	if (lstat(file, &st) < 0 && errno == ENOENT) {
		root = json_object_new_object();
		r = root ? put_member(root, "version", json_object_new_int(POLICY_VERSION)) : -ENOMEM;
	} else {
		r = read_policy(file, &text, &len, e);
		if (r == 0)
			r = policy_init(&p);
		if (r == 0)
			r = policy_add_text(&p, file, text, len, problems);
		if (r == -EINVAL && problems_total(problems) != before)
			return err_set(e, r, "what is in it is not valid");
		if (r == 0)
			r = parse_tree(text, len, &root, e);
	}
	if (r == -ENOMEM)
		return err_set(e, r, "out of memory");
	if (r < 0)
		return r;
	*ret = root;
	root = NULL;
	return 0;
}

/*
 * mkdir -p of the directory a file is to lie in. The umask of a daemon must not hide a policy from those who check
 * it.
 */
static int make_directories(const char *file)
{
	CLEANUP_FREE char *path = strdup(file);

	if (!path)
		return -ENOMEM;
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) == 0) {
			if (chmod(path, 0755) < 0)
				return -errno;
		} else if (errno != EEXIST) {
			return -errno;
		}
		*slash = '/';
	}
	return 0;
}

static int write_tree(const char *file, struct json_object *root, struct err *e)
{
	CLEANUP_FREE char *target = realpath(file, NULL);
	CLEANUP_TEXT struct text t = { 0 };
	const char *s;
	int r;

	s = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
							 JSON_C_TO_STRING_NOSLASHESCAPE);
	text_add(&t, "%s\n", s ? s : "");
	if (!s || t.failed)
		return err_set(e, -ENOMEM, "out of memory");
	if (t.len > JSON_TEXT_MAX)
		return err_set(e, -EFBIG, "it would have %zu bytes, allowed: %u", t.len, JSON_TEXT_MAX);
	r = make_directories(file);
	if (r < 0)
		return err_system(e, r, "cannot make its directory");
	r = write_whole_file(target ? target : file, t.s, t.len, 0644);
	return r < 0 ? err_system(e, r, "cannot write it") : 0;
}

int policy_save_knobs(const char *file, const struct value *values, const bool *touched, struct problems *problems,
		      struct err *e)
{
	CLEANUP_JSON struct json_object *root = NULL;
	struct err own = { 0 };
	int r;

	if (!e)
		e = &own;
	r = check_values(values, touched, e);
	if (r < 0)
		return r;
	r = load_saved(file, &root, problems, e);
	if (r == 0 && merge_knobs(root, values, touched) < 0)
		r = err_set(e, -ENOMEM, "out of memory");
	if (r == 0)
		r = write_tree(file, root, e);
	return r < 0 ? err_prefix(e, "cannot save to '%s'", file) : 0;
}
