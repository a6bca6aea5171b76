/* roi-pyramid.c - Detectron's features of regions, each from the level of a pyramid that fits its size
 *
 * A region is a task. What is done with it is eval/lpt-roi-pyramid.h; bits are those of the op.
 *
 * Not: levels of other numbers of channels, or that are constant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-roi-pyramid.h"
#include "executor/operators/lpt-operators.h"
#include "executor/operators/lpt-program-edit.h"

typedef struct
{
  LptRoiPyramid pyramid;       /* levels: owned, without data */
  gint64        each;          /* elements of a region's result */
} Levels;

static void
regions_run (const LptProgramOp *op,
             const LptOpData    *data,
             gsize               task,
             gsize               end)
{
  const Levels *l = op->form.params;
  const float *boxes = (const float *) (gconstpointer) data->in[0];
  LptRoiTap *taps = (LptRoiTap *) (gpointer) data->workspace;

  for (; task < end; task++)
    {
      const float *box = boxes + 4 * task;
      const guint level = lpt_roi_pyramid_level (&l->pyramid, box);

      lpt_roi_pyramid_region (&l->pyramid, level, (const float *) (gconstpointer) data->in[1 + level], box, taps,
                              (float *) (gpointer) data->out + (gint64) task * l->each);
      if (op->form.n_more > 0)
        memcpy ((float *) (gpointer) data->more[0] + 4 * task, box, 4 * sizeof (float));
    }
}

static void
levels_clear (gpointer params)
{
  g_free (((Levels *) params)->pyramid.levels);
}

/* Are they levels of the result, of real numbers? */
static gboolean
check_levels (LptProgramOp   *op,
              const LptShape *out)
{
  for (guint i = 1; i < op->n_in; i++)
    {
      const LptShape *shape = &op->in[i]->array.shape;

      if (!lpt_program_is_real (op->in[i]))
        return lpt_refuse (op, LPT_REMARK_TYPES);
      if (op->in[i]->kind == LPT_STORAGE_CONST)
        return lpt_refuse (op, LPT_REMARK_CONSTANT);
      if (shape->rank != 4 || !lpt_shape_is_static (shape) || shape->dims[0] != 1 || shape->dims[1] != out->dims[1] ||
          lpt_program_count (op->in[i]) == 0)
        return lpt_refuse (op, LPT_REMARK_SHAPES);
    }

  return TRUE;
}

gboolean
lpt_prepare_roi_pyramid (LptProgram   *program,
                         LptProgramOp *op)
{
  const LptShape *y = &op->out[0]->array.shape;
  g_autofree LptOperand *in = g_new0 (LptOperand, op->n_in);
  Levels l = { .each = 0 };
  guint i;

  if (!lpt_program_is_real (op->in[0]) || !lpt_program_is_real (op->out[0]))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (y->rank != 4 || !lpt_shape_is_static (y) || lpt_program_count (op->out[0]) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (!check_levels (op, y))
    return FALSE;

  lpt_roi_pyramid_init (&l.pyramid, LPT_ATTRS (op->node, LptDetectronFeaturesAttrs), g_new (LptRoiAlign, op->n_in - 1),
                        op->n_in - 1);
  for (i = 0; i < op->n_in; i++)
    {
      const LptShape *x = &op->in[i]->array.shape;

      in[i] = (LptOperand) { op->in[i], LPT_LAYOUT_TYPED };
      if (i > 0)
        lpt_roi_pyramid_set (&l.pyramid, i - 1, &(LptRoiImage) { NULL, 1, x->dims[1], x->dims[2], x->dims[3] }, y);
    }
  l.each = (gint64) lpt_program_count (op->out[0]) / y->dims[0];
  lpt_program_set_form (op, &(LptOpForm) {
    .run = regions_run, .params = g_memdup2 (&l, sizeof l), .clear = levels_clear, .kernel = "roi_pyramid",
    .tasks = (gsize) y->dims[0], .workspace = (LPT_ROI_TAPS * sizeof (LptRoiTap) + 63) & ~(gsize) 63, .n_in = op->n_in,
    .in = in, .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED, .n_more = op->n_out > 1 && op->out[1] != NULL,
    .more = { op->n_out > 1 ? op->out[1] : NULL } });

  return TRUE;
}
