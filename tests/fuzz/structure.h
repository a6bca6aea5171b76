/* structure.h - what fuzz-structure does with a graph: forms, runs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_FUZZ_STRUCTURE_H
#define LPT_FUZZ_STRUCTURE_H

#include <lpt/lpt-graph.h>

/* Is @check left out by LPT_FUZZ_SKIP? */
gboolean   structure_does          (const char *check);
/* Says what is wrong with @graph and aborts. */
void       structure_fail          (LptGraph *graph, const char *what, const char *why) G_GNUC_NORETURN;
/* The limits of a run were met: nothing is wrong. */
gboolean   structure_is_limit      (const GError *error);

/* --- structure-forms.c --- */

/* Of a golden file (graph, line, graph) the length of the first one. */
gsize      structure_first_graph   (const char *data, gsize size);
/* A graph in any form (transfer full). */
LptGraph  *structure_read          (const char *data, gsize size, GError **error);
/* Is it written in each form and read back, in one of them by @draw where one is drawn? */
void       structure_through_forms (LptGraph *graph, guint draw);

/* --- structure-run.c --- */

/* Does a fuzzer draw one case of several by the input's content? A replay takes all. */
gboolean   structure_draws         (void);
/* Static, and cheap enough to run some dozen times. */
gboolean   structure_is_small      (LptGraph *graph);
/* Are all shapes known? */
gboolean   structure_is_static     (LptGraph *graph);
/* Is everything in f32, and in integers that are none of the real ops' results, nor the numbers behind codes? A
 * reference run does not round. */
gboolean   structure_is_plain      (LptGraph *graph);
/* Outputs of a run of the reference on drawn inputs (transfer full); NULL + error. */
GPtrArray *structure_run           (LptGraph *graph, GError **error);
/* The reference, and the fast program at the levels of the processor, one of them by @draw where one is drawn: they
 * must agree. Returns: the reference ran. */
gboolean   structure_through_levels (LptGraph *graph, guint draw);
/* How far output @i of @other is from that of @own, which a run of @graph gave: the mean difference in parts of the
 * greatest number; 0 where there is little to compare, or where @own changes as well when all numbers of @graph move by
 * some last bits. Codes that are summed lie at ties, which no number moves: elements a @step apart count where they are
 * half of all. */
double     structure_distance      (LptGraph *graph, GPtrArray *other, GPtrArray *own, guint i, double step);
/* The step of the codes that output @i is made of; 0: of none. */
double     structure_step          (LptGraph *graph, guint i);

#endif
