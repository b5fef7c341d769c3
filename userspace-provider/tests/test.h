/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
/*
 * test.h - a test is a function with a sentence for a name; a failed check is
 * printed, marks its test, and lets it go on.
 */
#ifndef VCX_TEST_H
#define VCX_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test {
	const char *name;
	void (*run)(void);
};

#define TEST(function) { #function, function }

extern const struct test cq_tests[], object_tests[], poll_tests[], qp_tests[],
	recv_tests[], wr_tests[], wr_api_tests[];

void test_check(bool ok, const char *file, int line, const char *what);
void test_check_equal(uint64_t got, uint64_t want, const char *file, int line,
		      const char *what);
void test_check_hex(const void *got, const char *want, const char *file,
		    int line);

#define CHECK(condition)                                                       \
	test_check(condition, __FILE__, __LINE__, #condition)
#define CHECK_EQUAL(got, want)                                                 \
	test_check_equal((uint64_t)(got), (uint64_t)(want), __FILE__,          \
			 __LINE__, #got)

/* The bytes at got, as hexadecimal digits with any spaces between them. */
#define CHECK_HEX(got, want) test_check_hex(got, want, __FILE__, __LINE__)

#endif /* VCX_TEST_H */
