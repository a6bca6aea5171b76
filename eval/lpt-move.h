/* lpt-move.h - copying elements whatever their storage
 *
 * Movement ops work on bytes where input and output have the same storage and codes mean the same; otherwise
 * on f32, and the call converts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"

typedef struct
{
  LptDType dtype;   /* of the elements as they are moved */
  gsize    size;
} LptMoveForm;

/* The form in which inputs [first, first + n) go to the outputs; absent inputs do not count. */
LptMoveForm   lpt_move_form (const LptCall *call, guint first, guint n);
gconstpointer lpt_move_in   (LptCall *call, const LptMoveForm *form, guint i, GError **error);
gpointer      lpt_move_out  (LptCall *call, const LptMoveForm *form, guint o, GError **error);
/* Form, input 0 and output 0 at once. */
gboolean      lpt_move_one  (LptCall *call, LptMoveForm *form, gconstpointer *from, gpointer *to, GError **error);

/* to[i] = from[i] over @shape; strides in elements. */
void          lpt_copy_view (gpointer to, const gint64 *to_strides, gconstpointer from, const gint64 *from_strides,
                             const LptShape *shape, gsize size);
/* Packed @to: to[i, j, ...] = from[maps[0][i] + maps[1][j] + ...], or *fill where an entry is negative. */
void          lpt_copy_mapped (gpointer to, const LptShape *shape, gconstpointer from, gint64 *const *maps,
                               gconstpointer fill, gsize size);
/* maps[axis][i] = i * stride of @in for every axis of @out (same rank): the identity, to be changed per axis. NULL +
 * error. */
gint64      **lpt_call_maps (LptCall *call, const LptShape *in, const LptShape *out, GError **error);

static inline void
lpt_copy_one (gpointer      to,
              gconstpointer from,
              gsize         size)
{
  switch (size)
    {
    case 1: *(guint8 *) to = *(const guint8 *) from; break;
    case 2: *(guint16 *) to = *(const guint16 *) from; break;
    case 4: *(guint32 *) to = *(const guint32 *) from; break;
    default: *(guint64 *) to = *(const guint64 *) from; break;
    }
}
