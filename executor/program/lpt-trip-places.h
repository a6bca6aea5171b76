/* lpt-trip-places.h - where the trips of a loop read and write (slice-trips.c), how they are followed
 * (lpt-trip-counts.c), and states that come back in pieces (lpt-trip-places.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-body.h>

/* A place that a node reads or writes from in each trip: base + trip * step. */
typedef struct
{
  LptNode *node;
  guint    operand;          /* that says where */
  gint64   base[LPT_MAX_RANK], step[LPT_MAX_RANK];
  guint    n;
  gboolean even;             /* so far */
} LptTripPlace;

typedef struct
{
  LptNode    *node;
  LptGraph   *body;
  LptBodyMap *map;
  gint64      trips;
  GArray     *places;        /* of LptTripPlace */
  guint       n;             /* parameters that were there */
  LptTensor **now;           /* of each that counts, in a trip; NULL: it does not */
  gboolean   *number;        /* it is the number of the trip, so far */
} LptTripLoop;

LptValue          *lpt_trips_parameter   (const LptTripLoop *loop, guint i);
LptValue          *lpt_trips_result      (const LptTripLoop *loop, guint i);
/* The back edge to parameter @i, or NULL; what feeds @parameter, or NULL. */
const LptBackEdge *lpt_trips_edge        (const LptTripLoop *loop, guint i);
LptBodyPort       *lpt_trips_port        (const LptTripLoop *loop, guint parameter);
/* @operand of @node is followed through the trips. */
void               lpt_trips_add_place   (LptTripLoop *loop, LptNode *node, guint operand);
/* The same type, without quantization or with one for all. */
gboolean           lpt_trips_one_scale   (const LptValue *a, const LptValue *b);
/* Parts along @axis, from the front or, @step below 0, from the end, are what parameter @i becomes. FALSE: it comes out
 * in other ways, too. */
gboolean           lpt_trips_join        (LptTripLoop *loop, guint i, LptValue *part, gint axis, gint64 step);

/* --- lpt-trip-counts.c --- */

/* What goes in as @value, where it is known: a constant, or a few integers that follow from shapes (transfer full). */
LptTensor         *lpt_trips_known_input   (LptValue *value);
/* Numbers that go into the first trip, and that of the trip: in now and number. */
void               lpt_trips_find_counters (LptTripLoop *loop);
/* Through all trips: where places lie, what counters are behind the last one; the loop says how many there are. FALSE:
 * they are not known, or too many. */
gboolean           lpt_trips_follow        (LptTripLoop *loop);

/* --- lpt-trip-places.c --- */

void               lpt_trips_find_rests  (LptTripLoop *loop);
/* Joins parts where the state of parameter @i comes back as what is left of the part, the part, and what is right of
 * it. */
void               lpt_trips_join_concat (LptTripLoop *loop, guint i);
/* @part with the shape of @out, a node of @body; NULL: no memory. */
LptValue          *lpt_trips_shaped      (LptGraph *body, LptValue *part, const LptValue *out);
