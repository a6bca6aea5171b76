/* lpt-export.h - marks what the shared library exports
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_EXPORT_H
#define LPT_EXPORT_H

#if defined (_WIN32)
# define LPT_EXPORT __declspec (dllexport)
#else
/* What stands before a declaration that the shared library exports. */
# define LPT_EXPORT __attribute__ ((visibility ("default")))
#endif

#endif
