// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON and the exposition, made from states that the test fills in itself. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "render.h"

static struct stat_value *stat_of(struct stats *s, const char *key, enum smc_tech t)
{
	for (size_t i = 0; i < n_stats; i++)
		if (str_eq(stats_table[i].key, key))
			return &s->v[i][t];
	fail_msg("no counter '%s'", key);
	return NULL;
}

/* A state in which every family has something to say. */
static void fill(struct snapshot *s)
{
	struct value *row;

	*s = (struct snapshot){ .features = { .smc = true, .pnetid = true, .sysctl = true } };
	s->sysinfo.version = value_uint(2);
	s->sysinfo.release = value_uint(1);
	s->sysinfo.ism_v2 = value_uint(0);
	s->sysinfo.smcr_v2 = value_uint(1);
	s->knobs = calloc(n_knobs, sizeof(*s->knobs));
	for (size_t i = 0; i < n_knobs; i++) {
		knob_state_init(&s->knobs[i], &knobs[i]);
		s->knobs[i].supported = true;
		s->knobs[i].value = knobs[i].def;
		s->knobs[i].surface = "sysctl";
	}
	assert_int_equal(stats_init(&s->stats), 0);
	for (size_t i = 0; i < n_stats; i++)
		for (enum smc_tech t = 0; t < N_TECHS; t++) {
			s->stats.v[i][t].v = value_uint(1000 * i + t);
			for (size_t b = 0; b < N_BUCKETS; b++)
				s->stats.v[i][t].buckets[b] = b + t;
		}
	list_init(&s->fallbacks, &nouns[NOUN_FALLBACKS]);
	row = list_add(&s->fallbacks);
	row[FB_ROLE] = value_uint(1);
	row[FB_CODE] = value_uint(0x03030000);
	row[FB_NAME] = value_str("NOSMCDEV");
	row[FB_COUNT] = value_uint(7);
	s->fallback_totals = (struct fallback_totals){ .client = 1, .server = 70000 };
	list_init(&s->linkgroups, &nouns[NOUN_LINKGROUPS]);
	for (enum smc_tech t = 0; t < N_TECHS; t++) {
		row = list_add(&s->linkgroups);
		row[LGR_ID] = value_uint(0x100 + t);
		row[LGR_TECH] = value_uint(t);
		row[LGR_CONNS] = value_uint(10 + t);
		row[LGR_PEER_HOST] = value_str("evil\"\n\033[2J\xff");
	}
	list_init(&s->links, &nouns[NOUN_LINKS]);
	row = list_add(&s->links);
	row[LINK_STATE] = value_uint(3);
	list_init(&s->devices, &nouns[NOUN_DEVICES]);
	row = list_add(&s->devices);
	row[DEV_NAME] = value_str("rxe0");
	row[DEV_TECH] = value_uint(TECH_SMCR);
	row[DEV_PORT] = value_uint(1);
	row[DEV_STATE] = value_uint(1);
	row[DEV_PNETID] = value_str("NE\"T\\A\n");
	for (enum collector c = 0; c < N_COLLECTORS; c++)
		s->ok[c] = !collector_needs_tune(c); /* see test_tune.c */
}

/* ---- the exposition's invariants, which promtool does not look at ---- */

struct line {
	char name[128], labels[512];
	double value;
};

static bool parse_sample(const char *s, struct line *ret)
{
	const char *brace = strchr(s, '{'), *space, *end = NULL;
	bool quoted = false;

	ret->labels[0] = '\0';
	if (brace) {
		for (const char *p = brace; *p && !end; p++) {
			if (*p == '\\' && p[1])
				p++;
			else if (*p == '"')
				quoted = !quoted;
			else if (*p == '}' && !quoted)
				end = p;
		}
		if (!end)
			return false;
		snprintf(ret->labels, sizeof(ret->labels), "%.*s", (int)(end - brace - 1), brace + 1);
	}
	space = strchr(end ? end : s, ' ');
	if (!space)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)((brace ? brace : space) - s), s);
	ret->value = strtod(space + 1, NULL);
	return true;
}

static const char *family_of(const struct line *l, char *buf, size_t size)
{
	static const char *const suffixes[] = { "_bucket", "_sum", "_count" };
	size_t len = strlen(l->name);

	snprintf(buf, size, "%s", l->name);
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t n = strlen(suffixes[i]);

		/* smc_..._total has none of them; no family's own name ends so */
		if (len > n && str_eq(l->name + len - n, suffixes[i]))
			buf[len - n] = '\0';
	}
	return buf;
}

