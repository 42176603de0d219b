/* The floor under a random write to a page-mapped drive: draw a place, and update the map, the owner of the page and the
 * valid pages of both blocks, for the drive `epo` (48 elements of 8 planes with 2048 blocks of 64 pages). No time, no queue.
 *
 * Usage: floor WRITES. Prints a sum over the tables, so that no compiler leaves them out. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLANES = 384, BLOCKS = 2048, PAGES = 64 };

int main(int argc, char **argv)
{
	const uint64_t writes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	const uint64_t pages = (uint64_t)PLANES * BLOCKS * PAGES;
	const uint64_t of_plane = (uint64_t)BLOCKS * PAGES;
	uint32_t *map = calloc(pages, sizeof *map);
	uint32_t *owner = calloc(pages, sizeof *owner);
	uint16_t *valid = calloc(pages / PAGES, sizeof *valid);
	uint64_t state = 88172645463325252u, sum = 0;

	if (!map || !owner || !valid)
		return 1;
	for (uint64_t i = 0; i < writes; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		const uint64_t lpn = (unsigned __int128)state * pages >> 64;
		const uint64_t at = i % PLANES * of_plane + i / PLANES % of_plane;
		const uint32_t old = map[lpn];

		map[lpn] = (uint32_t)at + 1;
		owner[at] = (uint32_t)lpn + 1;
		valid[at / PAGES]++;
		if (old)
			valid[(old - 1) / PAGES]--;
		sum += old;
	}
	printf("%" PRIu64 "\n", sum + valid[0]);
	return 0;
}
