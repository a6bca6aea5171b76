/* roi-align.c - ROIAlign and ROIAlignRotated of real images
 *
 * A region is a task; where many of them read the image, another op in front weaves it, four channels side by side.
 * What is done with a region is eval/lpt-roi-align.h. Bits are those of the op.
 *
 * Not: images of regions that are computed, as one that is not there is an error; a constant image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-roi-align.h"
#include "executor/operators/lpt-operators.h"
#include "executor/operators/lpt-program-edit.h"

typedef struct
{
  LptRoiAlign align;           /* without data */
  LptRoiAlignAttrs attrs;      /* of rotated regions: align.attrs */
  gsize       columns;         /* numbers of a region */
  gint64     *images;          /* of each region; owned */
} Regions;

static void
weave_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  LptRoiAlign a = ((const Regions *) op->form.params)->align;

  a.image.x = (const float *) (gconstpointer) data->in[0];
  for (; task < end; task++)
    lpt_roi_weave (&a, (gint64) task, (float *) (gpointer) data->out);
}

static void
regions_run (const LptProgramOp *op,
             const LptOpData    *data,
             gsize               task,
             gsize               end)
{
  const Regions *r = op->form.params;
  const float *boxes = (const float *) (gconstpointer) data->in[1];
  LptRoiAlign a = r->align;

  a.image.x = (const float *) (gconstpointer) data->in[0];
  a.woven = op->form.n_in > 2 ? (const float *) (gconstpointer) data->in[2] : NULL;
  for (; task < end; task++)
    lpt_roi_align_region (&a, boxes + task * r->columns, r->images[task], (LptRoiTap *) (gpointer) data->workspace,
                          (float *) (gpointer) data->out + (gint64) task * a.image.c * a.rows * a.cols);
}

static void
regions_clear (gpointer params)
{
  g_free (((Regions *) params)->images);
}

/* Are they constant, and there? */
static gboolean
knows_images (const LptProgramValue *images,
              gint64                 n)
{
  const gint64 *index = images->array.data;
  gsize i;

  if (images->kind != LPT_STORAGE_CONST || images->array.dtype != LPT_DTYPE_I64)
    return FALSE;
  for (i = 0; i < lpt_program_count (images); i++)
    if (index[i] < 0 || index[i] >= n)
      return FALSE;

  return TRUE;
}

/* The op that weaves, in front of another one of the same node that reads @woven. */
static LptProgramOp *
weave_first (LptProgram      *program,
             LptProgramOp    *op,
             const Regions   *r,
             LptProgramValue **woven)
{
  LptProgramValue *x = op->in[0];
  LptProgramOp *last;

  *woven = lpt_program_copy_value (program, x, LPT_LAYOUT_TYPED);
  (*woven)->array.shape = lpt_shape_make (2, (const gint64[]) { r->align.blocks, LPT_ROI_LANES * r->align.image.h *
                                                                                  r->align.image.w });
  (*woven)->def = op;
  last = lpt_program_add_op (program, op->node, op->index);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = weave_run, .params = g_memdup2 (&(Regions) { .align = r->align }, sizeof *r), .kernel = "weave",
    .tasks = (gsize) r->align.blocks, .n_in = 1, .in = LPT_OPERANDS ({ x, LPT_LAYOUT_TYPED }), .out = *woven,
    .out_layout = LPT_LAYOUT_TYPED });

  return last;
}

/* @r: how regions are aligned */
static gboolean
prepare (LptProgram   *program,
         LptProgramOp *op,
         Regions      *r)
{
  const LptShape *y = &op->out[0]->array.shape;
  LptProgramValue *data = op->in[0], *boxes = op->in[1], *out = op->out[0], *woven = NULL;
  LptProgramOp *last = op;
  Regions *params;

  r->images = g_memdup2 (op->in[2]->array.data, lpt_program_count (op->in[2]) * sizeof (gint64));
  if (r->align.blocks > 0)
    last = weave_first (program, op, r, &woven);
  params = g_memdup2 (r, sizeof *r);
  if (r->align.rotated)
    params->align.attrs = &params->attrs;
  lpt_program_set_form (last, &(LptOpForm) {
    .run = regions_run, .params = params, .clear = regions_clear, .kernel = "roi_align", .tasks = (gsize) y->dims[0],
    .workspace = (LPT_ROI_TAPS * sizeof (LptRoiTap) + 63) & ~(gsize) 63, .n_in = woven != NULL ? 3 : 2,
    .in = LPT_OPERANDS ({ data, LPT_LAYOUT_TYPED }, { boxes, LPT_LAYOUT_TYPED }, { woven, LPT_LAYOUT_TYPED }),
    .out = out, .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}

/* Is it an image and regions of images that are there? */
static gboolean
check_regions (LptProgramOp *op,
               LptRoiImage  *image)
{
  const LptShape *x = &op->in[0]->array.shape, *y = &op->out[0]->array.shape;

  if (!lpt_program_is_real (op->in[0]) || !lpt_program_is_real (op->in[1]) || !lpt_program_is_real (op->out[0]))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (x->rank != 4 || y->rank != 4 || !lpt_shape_is_static (x) || !lpt_shape_is_static (y) ||
      lpt_program_count (op->in[0]) == 0 || lpt_program_count (op->out[0]) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (!knows_images (op->in[2], x->dims[0]))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  *image = (LptRoiImage) { NULL, x->dims[0], x->dims[1], x->dims[2], x->dims[3] };

  return TRUE;
}

gboolean
lpt_prepare_roi_align (LptProgram   *program,
                       LptProgramOp *op)
{
  Regions r = { .columns = 4 };
  LptRoiImage image;

  if (!check_regions (op, &image))
    return FALSE;
  lpt_roi_align_init (&r.align, &image, LPT_ATTRS (op->node, LptRoiAlignAttrs), &op->out[0]->array.shape);

  return prepare (program, op, &r);
}

gboolean
lpt_prepare_roi_align_rotated (LptProgram   *program,
                               LptProgramOp *op)
{
  Regions r = { .columns = 5 };
  LptRoiImage image;

  if (!check_regions (op, &image))
    return FALSE;
  lpt_roi_align_init_rotated (&r.align, &image, LPT_ATTRS (op->node, LptRoiAlignRotatedAttrs), &r.attrs,
                              &op->out[0]->array.shape);

  return prepare (program, op, &r);
}
