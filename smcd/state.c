/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state.c - see state.h. */
#include <json-c/json.h>

#include "state.h"
#include "varlink.h"

#define STATE_VERSION 1

/* ---- values ---- */

struct value held_value(const struct held *h)
{
	switch (h->kind) {
	case VALUE_UINT:
		return value_uint(h->u);
	case VALUE_STR:
		return value_str(h->s);
	default:
		return (struct value){ 0 };
	}
}

struct held held_copy(struct value v)
{
	struct held h = { .kind = v.kind };

	if (v.kind == VALUE_UINT)
		h.u = v.u;
	else if (v.kind == VALUE_STR)
		snprintf(h.s, sizeof(h.s), "%s", v.s);
	return h;
}

/* ---- namespaces ---- */

static int netns_init(struct state_netns *ns, const char *name, uint64_t id)
{
	struct knob_record *knobs_new = calloc(n_knobs, sizeof(*knobs_new));

	if (!knobs_new)
		return -ENOMEM;
	*ns = (struct state_netns){ .id = id, .knobs = knobs_new };
	snprintf(ns->name, sizeof(ns->name), "%s", name);
	return 0;
}

static struct state_netns *netns_append(struct state *s, const char *name, uint64_t id)
{
	struct state_netns *grown = reallocarray(s->netns, s->n_netns + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	s->netns = grown;
	if (netns_init(&grown[s->n_netns], name, id) < 0)
		return NULL;
	return &grown[s->n_netns++];
}

int state_init(struct state *s)
{
	struct state fresh = { 0 };

	if (!netns_append(&fresh, "", 0)) {
		state_done(&fresh);
		return -ENOMEM;
	}
	*s = fresh;
	return 0;
}

void state_done(struct state *s)
{
	for (size_t i = 0; i < s->n_netns; i++)
		free(s->netns[i].knobs);
	free(s->netns);
	free(s->pnet);
	free(s->ueid);
	*s = (struct state){ 0 };
}

int state_copy(const struct state *from, struct state *ret)
{
	CLEANUP_STATE struct state s = { .seid_before = from->seid_before, .seid_made = from->seid_made };

	for (size_t i = 0; i < from->n_netns; i++) {
		struct state_netns *ns = netns_append(&s, from->netns[i].name, from->netns[i].id);

		if (!ns)
			return -ENOMEM;
		memcpy(ns->knobs, from->netns[i].knobs, n_knobs * sizeof(*ns->knobs));
	}
	for (size_t i = 0; i < from->n_pnet; i++)
		if (state_add_pnet(&s, &from->pnet[i]) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < from->n_ueid; i++)
		if (state_add_ueid(&s, from->ueid[i]) < 0)
			return -ENOMEM;
	*ret = s;
	s = (struct state){ 0 };
	return 0;
}

struct state_netns *state_find(const struct state *s, const char *netns)
{
	for (size_t i = 0; i < s->n_netns; i++)
		if (str_eq(s->netns[i].name, netns))
			return &s->netns[i];
	return NULL;
}

struct state_netns *state_get(struct state *s, const char *netns, uint64_t id)
{
	struct state_netns *ns = state_find(s, netns);

