/* random-graph.h - random graphs for the property tests
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* How far what is drawn goes. */
typedef struct
{
  gint     batch, channels, size, columns;   /* of images; rows of the weights of a MatMul */
  gint     kernel;
  gboolean more;                             /* ops, geometries and real weights that lie off the ways of LPT */
  gboolean scales;                           /* random_scales_new() instead */
  gint     longest;                          /* of one axis of the inputs; 0: as the others */
} RandomSizes;

extern const RandomSizes RANDOM_SMALL, RANDOM_WIDE, RANDOM_LONG, RANDOM_SCALES;

/* A graph of a few inputs [N,C,H,W], 3 to 14 ops on them and 1 to 3 outputs (transfer full). */
LptGraph *random_graph_new (GRand *rand, const RandomSizes *sizes);

/* One to three ops behind scales along any axis, rank 1 to 5, f32 or f16, at times in a body (transfer full). */
LptGraph *random_scales_new (GRand *rand);

/* @body, which is taken over, as both branches of an If or in a Loop of two trips; NULL when that is not a graph. */
LptGraph *random_body_new (GRand *rand, LptGraph *body);
