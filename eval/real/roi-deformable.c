/* roi-deformable.c - DeformablePSROIPooling: position-sensitive pooling of parts that are moved
 *
 * X [N,C,H,W], regions [R,5]: image, two corners, rounded, then in elements of X; offsets [R, 2 D, part_size,
 * part_size], which move part (y, x) of the channels of the k-th D-th by trans_std times the region's width and height.
 * A part is the mean of the bilinear samples at the corners of spatial_bins_y x spatial_bins_x equal parts of it, of
 * those that are not more than half an element outside; part (c, y, x) of the result reads channel (c G + y) G + x. A
 * region of image below 0 is 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-roi-align.h"
#include "ir/scalar/lpt-loop.h"

typedef struct
{
  const LptDeformablePsRoiPoolingAttrs *a;
  LptRoiImage  image;
  const float *offsets;        /* or NULL */
  gint64       divided;        /* D */
} Pool;

typedef struct
{
  gint64 image;
  float  x, y, w, h;
} Region;

static Region
region_of (const Pool  *p,
           const float *row)
{
  const float scale = (float) p->a->spatial_scale;
  Region r = { .image = (gint64) row[0], .x = roundf (row[1]) * scale - 0.5f, .y = roundf (row[2]) * scale - 0.5f };

  r.w = MAX ((roundf (row[3]) + 1) * scale - 0.5f - r.x, 0.1f);
  r.h = MAX ((roundf (row[4]) + 1) * scale - 0.5f - r.y, 0.1f);

  return r;
}

/* Mean of the samples of a part that begins at (@y, @x). */
static float
pool_part (const Pool   *p,
           const Region *r,
           const float  *plane,
           float         y,
           float         x)
{
  const LptRoiImage *image = &p->image;
  const float step_y = r->h / (float) p->a->group_size / (float) p->a->spatial_bins_y,
              step_x = r->w / (float) p->a->group_size / (float) p->a->spatial_bins_x;
  float sum = 0;
  gint64 count = 0, i, j;

  for (i = 0; i < p->a->spatial_bins_y; i++)
    for (j = 0; j < p->a->spatial_bins_x; j++)
      {
        const float sy = y + (float) i * step_y, sx = x + (float) j * step_x;

        if (!(sy >= -0.5f && sy <= (float) image->h - 0.5f && sx >= -0.5f && sx <= (float) image->w - 0.5f))
          continue;
        sum += (float) lpt_roi_sample (image, plane, CLAMP (sy, 0, (float) (image->h - 1)),
                                       CLAMP (sx, 0, (float) (image->w - 1)));
        count++;
      }

  return count > 0 ? sum / (float) count : 0;
}

static void
pool_region (const Pool  *p,
             const float *row,
             gint64       index,
             float       *y)
{
  const LptDeformablePsRoiPoolingAttrs *a = p->a;
  const gint64 g = a->group_size, part = a->part_size;
  const Region r = region_of (p, row);
  gint64 c, i, j;

  for (c = 0; c < a->output_dim; c++)
    for (i = 0; i < g; i++)
      for (j = 0; j < g; j++)
        {
          float top = r.y + (float) i * (r.h / (float) g), left = r.x + (float) j * (r.w / (float) g);

          if (p->offsets != NULL)
            {
              const gint64 k = c / MAX (a->output_dim / p->divided, 1), at = i * part / g * part + j * part / g;
              const float *from = p->offsets + (index * p->divided + MIN (k, p->divided - 1)) * 2 * part * part + at;

              left += from[0] * (float) a->trans_std * r.w;
              top += from[part * part] * (float) a->trans_std * r.h;
            }
          *y++ = pool_part (p, &r, lpt_roi_plane (&p->image, r.image, (c * g + i) * g + j), top, left);
        }
}

/* Shapes that were not known before the run. */
static gboolean
check_shapes (LptCall *call,
              Pool    *p,
              GError **error)
{
  const LptShape *x = &call->in[0].shape;
  const gint64 g = p->a->group_size, part = p->a->part_size, n = call->out[0].shape.dims[0];
  gboolean fits = x->rank == 4 && x->dims[2] > 0 && x->dims[3] > 0 && x->dims[1] == p->a->output_dim * g * g &&
                  lpt_array_count (&call->in[1]) == 5 * n;

  if (fits && p->offsets != NULL)
    {
      const LptShape *o = &call->in[2].shape;

      fits = o->rank == 4 && o->dims[0] == n && o->dims[1] >= 2 && o->dims[1] % 2 == 0 && o->dims[2] == part &&
             o->dims[3] == part;
      p->divided = o->dims[1] / 2;
    }
  if (!fits)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data, regions and offsets do not fit");
  else
    p->image = (LptRoiImage) { p->image.x, x->dims[0], x->dims[1], x->dims[2], x->dims[3] };

  return fits;
}

gboolean
lpt_run_deformable_psroi_pooling (LptCall *call,
                                  GError **error)
{
  Pool p = { .a = LPT_ATTRS (call->node, LptDeformablePsRoiPoolingAttrs) };
  const float *rows;
  gint64 each, r;
  float *y;

  p.image.x = lpt_call_f32 (call, 0, error);
  rows = p.image.x != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  y = rows != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  if (y == NULL || (lpt_call_has (call, 2) && (p.offsets = lpt_call_f32 (call, 2, error)) == NULL) ||
      !check_shapes (call, &p, error))
    return FALSE;
  each = lpt_dims_product (&call->out[0].shape, 1, 4);
  for (r = 0; r < call->out[0].shape.dims[0]; r++, rows += 5, y += each)
    if (rows[0] < 0)
      memset (y, 0, (gsize) each * sizeof (float));
    else if (rows[0] < (float) p.image.n)
      pool_region (&p, rows, r, y);
    else
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "a region is of image %g of %" G_GINT64_FORMAT,
                     (double) rows[0], p.image.n);
        return FALSE;
      }

  return TRUE;
}
