/* under-sanitizers.h - is this program built with AddressSanitizer?
 *
 * It takes five times as long there, and what it looks for then is memory: tests that compare many ways to the same
 * result take a part of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#if defined (__SANITIZE_ADDRESS__)
#define UNDER_SANITIZERS 1
#elif defined (__has_feature)
#if __has_feature (address_sanitizer)
#define UNDER_SANITIZERS 1
#endif
#endif
#ifndef UNDER_SANITIZERS
#define UNDER_SANITIZERS 0
#endif
