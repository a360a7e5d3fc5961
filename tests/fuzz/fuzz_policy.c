// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Policies of any text: what is accepted holds what the kernel may be given, with places inside of the text, and laid
 * over itself it stays the same; what is refused has problems that begin with the file's name.
 */
#include "policy.h"

#define CHECK(cond)                                                                                                    \
	do {                                                                                                           \
		if (!(cond)) {                                                                                         \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);                             \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

#define NAME "fuzz.json"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_origin(const struct policy *p, const struct origin *o, size_t size)
{
	CHECK(o->file == p->files[0] && strcmp(o->file, NAME) == 0);
	CHECK(o->at.line >= 1 && o->at.line <= size + 1 && o->at.column >= 1 && o->at.column <= size + 1);
}

static void check_knobs(const struct policy *p, size_t size)
{
	for (size_t i = 0; i < n_knobs; i++) {
		struct err e = { 0 };

		if (p->knobs[i].v.kind == VALUE_ABSENT)
			continue;
		CHECK(value_check(&knobs[i].spec, p->knobs[i].v, &e) == 0);
		check_origin(p, &p->knobs[i].from, size);
	}
	CHECK(p->seid.v.kind == VALUE_ABSENT || (p->seid.v.kind == VALUE_UINT && p->seid.v.u <= 1));
}

static bool same_target(const struct pnet_entry *a, const struct pnet_entry *b)
{
	return strcmp(a->interface, b->interface) == 0 && strcmp(a->rdma, b->rdma) == 0;
}

static void check_pnet(const struct policy *p, size_t size)
{
	for (size_t i = 0; i < p->n_pnet; i++) {
		struct pnet_entry e = p->pnet[i].entry;

		CHECK(!e.interface[0] != !e.rdma[0]);
		CHECK(pnet_entry_check(&e, NULL) == 0);
		CHECK(memcmp(&e, &p->pnet[i].entry, sizeof(e)) == 0); /* is in upper case already */
		check_origin(p, &p->pnet[i].from, size);
		for (size_t j = 0; j < i; j++)
			CHECK(!same_target(&e, &p->pnet[j].entry));
	}
}

static void check_ueid(const struct policy *p, size_t size)
{
	CHECK(p->n_ueid <= UEID_COUNT_MAX);
	for (size_t i = 0; i < p->n_ueid; i++) {
		CHECK(ueid_check(p->ueid[i].eid, NULL) == 0);
		check_origin(p, &p->ueid[i].from, size);
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(p->ueid[i].eid, p->ueid[j].eid) != 0);
	}
}

static void check_problems(const struct problems *problems)
{
	CHECK(problems->n >= 1 && problems->n <= POLICY_PROBLEMS_MAX);
	CHECK(problems->n_more == 0 || problems->n == POLICY_PROBLEMS_MAX);
	for (size_t i = 0; i < problems->n; i++) {
		unsigned int line = 0, column = 0;
		int end = 0;

		CHECK(sscanf(problems->text[i], NAME ":%u:%u: %n", &line, &column, &end) == 2);
		CHECK(line >= 1 && column >= 1 && end > 0 && problems->text[i][end]);
		CHECK(strlen(problems->text[i]) < 2048);
		for (const unsigned char *s = (const unsigned char *)problems->text[i]; *s; s++)
			CHECK(*s >= 0x20 && *s != 0x7f);
	}
}

static void check_accepted(struct policy *p, const char *text, size_t size)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	size_t n_pnet = p->n_pnet, n_ueid = p->n_ueid;

	check_knobs(p, size);
	check_pnet(p, size);
	check_ueid(p, size);
	CHECK(policy_add_text(p, NAME, text, size, &problems) == 0);
	CHECK(problems.n == 0 && p->n_pnet == n_pnet && p->n_ueid == n_ueid && p->n_files == 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 };
	const char *text = (const char *)data;
	int r;

	if (size > 65536)
		return 0;
	CHECK(policy_init(&p) == 0);
	r = policy_add_text(&p, NAME, text, size, &problems);
	if (r == 0) {
		CHECK(problems.n == 0 && problems.n_more == 0 && p.n_files == 1);
		check_accepted(&p, text, size);
	} else {
		CHECK(r == -EINVAL);
		check_problems(&problems);
	}
	return 0;
}