	if (!ns) {
		if (s->n_netns > STATE_NETNS_MAX)
			state_drop(s, &s->netns[1]);
		return netns_append(s, netns, id);
	}
	if (id && ns->id && ns->id != id)
		memset(ns->knobs, 0, n_knobs * sizeof(*ns->knobs));
	if (id)
		ns->id = id;
	return ns;
}

void state_drop(struct state *s, struct state_netns *ns)
{
	size_t i = (size_t)(ns - s->netns);

	free(ns->knobs);
	memmove(ns, ns + 1, (s->n_netns - i - 1) * sizeof(*ns));
	s->n_netns--;
}

/* ---- what smcd made ---- */

int pnet_entry_compare(const void *pa, const void *pb)
{
	const struct pnet_entry *a = pa, *b = pb;
	int r = strcmp(a->id, b->id) ?: strcmp(a->interface, b->interface) ?: strcmp(a->rdma, b->rdma);

	return r ?: (int)a->port - (int)b->port;
}

int state_add_pnet(struct state *s, const struct pnet_entry *p)
{
	size_t room = s->pnet_room;
	struct pnet_entry *grown;

	if (s->n_pnet == room) {
		room = room ? 2 * room : 16;
		grown = reallocarray(s->pnet, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->pnet = grown;
		s->pnet_room = room;
	}
	s->pnet[s->n_pnet++] = *p;
	return 0;
}

void state_sort(struct state *s)
{
	size_t kept = 0;

	if (!s->n_pnet)
		return;
	qsort(s->pnet, s->n_pnet, sizeof(*s->pnet), pnet_entry_compare);
	for (size_t i = 0; i < s->n_pnet; i++)
		if (i == 0 || pnet_entry_compare(&s->pnet[i], &s->pnet[kept - 1]) != 0)
			s->pnet[kept++] = s->pnet[i];
	s->n_pnet = kept;
}

static bool pnet_matches(const struct pnet_entry *match, const struct pnet_entry *p)
{
	bool any_target = !match->interface[0] && !match->rdma[0];

	if (match->id[0] && !str_eq(match->id, p->id))
		return false;
	if (any_target)
		return true;
	if (p->interface[0])
		return str_eq(match->interface, p->interface);
	return str_eq(match->rdma, p->rdma) && (!match->port || match->port == p->port);
}

void state_drop_pnet(struct state *s, const struct pnet_entry *match)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_pnet; i++)
		if (!pnet_matches(match, &s->pnet[i]))
			s->pnet[kept++] = s->pnet[i];
	s->n_pnet = kept;
}

bool state_has_ueid(const struct state *s, const char *eid)
{
	for (size_t i = 0; i < s->n_ueid; i++)
		if (str_eq(s->ueid[i], eid))
			return true;
	return false;
}

int state_add_ueid(struct state *s, const char *eid)
{
	char(*grown)[UEID_LEN_MAX + 1];

	if (state_has_ueid(s, eid))
		return 0;
	grown = reallocarray(s->ueid, s->n_ueid + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->ueid = grown;
	snprintf(grown[s->n_ueid++], sizeof(*grown), "%s", eid);
	return 0;
}

void state_drop_ueid(struct state *s, const char *eid)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_ueid; i++)
		if (eid && !str_eq(eid, s->ueid[i]))
			memmove(s->ueid[kept++], s->ueid[i], sizeof(*s->ueid));
	s->n_ueid = kept;
}

/* ---- writing ---- */

static void add(struct json_object *o, const char *key, struct json_object *v)
{
	json_object_object_add(o, key, v);
}

static void add_held(struct json_object *o, const char *key, const struct held *h)
{
	if (h->kind == VALUE_UINT)
		add(o, key, json_object_new_uint64(h->u));
	else if (h->kind == VALUE_STR)
		add(o, key, json_object_new_string(h->s));
}

static struct json_object *json_of_record(const struct knob_record *r)
{
	struct json_object *o;

	if (r->before.kind == VALUE_ABSENT && r->made.kind == VALUE_ABSENT && r->override.kind == VALUE_ABSENT)
		return NULL;
	o = json_object_new_object();
	add_held(o, "before", &r->before);
	add_held(o, "made", &r->made);
	add_held(o, "override", &r->override);
	if (r->saved)
		add(o, "saved", json_object_new_boolean(true));
	return o;
}

static struct json_object *json_of_netns(const struct state_netns *ns)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_object();

	if (ns->id)
		add(o, "id", json_object_new_uint64(ns->id));
	for (size_t i = 0; i < n_knobs; i++) {
		struct json_object *r = json_of_record(&ns->knobs[i]);

		if (r)
			add(list, knobs[i].name, r);
	}
	add(o, "knobs", list);
	return o;
}

static struct json_object *json_of_pnet(const struct pnet_entry *p)
{
	struct json_object *o = json_object_new_object();

	add(o, "id", json_object_new_string(p->id));
	if (p->interface[0])
		add(o, "interface", json_object_new_string(p->interface));
	if (p->rdma[0])
		add(o, "rdma", json_object_new_string(p->rdma));
	if (p->port)
		add(o, "port", json_object_new_int(p->port));
	return o;
}

