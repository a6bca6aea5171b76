/* color.c - inference of NV12 and I420 to RGB and BGR
 *
 * One plane [N, 3 H / 2, W, 1], or Y [N,H,W,1] with UV [N,H/2,W/2,2], or with U and V [N,H/2,W/2,1] -> [N,H,W,3]
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

/* Is plane @i of half the size of @luma, with @channels? Fills in lengths of @luma that are not known. */
static gboolean
check_half (LptNode  *node,
            guint     i,
            gint64    channels,
            LptShape *luma,
            GError  **error)
{
  const LptShape half = lpt_infer_shape_in (node, i);
  gboolean fits = lpt_infer_want_rank (node, i, 4, 4, error) && half.rank == 4;

  if (!fits)
    return half.rank == LPT_DYNAMIC;
  for (gint k = 1; k < 3 && fits; k++)
    {
      gint64 length;

      fits = lpt_dim_mul (half.dims[k], 2, &length) && lpt_dim_merge (luma->dims[k], length, &luma->dims[k]);
    }
  fits = fits && lpt_dim_merge (luma->dims[0], half.dims[0], &luma->dims[0]) &&
         (half.dims[3] == LPT_DYNAMIC || half.dims[3] == channels);

  return fits || lpt_infer_fail (error, "plane %u has not half the size of the first one", i);
}

gboolean
lpt_infer_to_rgb (LptNode *node,
                  GError **error)
{
  const guint planes = node->info->max_in;
  LptShape out = lpt_infer_shape_in (node, 0);
  LptDType dtype;

  if (node->n_in != 1 && node->n_in != planes)
    return lpt_infer_fail (error, "%u planes, not 1 or %u", node->n_in, planes);
  if (!lpt_infer_same_types (node, 0, node->n_in - 1, &dtype, error) || !lpt_infer_want_number (node, 0, error) ||
      !lpt_infer_want_rank (node, 0, 4, 4, error))
    return FALSE;
  if (out.rank == LPT_DYNAMIC)
    out = lpt_shape_unknown (4);
  if (out.dims[3] != LPT_DYNAMIC && out.dims[3] != 1)
    return lpt_infer_fail (error, "plane 0 has %" G_GINT64_FORMAT " channels, not 1", out.dims[3]);
  if (node->n_in == 1 && out.dims[1] != LPT_DYNAMIC)
    {
      if (out.dims[1] % 3 != 0)
        return lpt_infer_fail (error, "%" G_GINT64_FORMAT " rows are not 3 halves of an image's", out.dims[1]);
      out.dims[1] = out.dims[1] / 3 * 2;
    }
  for (guint i = 1; i < node->n_in; i++)
    if (!check_half (node, i, planes == 2 ? 2 : 1, &out, error))
      return FALSE;
  if ((out.dims[1] != LPT_DYNAMIC && out.dims[1] % 2 != 0) || (out.dims[2] != LPT_DYNAMIC && out.dims[2] % 2 != 0))
    return lpt_infer_fail (error, "an image of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " is not even", out.dims[1],
                           out.dims[2]);
  out.dims[3] = 3;

  return lpt_infer_set (node, 0, dtype, &out, error);
}