static void check_invariants(const char *text)
{
	char *copy = strdup(text), *save = NULL, current[128] = "", seen[64][128], samples[1024][640];
	size_t n_seen = 0, n_samples = 0;
	double last_bucket = 0;

	for (char *s = strtok_r(copy, "\n", &save); s; s = strtok_r(NULL, "\n", &save)) {
		struct line l = { 0 };
		char family[128];

		if (strncmp(s, "# HELP ", 7) == 0) {
			snprintf(current, sizeof(current), "%.*s", (int)strcspn(s + 7, " "), s + 7);
			for (size_t i = 0; i < n_seen; i++)
				assert_string_not_equal(seen[i], current); /* families are whole */
			assert_true(n_seen < ARRAY_SIZE(seen));
			snprintf(seen[n_seen++], sizeof(seen[0]), "%s", current);
			continue;
		}
		if (s[0] == '#')
			continue;
		if (!parse_sample(s, &l))
			fail_msg("no sample: %s", s);
		assert_string_equal(family_of(&l, family, sizeof(family)), current);
		assert_true(n_samples < ARRAY_SIZE(samples));
		snprintf(samples[n_samples], sizeof(samples[0]), "%.120s{%.500s}", l.name, l.labels);
		for (size_t i = 0; i < n_samples; i++)
			assert_string_not_equal(samples[i], samples[n_samples]); /* no duplicates */
		n_samples++;
		if (strstr(l.name, "_bucket")) {
			if (strstr(l.labels, "le=\"8192.0\""))
				last_bucket = 0;
			assert_true(l.value >= last_bucket); /* buckets rise */
			last_bucket = l.value;
		} else if (strstr(l.name, "_count")) {
			assert_true(l.value == last_bucket); /* _count is the +Inf bucket */
		}
	}
	assert_true(n_samples > 100);
	free(copy);
}

static void test_exposition(void **state)
{
	const struct policy_metrics policy = {
		.last_ok = true, .last_ok_timestamp = 1.5, .generation = 2, .applies_ok = 2
	};
	CLEANUP_SNAPSHOT struct snapshot s = { 0 };
	CLEANUP_TEXT struct text t = { 0 };

	(void)state;
	fill(&s);
	render_prometheus(&s, &policy, &t);
	check_invariants(text_str(&t));
	assert_non_null(strstr(text_str(&t), "smc_transmit_bytes_total{tech=\"smcr\"} 1\n"));
	assert_non_null(strstr(text_str(&t), "smc_fallbacks_total{role=\"server\"} 70000\n"));
	assert_non_null(strstr(text_str(&t), "smc_fallback_reasons_total{role=\"server\",code=\"0x03030000\","
					     "reason=\"NOSMCDEV\"} 7\n"));
	assert_non_null(strstr(text_str(&t), "smc_link_groups{tech=\"smcd\"} 1\n"));
	assert_non_null(strstr(text_str(&t), "smc_connections{tech=\"smcr\"} 11\n"));
	assert_non_null(strstr(text_str(&t), "smc_links{state=\"active\"} 1\n"));
	assert_non_null(strstr(text_str(&t), "smc_knob_wmem_bytes 65536\n"));
	assert_non_null(strstr(text_str(&t), "smc_knob_smcr_testlink_time_seconds 30\n"));
	assert_non_null(strstr(text_str(&t), "pnet_id=\"NE\\\"T"));
	assert_null(strstr(text_str(&t), "evil")); /* what a peer chose is no label */
	assert_null(strchr(text_str(&t), '\033'));
	/* a receive histogram has a true sum, a send histogram has none */
	assert_non_null(strstr(text_str(&t), "smc_receive_size_bytes_sum{tech=\"smcd\"} 1000\n"));
	assert_null(strstr(text_str(&t), "smc_transmit_request_size_bytes_sum"));
}

static void test_exposition_without_module(void **state)
{
	CLEANUP_SNAPSHOT struct snapshot s = { 0 };
	CLEANUP_TEXT struct text t = { 0 };

	(void)state;
	render_prometheus(&s, NULL, &t);
	assert_non_null(strstr(text_str(&t), "smc_up 0\n"));
	assert_null(strstr(text_str(&t), "smc_transmit")); /* nothing is known: no zeros */
}

static void test_failed_collector(void **state)
{
	CLEANUP_SNAPSHOT struct snapshot s = { 0 };
	CLEANUP_TEXT struct text t = { 0 };

	(void)state;
	fill(&s);
	s.ok[COLLECT_STATS] = false;
	render_prometheus(&s, NULL, &t);
	assert_non_null(strstr(text_str(&t), "smcd_scrape_success{collector=\"stats\"} 0\n"));
	assert_null(strstr(text_str(&t), "smc_transmit_bytes_total"));
	assert_non_null(strstr(text_str(&t), "smc_fallbacks_total"));
}

