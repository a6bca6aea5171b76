/* debugger.h - what the parts of lpt_debug_run() share
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-debug.h>

#include "quantize/histogram.h"
#include "report/match.h"
#include "report/values.h"

/* A layer of the model while it is looked at. */
typedef struct
{
  LptDebugLayer *row;
  LptValue      *root, *real_root;      /* in the model, in the float one (NULL: it has none) */
  GPtrArray     *quantizers;            /* LptNode *: FakeQuantize on its values */
  GPtrArray     *seen;                  /* LptHistogram *: what each of them should hold, as the float model has it */
  GPtrArray     *ends;                  /* LptValue *: what others read, the most read one first */
  gint           weights_port;          /* -1: no weights that are quantized */
} LptDebugged;

/* Samples that outputs are compared on: those that gains and remedies are chosen by, and those held back (NULL: none
 * are). */
#define LPT_DEBUG_JUDGES 2
typedef struct
{
  LptData   *data;
  GPtrArray *outputs;       /* of the float model: GPtrArray of LptTensor for each sample */
} LptDebugJudge;

typedef struct
{
  LptGraph              *model, *real;
  gboolean               given;         /* @real is the float model that was given */
  LptTrails             *trails, *real_trails;
  LptMatch              *match;
  GHashTable            *real_roots;    /* root of a trail of the model -> that of the float model */
  GPtrArray             *layers;        /* LptDebugged * */
  LptGraph              *samples_of;    /* the graph whose inputs samples are made for */
  LptData               *data;
  LptDebugJudge          judges[LPT_DEBUG_JUDGES];
  const LptDebugOptions *options;
  LptDebug              *result;
} LptDebugger;

/* debug-layers.c: graphs made ready, values matched, layers found. */
gboolean lpt_debugger_init  (LptDebugger *d, LptGraph *model, LptGraph *real, GError **error);
void     lpt_debugger_clear (LptDebugger *d);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptDebugger, lpt_debugger_clear)
/* What the float model has in place of @end; NULL. */
LptValue *lpt_debugger_real_of (const LptDebugger *d, const LptValue *end);
/* What a quantizer that begins at 0 does to numbers below may be a Relu that was folded into it; what one that ends at 6,
 * but for rounding, does to numbers above, a Relu6: @greatest is 6 then, else infinite. */
gboolean lpt_debug_may_cut    (LptNode *fq, double *greatest);
/* Its readers read what it takes; what may have been folded into it is kept. */
void     lpt_debug_leave_out  (LptNode *fq);
/* Does @fq give back what it takes, but for rounding? */
gboolean lpt_debug_keeps_unit (LptNode *fq);
LptDebugLayer *lpt_debug_layer_new (LptNode *node);
void           lpt_debug_layer_free (LptDebugLayer *layer);
LptDebugGrid  *lpt_debug_grid_new   (LptNode *fq);
/* The interval of @fq, which has one for all or one for each channel; FALSE: it is none that is constant. */
gboolean lpt_debug_interval (LptNode *fq, float *low, float *high);

/* debug-borders.c: inputs and outputs on codes become real; FALSE + error. */
gboolean lpt_debug_free_borders (LptGraph *graph, GError **error);

/* debug-run.c */
/* The outputs of @runner's graph for sample @i of @data (transfer full); NULL + error. */
GPtrArray *lpt_debug_run_sample (LptDebugger *d, LptRunner *runner, LptData *data, guint i, GError **error);
gboolean lpt_debug_judge_real (LptDebugger *d, GError **error);
/* SQNR of the outputs of @graph against those of the float model, each by its own size; NaN + error. */
double   lpt_debug_judge      (LptDebugger *d, LptGraph *graph, GError **error);
/* The same on the samples held back; NaN without an error where there are none. */
double   lpt_debug_judge_held (LptDebugger *d, LptGraph *graph, GError **error);
/* Median of the time of a run of each of both, lowered, in turn: second / first; NaN: one cannot be lowered. */
double   lpt_debug_time       (LptDebugger *d, LptGraph *first, LptGraph *second);

/* debug-edit.c: copies of the model in which something is otherwise (transfer full); NULL + error. */
LptGraph *lpt_debug_layer_real (LptDebugger *d, LptDebugged *layer, GError **error);
/* All of @layers (element-type LptDebugged), in the order of the model. */
LptGraph *lpt_debug_layers_real (LptDebugger *d, GPtrArray *layers, GError **error);
/* The float model with every layer of the model beside its own; names[i] (transfer full): the value of layer i, or
 * NULL. */
LptGraph *lpt_debug_all_alone  (LptDebugger *d, char ***names, GError **error);
/* The FakeQuantize called @name gets another interval. */
gboolean  lpt_debug_set_grid   (LptGraph *copy, const char *name, double low, double high, guint64 levels, GError **error);

/* debug-observe.c: errors, grids, accumulators. */
gboolean lpt_debug_observe (LptDebugger *d, GError **error);
/* debug-weights.c */
gboolean lpt_debug_weights (LptDebugger *d, GError **error);
/* The steps of the weights of @layer, *n of them (g_free); NULL: not known. */
double  *lpt_debug_weight_steps (const LptDebugged *layer, guint *n);
/* debug-remedy.c */
gboolean lpt_debug_remedies (LptDebugger *d, LptDebugged *layer, GError **error);

static inline void
lpt_debugger_step (const LptDebugger *d, const char *what, guint done, guint total)
{
  if (d->options->progress != NULL)
    d->options->progress (what, done, total, d->options->progress_data);
}
