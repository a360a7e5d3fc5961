// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_netlink.c - every parser of netlink messages and sysctl texts, through the functions of kernel.h. The input is a
 * tape (netlink_replay.h); the seeds were recorded on real kernels.
 */
#include "netlink_replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was given back has to be wholly readable. */
static void look_at(const struct replay_result *result)
{
	for (size_t i = 0; i < result->list.n; i++) {
		for (size_t f = 0; f < result->list.noun->n_fields; f++) {
			struct text t CLEANUP_TEXT = { 0 };

			field_text(&result->list.noun->fields[f], list_row(&result->list, i)[f], &t);
		}
	}
	for (size_t i = 0; i < result->offered.n; i++) {
		const struct offered_knob *o = &result->offered.v[i];
		struct text t CLEANUP_TEXT = { 0 };

		value_text(&o->knob.spec, o->value, &t);
		value_text(&o->knob.spec, o->knob.def, &t);
		value_allowed(&o->knob.spec, &t);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct replay_result result CLEANUP(replay_result_done) = { 0 };
	struct kernel *k CLEANUP_KERNEL = NULL;
	struct replay replay;
	struct err e = { 0 };
	int r;

	if (size < 1)
		return 0;
	k = replay_kernel(&replay, data, size);
	if (!k)
		return 0;
	r = replay_run(k, (data[0] & ~REPLAY_UNKNOWN_FAMILIES) % N_REPLAY_OPS, &result, &e);
	/* A failure says what it is; a success has asked the kernel. */
	if (r < 0 && (e.code >= 0 || !e.text[0]))
		abort();
	if (r >= 0)
		look_at(&result);
	return 0;
}
