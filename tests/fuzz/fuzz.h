/* fuzz.h - what a fuzz target is
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_FUZZ_H
#define LPT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#endif