/* ---- JSON ---- */

static void test_knobs_json(void **state)
{
	const char *const only[] = { "wmem", "smcr_buf_type", "hs_ctrl", NULL };
	CLEANUP_SNAPSHOT struct snapshot s = { 0 };
	struct json_object *array, *o;

	(void)state;
	fill(&s);
	s.knobs[knob_index(knob_find("wmem"))].value = value_uint(100000);
	s.knobs[knob_index(knob_find("hs_ctrl"))] = (struct knob_state){ .def = value_str("") };
	array = render_knobs(s.knobs, NULL, only);
	assert_int_equal(json_object_array_length(array), 3);
	o = json_object_array_get_idx(array, 0);
	assert_string_equal(json_object_get_string(json_object_object_get(o, "name")), "wmem");
	assert_int_equal(json_object_get_uint64(json_object_object_get(o, "value")), 100000);
	assert_int_equal(json_object_get_uint64(json_object_object_get(o, "expected_smcd")), 131072);
	assert_string_equal(json_object_get_string(json_object_object_get(o, "unit")), "bytes");
	o = json_object_array_get_idx(array, 1);
	assert_string_equal(json_object_get_string(json_object_object_get(o, "value")), "physical");
	assert_int_equal(json_object_array_length(json_object_object_get(o, "choices")), 3);
	assert_null(json_object_object_get(o, "expected_smcd"));
	/* absent: null, neither zero nor a missing member */
	o = json_object_array_get_idx(array, 2);
	assert_false(json_object_get_boolean(json_object_object_get(o, "supported")));
	assert_true(json_object_object_get_ex(o, "value", NULL));
	assert_null(json_object_object_get(o, "value"));
	json_object_put(array);
}

static void test_stats_json(void **state)
{
	CLEANUP_SNAPSHOT struct snapshot s = { 0 };
	struct json_object *array, *smcr, *global, *buckets;

	(void)state;
	fill(&s);
	stat_of(&s.stats, "tx_bytes", TECH_SMCR)->v = value_uint(UINT64_MAX);
	stat_of(&s.stats, "send_buffer_used", TECH_SMCR)->v = (struct value){ 0 };
	array = render_stats(&s.stats);
	assert_int_equal(json_object_array_length(array), 3);
	smcr = json_object_array_get_idx(array, 1);
	global = json_object_array_get_idx(array, 2);
	assert_string_equal(json_object_get_string(json_object_object_get(smcr, "tech")), "smcr");
	assert_true(json_object_get_uint64(json_object_object_get(smcr, "tx_bytes")) == UINT64_MAX);
	assert_null(json_object_object_get(smcr, "send_buffer_used"));
	buckets = json_object_object_get(smcr, "tx_size");
	assert_int_equal(json_object_array_length(buckets), N_BUCKETS);
	assert_int_equal(json_object_get_uint64(json_object_object_get(json_object_array_get_idx(buckets, 0), "le")),
			 8192);
	assert_null(json_object_object_get(json_object_array_get_idx(buckets, N_BUCKETS - 1), "le"));
	assert_true(json_object_object_get_ex(global, "client_handshake_errors", NULL));
	assert_false(json_object_object_get_ex(global, "tx_bytes", NULL));
	json_object_put(array);
}

static void test_list_json(void **state)
{
	CLEANUP_SNAPSHOT struct snapshot s = { 0 };
	struct json_object *array, *o;

	(void)state;
	fill(&s);
	array = render_list(&s.linkgroups);
	o = json_object_array_get_idx(array, 1);
	assert_string_equal(json_object_get_string(json_object_object_get(o, "id")), "0x00000101");
	assert_string_equal(json_object_get_string(json_object_object_get(o, "tech")), "smcr");
	assert_true(json_object_object_get_ex(o, "role", NULL));
	assert_null(json_object_object_get(o, "role"));
	assert_string_equal(json_object_get_string(json_object_object_get(o, "peer_host")),
			    "evil\"\n\033[2J\xef\xbf\xbd");
	json_object_put(array);
}

static void test_reason_json(void **state)
{
	struct json_object *o = render_reason(NULL, 0x1234);

	(void)state;
	assert_string_equal(json_object_get_string(json_object_object_get(o, "code")), "0x00001234");
	assert_null(json_object_object_get(o, "name"));
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exposition),       cmocka_unit_test(test_exposition_without_module),
		cmocka_unit_test(test_failed_collector), cmocka_unit_test(test_knobs_json),
		cmocka_unit_test(test_stats_json),       cmocka_unit_test(test_list_json),
		cmocka_unit_test(test_reason_json),
	};

	return cmocka_run_group_tests_name("render", tests, NULL, NULL);
}