int state_text(const struct state *s, const char *boot_id, struct text *ret)
{
	struct json_object *o = json_object_new_object(), *netns = json_object_new_object(),
			   *seid = json_object_new_object();
	struct json_object *pnet = json_object_new_array(), *ueid = json_object_new_array();

	for (size_t i = 0; i < s->n_netns; i++)
		add(netns, s->netns[i].name, json_of_netns(&s->netns[i]));
	for (size_t i = 0; i < s->n_pnet; i++)
		json_object_array_add(pnet, json_of_pnet(&s->pnet[i]));
	for (size_t i = 0; i < s->n_ueid; i++)
		json_object_array_add(ueid, json_object_new_string(s->ueid[i]));
	add_held(seid, "before", &s->seid_before);
	add_held(seid, "made", &s->seid_made);

	add(o, "version", json_object_new_int(STATE_VERSION));
	add(o, "boot_id", json_object_new_string(boot_id));
	add(o, "namespaces", netns);
	add(o, "pnet", pnet);
	add(o, "ueid", ueid);
	add(o, "seid", seid);
	text_add(ret, "%s\n",
		 json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
							   JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return ret->failed ? -ENOMEM : 0;
}

/* ---- reading: smcd wrote it, but the disk is not trusted ---- */

static int damaged(struct err *e, const char *where)
{
	char shown[4 * SHOWN_MAX + 4];

	return err_set(e, -EINVAL, "'%s' has a value that smcd does not write", safe_str(shown, sizeof(shown), where));
}

/* spec: what the value is for; one that is not allowed any more is damage too. */
static int take_held(struct json_object *v, const struct value_spec *spec, struct held *ret)
{
	struct value value;

	if (json_object_is_type(v, json_type_int) && json_object_get_int64(v) >= 0)
		value = value_uint(json_object_get_uint64(v));
	else if (json_object_is_type(v, json_type_string) && json_object_get_string_len(v) <= KNOB_STRING_MAX)
		value = value_str(json_object_get_string(v));
	else
		return -EINVAL;
	/* What was there before may be outside the range that smcd itself would set: kernels take more. */
	if ((spec->type == TYPE_STRING) != (value.kind == VALUE_STR))
		return -EINVAL;
	*ret = held_copy(value);
	return 0;
}

static int take_record(struct json_object *o, const struct knob *knob, struct knob_record *ret)
{
	struct knob_record rec = { 0 };

	if (!json_object_is_type(o, json_type_object))
		return -EINVAL;
	json_object_object_foreach(o, key, v)
	{
		int r = -EINVAL;

		if (str_eq(key, "before"))
			r = take_held(v, &knob->spec, &rec.before);
		else if (str_eq(key, "made"))
			r = take_held(v, &knob->spec, &rec.made);
		else if (str_eq(key, "override"))
			r = take_held(v, &knob->spec, &rec.override);
		else if (str_eq(key, "saved") && json_object_is_type(v, json_type_boolean))
			r = (rec.saved = json_object_get_boolean(v), 0);
		if (r < 0)
			return r;
	}
	if (rec.override.kind != VALUE_ABSENT && value_check(&knob->spec, held_value(&rec.override), NULL) < 0)
		return -EINVAL;
	*ret = rec;
	return 0;
}

static int take_netns(struct json_object *o, const char *name, struct state *s, struct err *e)
{
	struct json_object *id = NULL, *list = NULL;
	struct state_netns *ns;

	if (name[0] && netns_name_check(name, NULL) < 0)
		return damaged(e, name);
	if (!json_object_is_type(o, json_type_object) || !json_object_object_get_ex(o, "knobs", &list) ||
	    !json_object_is_type(list, json_type_object))
		return damaged(e, name);
	if (json_object_object_get_ex(o, "id", &id) && !json_object_is_type(id, json_type_int))
		return damaged(e, "id");
	ns = state_get(s, name, id ? json_object_get_uint64(id) : 0);
	if (!ns)
		return err_set(e, -ENOMEM, "out of memory");
	json_object_object_foreach(list, key, v)
	{
		const struct knob *knob = knob_find(key);

		if (!knob || take_record(v, knob, &ns->knobs[knob_index(knob)]) < 0)
			return damaged(e, key);
	}
	return 0;
}

static int take_name(struct json_object *o, const char *key, char *ret, size_t size)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	if (!json_object_is_type(v, json_type_string) || (size_t)json_object_get_string_len(v) >= size)
		return -EINVAL;
	snprintf(ret, size, "%s", json_object_get_string(v));
	return 0;
}

