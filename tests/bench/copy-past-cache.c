// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What copying past the cache costs and spares, natively in user space: the two routines that tx_nocache_min chooses
 * between, as the kernel has them on x86-64 (moves of eight registers; movnti of eight registers and an sfence).
 *
 *     copy-past-cache [ROUNDS]
 *
 * A line for each size: the size of a send, nanoseconds of a copy with and without the cache, and nanoseconds in which
 * a second reader then goes through WORKING_SET bytes that were in its cache before the copy. Each figure is the median
 * of ROUNDS (default 201). The source is read from memory that the copies before have driven out of the smaller caches,
 * as an application's data would be, and the target is a ring, as the send buffer is. A comment at the end names the
 * smallest size from which the reader gains more than the copy loses. What an adapter does with the data is not
 * measured.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum {
	RING = 4 << 20,
	WORKING_SET = 512 << 10,
	LINE = 64,
	MAX_ROUNDS = 10001,
};

static const size_t sizes[] = { 4096, 16384, 65536, 262144, 1048576 };

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void copy_cached(void *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i += LINE)
		__asm__ volatile(
			"movq (%1), %%r8\n\tmovq 8(%1), %%r9\n\tmovq 16(%1), %%r10\n\tmovq 24(%1), %%r11\n\t"
			"movq %%r8, (%0)\n\tmovq %%r9, 8(%0)\n\tmovq %%r10, 16(%0)\n\tmovq %%r11, 24(%0)\n\t"
			"movq 32(%1), %%r8\n\tmovq 40(%1), %%r9\n\tmovq 48(%1), %%r10\n\tmovq 56(%1), %%r11\n\t"
			"movq %%r8, 32(%0)\n\tmovq %%r9, 40(%0)\n\tmovq %%r10, 48(%0)\n\tmovq %%r11, 56(%0)"
			:
			: "r"((char *)to + i), "r"((const char *)from + i)
			: "r8", "r9", "r10", "r11", "memory");
}

static void copy_past(void *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i += LINE)
		__asm__ volatile(
			"movq (%1), %%r8\n\tmovq 8(%1), %%r9\n\tmovq 16(%1), %%r10\n\tmovq 24(%1), %%r11\n\t"
			"movnti %%r8, (%0)\n\tmovnti %%r9, 8(%0)\n\tmovnti %%r10, 16(%0)\n\tmovnti %%r11, 24(%0)\n\t"
			"movq 32(%1), %%r8\n\tmovq 40(%1), %%r9\n\tmovq 48(%1), %%r10\n\tmovq 56(%1), %%r11\n\t"
			"movnti %%r8, 32(%0)\n\tmovnti %%r9, 40(%0)\n\tmovnti %%r10, 48(%0)\n\tmovnti %%r11, 56(%0)"
			:
			: "r"((char *)to + i), "r"((const char *)from + i)
			: "r8", "r9", "r10", "r11", "memory");
	__asm__ volatile("sfence" : : : "memory");
}

static uint64_t go_through(const char *set)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < WORKING_SET; i += LINE)
		sum += *(const volatile uint64_t *)(set + i);
	return sum;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct result {
	uint64_t copy, read; /* ns, medians */
};

static struct result measure(void (*copy)(void *, const void *, size_t), size_t size, int rounds, char *ring,
			     const char *source, const char *set)
{
	static uint64_t copies[MAX_ROUNDS], reads[MAX_ROUNDS];
	size_t at = 0;

	for (int i = 0; i < rounds; i++) {
		uint64_t t0, t1;

		go_through(set);
		t0 = now();
		copy(ring + at, source + at, size);
		t1 = now();
		go_through(set);
		reads[i] = now() - t1;
		copies[i] = t1 - t0;
		at = (at + size) % RING;
	}
	qsort(copies, (size_t)rounds, sizeof(copies[0]), by_value);
	qsort(reads, (size_t)rounds, sizeof(reads[0]), by_value);
	return (struct result){ copies[rounds / 2], reads[rounds / 2] };
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 201;
	char *ring = aligned_alloc(4096, RING), *source = aligned_alloc(4096, RING),
	     *set = aligned_alloc(4096, WORKING_SET);
	size_t crossover = 0;

	if (rounds < 1 || rounds > MAX_ROUNDS || !ring || !source || !set) {
		fprintf(stderr, "copy-past-cache: rounds are 1..%d, and it needs 9 MiB\n", MAX_ROUNDS);
		return 2;
	}
	memset(ring, 1, RING);
	memset(source, 2, RING);
	memset(set, 3, WORKING_SET);
	printf("bytes\tcached_ns\tpast_cache_ns\treader_after_cached_ns\treader_after_past_cache_ns\n");
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct result c = measure(copy_cached, sizes[i], rounds, ring, source, set);
		struct result p = measure(copy_past, sizes[i], rounds, ring, source, set);

		printf("%zu\t%llu\t%llu\t%llu\t%llu\n", sizes[i], (unsigned long long)c.copy,
		       (unsigned long long)p.copy, (unsigned long long)c.read, (unsigned long long)p.read);
		if (p.copy + p.read >= c.copy + c.read)
			crossover = 0;
		else if (!crossover)
			crossover = sizes[i];
	}
	if (crossover)
		printf("# copy and reader together gain from %zu bytes on\n", crossover);
	else
		printf("# copy and reader together gain at no size\n");
	free(ring);
	free(source);
	free(set);
	return 0;
}
