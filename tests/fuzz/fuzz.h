/* fuzz.h - what a fuzz target is
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_FUZZ_H
#define LPT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int    LLVMFuzzerTestOneInput     (const uint8_t *data, size_t size);
/* Of targets that change their inputs by themselves: in place, at most @max bytes; the new size. */
size_t LLVMFuzzerCustomMutator    (uint8_t *data, size_t size, size_t max, unsigned seed) __attribute__ ((weak));
size_t LLVMFuzzerCustomCrossOver  (const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                   size_t max, unsigned seed);
/* Before the command line is read. */
int    LLVMFuzzerInitialize       (int *argc, char ***argv);
/* Of AddressSanitizer; a target's own. */
const char *__asan_default_options (void);

#endif
