/* lpt-infer-util.h - what the inference functions share
 *
 * A dimension is >= 0 or LPT_DYNAMIC; all arithmetic on dimensions is checked.
 * Numbers that come from the graph (shapes, axes, pads) may be unknown as a
 * whole (the function returns FALSE) or one by one (LPT_UNKNOWN).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_INFER_UTIL_H
#define LPT_INFER_UTIL_H

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

#include "ir/infer/lpt-infer.h"
#include "ir/infer/lpt-evaluate.h"

G_BEGIN_DECLS

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptInts, lpt_ints_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptFloats, lpt_floats_clear)

/* Sets LPT_ERROR_INVALID (or UNSUPPORTED) and returns FALSE. */
gboolean lpt_infer_fail        (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);
gboolean lpt_infer_unsupported (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* --- inputs --- */

LptShape lpt_infer_shape_in (LptNode *node, guint i);   /* any shape when absent */
LptDType lpt_infer_dtype_in (LptNode *node, guint i);   /* the type as which the op sees the input; UNDEFINED when absent */
/* TRUE when mixed element types are no error: relaxed nodes and lowered graphs. */
gboolean lpt_infer_is_relaxed (LptNode *node);
/* Integers of input @i; FALSE when nothing is known of them. Elements may be LPT_UNKNOWN. */
gboolean lpt_infer_ints_in   (LptNode *node, guint i, LptInts *out);
gboolean lpt_infer_reals_in  (LptNode *node, guint i, LptFloats *out);   /* unknown elements are NaN */
gboolean lpt_infer_int_in    (LptNode *node, guint i, gint64 *out);      /* one known integer */
gboolean lpt_infer_all_known (const LptInts *list);
/* Number of elements of the list that input @i is (rank 0 or 1), or LPT_DYNAMIC. */
gint64   lpt_infer_length_in (LptNode *node, guint i);

/* --- checks --- */

gboolean lpt_infer_same_types  (LptNode *node, guint first, guint last, LptDType *dtype, GError **error);
gboolean lpt_infer_want_index  (LptNode *node, guint i, const char *what, GError **error);  /* integer type, rank <= 1 */
gboolean lpt_infer_want_integer (LptNode *node, guint i, const char *what, GError **error);
/* Is @dtype, the attribute @name, i64 or i32? */
gboolean lpt_infer_index_type  (LptDType dtype, const char *name, GError **error);
gboolean lpt_infer_want_real   (LptNode *node, guint i, GError **error);
gboolean lpt_infer_want_number (LptNode *node, guint i, GError **error);                    /* not boolean */
gboolean lpt_infer_want_rank   (LptNode *node, guint i, gint low, gint high, GError **error);
gboolean lpt_infer_axis        (gint64 axis, gint rank, gint *out, GError **error);
/* Axes of input @i as a set of flags; FALSE with error, or known = FALSE. */
gboolean lpt_infer_axes_in     (LptNode *node, guint i, gint rank, gboolean axes[LPT_MAX_RANK], gboolean *known, GError **error);

/* --- dimensions --- */

gboolean lpt_dim_add   (gint64 a, gint64 b, gint64 *out);    /* b may be negative; FALSE on overflow or a result < 0 */
gboolean lpt_dim_mul   (gint64 a, gint64 b, gint64 *out);
gboolean lpt_dim_merge (gint64 a, gint64 b, gint64 *out);    /* the same length; FALSE when they differ */
gint64   lpt_dim_ceil_div (gint64 a, gint64 b);              /* b > 0 */
gint64   lpt_shape_dim (const LptShape *shape, gint i);      /* LPT_DYNAMIC when the rank is unknown */
LptShape lpt_shape_unknown (gint rank);                      /* all dimensions dynamic; LPT_DYNAMIC gives any shape */
gboolean lpt_shape_merge (const LptShape *a, const LptShape *b, LptShape *out);
char    *lpt_infer_text (const LptShape *shape);             /* "[2,3]" (transfer full) */

/* --- outputs --- */

/* Sets output @out; quantized values keep their element type. FALSE when the shape has too many elements. */
gboolean lpt_infer_set (LptNode *node, guint out, LptDType dtype, const LptShape *shape, GError **error);
/* Output 0 = @dtype with rank @rank and unknown dimensions. */
gboolean lpt_infer_set_rank (LptNode *node, guint out, LptDType dtype, gint rank, GError **error);

/* --- windows (convolutions and pools) --- */

typedef struct
{
  const LptInts *strides, *dilations, *pads_begin, *pads_end;   /* empty = 1, 1, 0, 0 */
  LptAutoPad     auto_pad;
  LptRoundingType rounding;
} LptWindow;

gboolean lpt_window_check (const LptWindow *window, gint n, GError **error);   /* lengths and signs for @n spatial axes */
/* Output length along spatial axis @axis; @in and @kernel may be dynamic. */
gboolean lpt_window_out   (const LptWindow *window, gint axis, gint64 in, gint64 kernel, gint64 *out, GError **error);

G_END_DECLS

#endif
