// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * copy - copying into a send buffer with and without the cache, natively, and what it does to another reader's cache
 *
 * Two routines, as the kernel has them for data of the user: `rep movsb` (what it uses on processors with fast strings)
 * and movnti with a fence, eight words a round (what its _nocache copy comes to). For each size from 4 KiB to 1 MiB the
 * source is what an application has just written, so it is cached, and the destination is the next place in a ring:
 * nobody of this processor reads it. In between a reader goes through memory of its own; its time is measured with each
 * routine. Prints `NAME NUMBER` lines: ns per KiB copied, ns per KiB read, and the smallest sizes from which going past
 * the cache is no slower, for the copy alone and for copy and reader together (0: none of these sizes).
 */
#include "bench.h"
#include <sys/mman.h>

#define RING (32U << 20)    /* of send buffers of many connections: larger than what caches hold of it */
#define READER (512U << 10) /* memory of the other reader: it fits a second-level cache */
#define MIN_SIZE (4U << 10)
#define MAX_SIZE (1U << 20)
#define PER_ROUND (1U << 20) /* bytes copied between two readings */
#define ROUNDS 60
#define WORDS 8

typedef void (*copy_function)(void *, const void *, size_t);

static void copy_strings(void *to, const void *from, size_t size)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

/* @size is a multiple of 64. */
static void copy_nocache(void *to, const void *from, size_t size)
{
	const uint64_t *source = from;
	uint64_t *target = to;

	for (size_t i = 0; i < size / sizeof(*source); i += WORDS)
		for (int k = 0; k < WORDS; k++)
			__asm__ volatile("movnti %1, %0" : "=m"(target[i + (size_t)k]) : "r"(source[i + (size_t)k]));
	__asm__ volatile("sfence" : : : "memory");
}

static const struct {
	const char *name;
	copy_function copy;
} routines[] = { { "strings", copy_strings }, { "nocache", copy_nocache } };
#define ROUTINES (sizeof(routines) / sizeof(routines[0]))

struct times {
	uint64_t copy[ROUNDS];
	uint64_t reader[ROUNDS];
};

static char *map(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		die("no memory");
	memset(memory, 1, size);
	return memory;
}

static uint64_t read_through(const char *memory)
{
	uint64_t start = now_ns(), sum = 0;

	for (size_t at = 0; at < READER; at += 64)
		sum += *(const volatile uint64_t *)(memory + at);
	__asm__ volatile("" : : "r"(sum));
	return now_ns() - start;
}

static uint64_t copy_round(copy_function copy, char *ring, size_t *at, char *source, size_t size)
{
	uint64_t spent = 0;

	for (size_t done = 0; done < PER_ROUND; done += size) {
		uint64_t start;

		memset(source, (int)done, size); /* as an application that makes what it sends */
		start = now_ns();
		copy(ring + *at, source, size);
		spent += now_ns() - start;
		*at = (*at + size) % RING;
	}
	return spent;
}

static uint64_t median(uint64_t *times)
{
	qsort(times, ROUNDS, sizeof(*times), compare_ns);
	return times[ROUNDS / 2];
}

int main(void)
{
	char *ring = map(RING), *reader = map(READER), *source = map(MAX_SIZE);
	unsigned int alone = 0, together = 0;
	static struct times times[ROUTINES];
	size_t at = 0;

	for (unsigned int size = MIN_SIZE; size <= MAX_SIZE; size *= 2) {
		double copy[ROUTINES], after[ROUTINES];

		for (unsigned int round = 0; round < ROUNDS; round++)
			for (unsigned int r = 0; r < ROUTINES; r++) {
				read_through(reader);
				times[r].copy[round] = copy_round(routines[r].copy, ring, &at, source, size);
				times[r].reader[round] = read_through(reader);
			}
		for (unsigned int r = 0; r < ROUTINES; r++) {
			copy[r] = (double)median(times[r].copy) / (PER_ROUND >> 10);
			after[r] = (double)median(times[r].reader) / (READER >> 10);
			printf("%s_copy_%u %.3f\n%s_reader_%u %.3f\n", routines[r].name, size >> 10, copy[r],
			       routines[r].name, size >> 10, after[r]);
		}
		alone = copy[1] > copy[0] ? 0 : alone ? alone : size;
		together = copy[1] * (PER_ROUND >> 10) + after[1] * (READER >> 10) >
					   copy[0] * (PER_ROUND >> 10) + after[0] * (READER >> 10)
				   ? 0
			   : together ? together
				      : size;
	}
	printf("crossover_alone %u\ncrossover_together %u\n", alone >> 10, together >> 10);
	return EXIT_SUCCESS;
}
