/* tflite-origin.h - graphs that are still what a .tflite file says
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_ORIGIN_H
#define LPT_TFLITE_ORIGIN_H

#include <lpt/lpt-graph.h>

/* @graph is what @file says. */
void    lpt_tfl_keep_origin (LptGraph *graph, GBytes *file);
/* The file (transfer full), NULL: there is none, or the graph is another one now. */
GBytes *lpt_tfl_origin      (LptGraph *graph);

#endif
