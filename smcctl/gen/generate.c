// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * generate.c - writes to stdout what is made from the tables: manual pages (a template's prose with tables in it), the
 * bash completion and the varlink interface. `make generate` checks the results in; tests/e2e/drift.sh compares them.
 */
#include "generate.h"

#define TEMPLATE_MAX (1u << 20)

/* A template's line @NAME@ becomes what the function writes. */
static const struct {
	const char *name;
	void (*add)(struct text *t);
} parts[] = {
	{ "COMMANDS", man_commands },
	{ "FILTERS", man_filters },
	{ "OPTIONS", man_options },
	{ "EXIT-CODES", man_exit_codes },
	{ "KNOBS", man_knobs },
	{ "FIELDS", man_fields },
	{ "EVENTS", man_events },
	{ "COUNTERS", man_counters },
	{ "REASONS", man_reasons },
	{ "METHODS", man_methods },
	{ "METRICS", man_metrics },
	{ "POLICY-KNOBS", man_policy_knobs },
	{ "SMCD-OPTIONS", man_smcd_options },
};

static bool add_part(const char *line, size_t len, struct text *t)
{
	if (len < 3 || line[0] != '@' || line[len - 1] != '@')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strlen(parts[i].name) == len - 2 && strncmp(parts[i].name, line + 1, len - 2) == 0) {
			parts[i].add(t);
			return true;
		}
	return false;
}

/* The rest of a line's text, with @VERSION@ filled in. -EINVAL: another @NAME@. */
static int add_line(const char *line, size_t len, struct text *t)
{
	static const char version[] = "@VERSION@";
	const char *end = line + len;

	while (line < end) {
		const char *at = memchr(line, '@', (size_t)(end - line));

		if (!at) {
			text_add_mem(t, line, (size_t)(end - line));
			break;
		}
		if ((size_t)(end - at) < strlen(version) || strncmp(at, version, strlen(version)) != 0)
			return -EINVAL;
		text_add_mem(t, line, (size_t)(at - line));
		text_add(t, "%s", SMCD_VERSION);
		line = at + strlen(version);
	}
	text_add(t, "\n");
	return 0;
}

static int man_page(const char *template, struct text *t)
{
	CLEANUP_FREE char *s = NULL;
	size_t len;
	int r = read_whole_file(template, TEMPLATE_MAX, &s, &len);

	if (r < 0) {
		fprintf(stderr, "generate: read '%s': %s\n", template, strerror(-r));
		return r;
	}
	text_add(t, ".\\\" Generated from %s and the tables by make generate: edit those.\n",
		 strrchr(template, '/') ? strrchr(template, '/') + 1 : template);
	for (char *line = s; *line;) {
		size_t n = strcspn(line, "\n");

		if (!add_part(line, n, t) && add_line(line, n, t) < 0) {
			fprintf(stderr, "generate: '%s': unknown part in line '%.*s'\n", template, (int)n, line);
			return -EINVAL;
		}
		line += n + (line[n] == '\n');
	}
	return 0;
}

static const struct {
	const char *what;
	bool template;
	void (*add)(struct text *t); /* NULL: a manual page */
} outputs[] = {
	{ "man-smcctl", true, NULL },       { "man-service", true, NULL },          { "man-policy", true, NULL },
	{ "bash", false, bash_completion }, { "varlink", false, methods_describe },
};

static int usage(void)
{
	fprintf(stderr, "usage: generate");
	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++)
		fprintf(stderr, "%s %s%s", i ? " |" : "", outputs[i].what, outputs[i].template ? " TEMPLATE" : "");
	fprintf(stderr, "\n");
	return CTL_USAGE;
}

int main(int argc, char **argv)
{
	CLEANUP_TEXT struct text t = { 0 };

	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(outputs); i++) {
		if (!str_eq(outputs[i].what, argv[1]))
			continue;
		if (argc != (outputs[i].template ? 3 : 2))
			return usage();
		if (outputs[i].template ? man_page(argv[2], &t) < 0 : (outputs[i].add(&t), false))
			return CTL_FAILED;
		if (t.failed || fwrite(text_str(&t), 1, t.len, stdout) != t.len || fflush(stdout) != 0) {
			fprintf(stderr, "generate: write the output: %s\n", strerror(t.failed ? ENOMEM : errno));
			return CTL_FAILED;
		}
		return CTL_OK;
	}
	return usage();
}
