// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * state.json of any text, which is read at smcd's start: refused, or what is read is within its limits, can be written
 * down, and reads again as the same.
 */
#include "state.h"

#define CHECK(cond)                                                                                                    \
	do {                                                                                                           \
		if (!(cond)) {                                                                                         \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);                             \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

#define BOOT "boot"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_held(const struct held *h, const struct value_spec *spec)
{
	CHECK(h->kind == VALUE_ABSENT || (h->kind == VALUE_STR) == (spec->type == TYPE_STRING));
	CHECK(h->kind != VALUE_STR || strnlen(h->s, sizeof(h->s)) < sizeof(h->s));
}

static void check_netns(const struct state_netns *ns)
{
	CHECK(!ns->name[0] || netns_name_check(ns->name, NULL) == 0);
	for (size_t i = 0; i < n_knobs; i++) {
		const struct knob_record *rec = &ns->knobs[i];

		check_held(&rec->before, &knobs[i].spec);
		check_held(&rec->made, &knobs[i].spec);
		CHECK(rec->override.kind == VALUE_ABSENT ||
		      value_check(&knobs[i].spec, held_value(&rec->override), NULL) == 0);
	}
}

static void check_read(const struct state *s)
{
	CHECK(s->n_netns >= 1 && s->n_netns <= STATE_NETNS_MAX + 1 && !s->netns[0].name[0]);
	for (size_t i = 0; i < s->n_netns; i++) {
		check_netns(&s->netns[i]);
		CHECK(state_find(s, s->netns[i].name) == &s->netns[i]);
	}
	for (size_t i = 0; i < s->n_pnet; i++) {
		struct pnet_entry p = s->pnet[i];

		CHECK(pnet_entry_check(&p, NULL) == 0);
		CHECK(i == 0 || pnet_entry_compare(&s->pnet[i - 1], &s->pnet[i]) < 0);
	}
	for (size_t i = 0; i < s->n_ueid; i++)
		CHECK(ueid_check(s->ueid[i], NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_STATE struct state s = { 0 }, again = { 0 };
	CLEANUP_TEXT struct text t = { 0 }, t_again = { 0 };
	CLEANUP_FREE char *text = NULL;
	struct err e = { 0 };
	int r;

	if (size > 65536)
		return 0;
	text = malloc(size + 1);
	CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	r = state_parse(text, size, BOOT, &s, &e);
	CHECK(r == 0 || ((r == -EINVAL || r == -ESTALE) && e.text[0]));
	if (r < 0)
		return 0;
	check_read(&s);
	CHECK(state_text(&s, BOOT, &t) == 0);
	CHECK(state_parse(text_str(&t), t.len, BOOT, &again, &e) == 0);
	CHECK(state_text(&again, BOOT, &t_again) == 0);
	CHECK(str_eq(text_str(&t), text_str(&t_again)));
	return 0;
}
