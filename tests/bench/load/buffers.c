// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * buffers IN_USE ROUNDS - connections that take the one free buffer of a link group
 *
 * IN_USE connections stay open; in each round the oldest is closed, so that the buffer that is free is the one that was
 * made first of all, and another is opened in its place. Says "ready" when they are open and begins with the rounds
 * when it can read a byte, so that a tracer sees nothing else.
 */
#include "bench.h"

#define PORT 42200
#define SIZE 16384
#define SETTLE_US 20000 /* for the work that frees a connection */

int main(int argc, char **argv)
{
	unsigned int in_use, rounds;
	int *clients, *servers, listening;
	char byte;

	if (argc != 3)
		die("usage: buffers IN_USE ROUNDS");
	in_use = number(argv[1]);
	rounds = number(argv[2]);
	listening = listener(false, SIZE, PORT, 64);
	clients = allocate((in_use + 1) * sizeof(*clients));
	servers = allocate((in_use + 1) * sizeof(*servers));
	for (unsigned int i = 0; i <= in_use; i++)
		clients[i] = pair(false, SIZE, PORT, listening, &servers[i]);
	puts("ready");
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) != 1)
		die("nobody says go");
	for (unsigned int i = 0; i < rounds; i++) {
		unsigned int oldest = i % (in_use + 1);

		close(clients[oldest]);
		close(servers[oldest]);
		usleep(SETTLE_US);
		clients[oldest] = pair(false, SIZE, PORT, listening, &servers[oldest]);
	}
	return EXIT_SUCCESS;
}
