// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * main.c - run all unit tests of the provider, or those whose name contains the
 * argument. After each test nothing may be left of what it made.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fake_kernel.h"
#include "test.h"

static bool failed;			/* the test that runs */

static void fail(const char *file, int line)
{
	const char *base = strrchr(file, '/');

	failed = true;
	fprintf(stderr, "%s:%d: ", base ? base + 1 : file, line);
}

void test_check(bool ok, const char *file, int line, const char *what)
{
	if (ok)
		return;
	fail(file, line);
	fprintf(stderr, "not true: %s\n", what);
}

void test_check_equal(uint64_t got, uint64_t want, const char *file, int line,
		      const char *what)
{
	if (got == want)
		return;
	fail(file, line);
	fprintf(stderr, "%s is 0x%" PRIx64 ", not 0x%" PRIx64 "\n", what, got,
		want);
}

void test_check_hex(const void *got, const char *want, const char *file,
		    int line)
{
	const uint8_t *bytes = got;
	unsigned int value;
	size_t i;

	for (i = 0; *want; i++) {
		while (*want == ' ')
			want++;
		if (sscanf(want, "%2x", &value) != 1) {
			fail(file, line);
			fprintf(stderr, "bad hexadecimal: %s\n", want);
			return;
		}
		if (bytes[i] != value) {
			fail(file, line);
			fprintf(stderr, "byte %zu is %02x, not %02x\n", i,
				bytes[i], value);
			return;
		}
		want += 2;
	}
}

static const struct {
	const char *name;
	const struct test *tests;
} suites[] = {
	{ "wr", wr_tests },	  { "wr_api", wr_api_tests },
	{ "recv", recv_tests },	  { "poll", poll_tests },
	{ "cq", cq_tests },	  { "qp", qp_tests },
	{ "object", object_tests },
};

int main(int argc, char **argv)
{
	unsigned int num_passed = 0, num_failed = 0;
	const struct test *test;
	char name[128];
	size_t i;

	for (i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		for (test = suites[i].tests; test->name; test++) {
			snprintf(name, sizeof(name), "%s.%s", suites[i].name,
				 test->name);
			if (argc > 1 && !strstr(name, argv[1]))
				continue;
			failed = false;
			fake_reset();
			test->run();
			fake_check_nothing_left();
			if (failed) {
				num_failed++;
				printf("FAILED %s\n", name);
			} else {
				num_passed++;
			}
		}
	}
	printf("%u passed, %u failed\n", num_passed, num_failed);
	return num_failed || !num_passed;
}
