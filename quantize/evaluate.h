/* evaluate.h - running a graph on one sample after another
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_EVALUATE_RUN_H
#define LPT_EVALUATE_RUN_H

#include <lpt/lpt-eval.h>
#include <lpt/lpt-executor.h>

typedef struct
{
  LptGraph       *graph;
  LptGraph       *source;       /* says what codes stand for; NULL = @graph */
  LptGraph       *given;        /* whose inputs the samples are for; NULL = @source */
  guint           threads;
  guint           flags;        /* of the plan */
  LptPlan        *plan;
  LptPlanContext *context;
  LptShape       *shapes;       /* of the plan's inputs */
} LptRunner;

/* The outputs, real where they are codes with quantization (transfer full) (element-type LptTensor); NULL + error. A
   plan is made when the shapes change. */
GPtrArray *lpt_runner_run   (LptRunner *runner, LptTensor *const *tensors, GError **error);
/* The same without reading outputs; FALSE + error. */
gboolean   lpt_runner_execute (LptRunner *runner, LptTensor *const *tensors, GError **error);
/* What the last run gave, as lpt_runner_run() does. */
GPtrArray *lpt_runner_outputs (LptRunner *runner, GError **error);
void       lpt_runner_clear (LptRunner *runner);
/* Drops the tensors of a sample, of which some may be NULL. */
void       lpt_samples_clear (LptTensor **tensors, guint n);
/* @tensor, made for an input with the quantization @from (nullable), as the input @parameter takes it: codes or what
 * they stand for (transfer full); NULL + error. */
LptTensor *lpt_input_adapt  (LptTensor *tensor, const LptQuant *from, LptNode *parameter, GError **error);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptRunner, lpt_runner_clear)

/* lpt_evaluate() sample by sample, for somebody who runs the models anyway. */
typedef struct LptEvaluator LptEvaluator;
LptEvaluator  *lpt_evaluator_new    (LptGraph *const *graphs, guint n_graphs, guint n_samples,
                                     const LptEvalOptions *options, GError **error);
/* The next sample is @i; @outputs: (nullable): what each model makes of it (element-type LptTensor), or it is run. */
gboolean       lpt_evaluator_add    (LptEvaluator *e, guint i, LptTensor *const *tensors, GPtrArray *const *outputs,
                                     GError **error);
/* (transfer full) */
LptEvaluation *lpt_evaluator_finish (LptEvaluator *e);
void           lpt_evaluator_free   (LptEvaluator *e);      /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptEvaluator, lpt_evaluator_free)

#endif
