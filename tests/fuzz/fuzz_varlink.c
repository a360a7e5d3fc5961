// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The varlink framing and the parser of calls. The first byte says how the rest is cut into reads; whatever the cut,
 * the messages must be the same as those that lie between the NULs. What is taken as a call must be one by json-c too,
 * and its text, parsed again, must be taken again.
 */
#include "api.h"
#include "varlink.h"

#define CHECK(cond)                                                                                                    \
	do {                                                                                                           \
		if (!(cond)) {                                                                                         \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);                             \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

#define MESSAGE_MAX 512 /* small, so that the limit is met */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_call(const char *text, size_t len)
{
	CLEANUP_VARLINK_REQUEST struct varlink_request req = { 0 }, again = { 0 };
	const char *written;
	size_t n;

	if (varlink_request_parse(text, len, &req) < 0) {
		CHECK(!req.message);
		return;
	}
	CHECK(req.method && !(req.more && req.oneway) && !memchr(text, 0, len));
	/* Parameters against every method's table: must not do more than say what is wrong. */
	for (size_t i = 0; i < N_METHODS; i++)
		api_check_params(&methods[i], req.params);
	written = varlink_text(req.message, &n);
	CHECK(written && strlen(written) == n);
	CHECK(varlink_request_parse(written, n, &again) == 0 && str_eq(again.method, req.method));
}

/* What next() has to give: the messages up to the first that is too long. */
static const uint8_t *expected_message(const uint8_t *p, const uint8_t *end, size_t *ret_len)
{
	const uint8_t *nul = memchr(p, 0, (size_t)(end - p));

	*ret_len = (size_t)((nul ? nul : end) - p);
	return nul;
}

static void feed(const uint8_t *data, size_t size, size_t step)
{
	struct varlink_input in = { .max = MESSAGE_MAX };
	const uint8_t *next = data, *end = data + size;
	size_t at = 0, len, want;
	bool broken = false;
	char *text;
	int r;

	while (!broken && at < size) {
		size_t n = size - at < step ? size - at : step, room = varlink_input_room(&in);

		n = n < room ? n : room;
		CHECK(n > 0);
		CHECK(varlink_input_add(&in, data + at, n) == 0);
		at += n;
		while ((r = varlink_input_next(&in, &text, &len)) > 0) {
			CHECK(expected_message(next, end, &want) && want == len && memcmp(next, text, len) == 0);
			CHECK(len <= MESSAGE_MAX && text[len] == 0);
			check_call(text, len);
			next += len + 1;
		}
		if (r < 0) {
			CHECK(r == -EMSGSIZE);
			expected_message(next, end, &want);
			CHECK(want > MESSAGE_MAX);
			broken = true;
		}
	}
	/* Nothing is held back: what is left has no end yet. */
	CHECK(broken || !memchr(next, 0, (size_t)(end - next)));
	CHECK(broken || varlink_input_partial(&in) == (next < end));
	varlink_input_done(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	feed(data + 1, size - 1, 1 + data[0] % 64);
	feed(data + 1, size - 1, SIZE_MAX);
	return 0;
}