static int take_pnet(struct json_object *o, struct state *s, struct err *e)
{
	struct pnet_entry p = { 0 };
	struct json_object *port = NULL;

	if (!json_object_is_type(o, json_type_object) || take_name(o, "id", p.id, sizeof(p.id)) < 0 ||
	    take_name(o, "interface", p.interface, sizeof(p.interface)) < 0 ||
	    take_name(o, "rdma", p.rdma, sizeof(p.rdma)) < 0)
		return damaged(e, "pnet");
	if (json_object_object_get_ex(o, "port", &port)) {
		if (json_object_get_int64(port) < 1 || json_object_get_int64(port) > UINT8_MAX)
			return damaged(e, "port");
		p.port = (uint8_t)json_object_get_int64(port);
	}
	if (pnet_entry_check(&p, NULL) < 0)
		return damaged(e, "pnet");
	return state_add_pnet(s, &p) < 0 ? err_set(e, -ENOMEM, "out of memory") : 0;
}

static int take_ueid(struct json_object *v, struct state *s, struct err *e)
{
	const char *eid = json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";

	if (ueid_check(eid, NULL) < 0)
		return damaged(e, "ueid");
	return state_add_ueid(s, eid) < 0 ? err_set(e, -ENOMEM, "out of memory") : 0;
}

static int take_array(struct json_object *a, const char *name, struct state *s, struct err *e,
		      int (*take)(struct json_object *v, struct state *s, struct err *e))
{
	if (!json_object_is_type(a, json_type_array))
		return damaged(e, name);
	for (size_t i = 0; i < json_object_array_length(a); i++) {
		int r = take(json_object_array_get_idx(a, i), s, e);

		if (r < 0)
			return r;
	}
	return 0;
}

static int take_seid(struct json_object *o, struct state *s, struct err *e)
{
	static const struct value_spec spec = { .type = TYPE_BOOL, .max = 1 };
	struct json_object *v;

	if (!json_object_is_type(o, json_type_object))
		return damaged(e, "seid");
	if (json_object_object_get_ex(o, "before", &v) && take_held(v, &spec, &s->seid_before) < 0)
		return damaged(e, "seid");
	if (json_object_object_get_ex(o, "made", &v) && take_held(v, &spec, &s->seid_made) < 0)
		return damaged(e, "seid");
	return 0;
}

static int take_namespaces(struct json_object *o, struct state *s, struct err *e)
{
	if (!json_object_is_type(o, json_type_object))
		return damaged(e, "namespaces");
	json_object_object_foreach(o, key, v)
	{
		int r = take_netns(v, key, s, e);

		if (r < 0)
			return r;
	}
	return 0;
}

static int take_document(struct json_object *o, struct state *s, struct err *e)
{
	json_object_object_foreach(o, key, v)
	{
		int r = 0;

		if (str_eq(key, "version"))
			r = json_object_is_type(v, json_type_int) && json_object_get_int64(v) == STATE_VERSION
				    ? 0
				    : damaged(e, key);
		else if (str_eq(key, "namespaces"))
			r = take_namespaces(v, s, e);
		else if (str_eq(key, "pnet"))
			r = take_array(v, key, s, e, take_pnet);
		else if (str_eq(key, "ueid"))
			r = take_array(v, key, s, e, take_ueid);
		else if (str_eq(key, "seid"))
			r = take_seid(v, s, e);
		else if (!str_eq(key, "boot_id"))
			r = damaged(e, key);
		if (r < 0)
			return r;
	}
	return 0;
}

int state_parse(const char *text, size_t len, const char *boot_id, struct state *ret, struct err *e)
{
	CLEANUP_STATE struct state s = { 0 };
	struct json_object *o = NULL, *boot = NULL;
	int r;

	r = varlink_parse(text, len, &o);
	if (r < 0)
		return err_set(e, r == -ENOMEM ? r : -EINVAL, "%s",
			       r == -ENOMEM ? "out of memory" : "it is no valid JSON");
	r = state_init(&s);
	if (r < 0)
		err_set(e, r, "out of memory");
	else if (!json_object_object_get_ex(o, "boot_id", &boot) || !json_object_is_type(boot, json_type_string))
		r = damaged(e, "boot_id");
	else if (!str_eq(json_object_get_string(boot), boot_id))
		r = err_set(e, -ESTALE, "it is of another boot");
	else
		r = take_document(o, &s, e);
	json_object_put(o);
	if (r < 0)
		return r;
	state_sort(&s);
	*ret = s;
	s = (struct state){ 0 };
	return 0;
}
