/* quantizer.h - what the parts of lpt_quantize() share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_QUANTIZER_H
#define LPT_QUANTIZER_H

#include <lpt/lpt-quantize.h>

#include "quantize/evaluate.h"
#include "passes/support/lpt-product.h"
#include "quantize/range.h"

G_BEGIN_DECLS

/* A value that gets a FakeQuantize, for some of its readers. */
typedef struct
{
  LptValue  *value;
  GArray    *uses;           /* of LptUse: those that read what is quantized */
  guint      group;          /* values of one group have one lattice */
  guint      levels;
  gboolean   symmetric, fixed;   /* fixed: the lattice is known beforehand */
  gboolean   ends;           /* class scores: only a result follows */
  LptLattice lattice;
} LptPoint;

/* What is kept of a value per channel; a sample counts once in the mean, however large it is. */
typedef struct
{
  gint    axis;               /* of the channels; -1: nothing is kept */
  gint64  n;                  /* channels; 0 before the first sample */
  guint64 samples;
  double *mean, *largest;     /* @largest: of the magnitudes */
} LptChannelStats;

/* What was seen of a value. */
typedef struct
{
  LptHistogram *histogram;
  LptChannelStats   channels;
} LptSeen;

typedef struct
{
  LptGraph                 *graph;
  LptData                  *data;
  LptData                  *fit, *held;   /* of @data: what repairs look at, what they are judged by */
  const LptQuantizeOptions *options;
  LptQuantizeReport        *report;
  GPtrArray                *layers;    /* LptLayer *: with constant weights, in topological order */
  GPtrArray                *recurrent; /* LptLayer *: weights of recurrent layers, two of each */
  GPtrArray                *points;    /* LptPoint * */
  GHashTable               *seen;      /* LptValue * -> LptSeen * */
  GHashTable               *kept;      /* names of nodes that stay float -> why, or "" */
  GHashTable               *blocked;   /* set of names of nodes that move data, but not for this target */
  double                    bound;     /* of equalization's factors; 1 = none */
} LptQuantizer;

void     lpt_quantizer_clear  (LptQuantizer *q);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptQuantizer, lpt_quantizer_clear)
void     lpt_quantizer_remark (LptQuantizer *q, const char *format, ...) G_GNUC_PRINTF (2, 3);
void     lpt_quantizer_step   (LptQuantizer *q, const char *what, guint done, guint total);

/* prepare.c */
gboolean lpt_quantize_prepare (LptGraph *graph, GError **error);
/* pools.c */
gboolean lpt_quantize_free_pools (LptGraph *graph, const LptConfig *config, GError **error);
/* AvgPools over all places: their number; ReduceMean in their place. */
guint    lpt_quantize_count_pools   (LptGraph *graph);
gboolean lpt_quantize_replace_pools (LptGraph *graph, GError **error);
/* place.c: fills layers and points. */
gboolean lpt_quantize_place   (LptQuantizer *q, GError **error);
/* recurrent.c: the weights of recurrent @node, or why they stay real. */
const char *lpt_quantize_add_recurrent (LptQuantizer *q, LptNode *node);
/* Does a wish for integers climb through @node? */
gboolean lpt_quantize_moves_data (LptQuantizer *q, LptNode *node);
/* Ends of what @node gives that are known without looking. */
gboolean lpt_quantize_fixed_range (LptNode *node, double *low, double *high);
/* probe.c: the same, in agreement with the target. */
gboolean lpt_quantize_probe   (LptQuantizer *q, GError **error);
/* observe.c: fills seen for all points and for what layers read. */
gboolean lpt_quantize_observe (LptQuantizer *q, GError **error);
/* Those that nothing is known of yet. */
gboolean lpt_quantize_observe_rest (LptQuantizer *q, GError **error);
/* One sample, f32. */
void     lpt_channel_stats_add      (LptChannelStats *channels, LptTensor *tensor);
void     lpt_channel_stats_clear    (LptChannelStats *channels);
/* An empty one, in place of what there is. */
LptSeen *lpt_quantizer_add_seen (LptQuantizer *q, LptValue *value);
LptSeen *lpt_quantizer_seen   (LptQuantizer *q, LptValue *value);
/* Calls @func with the f32 elements of each of @values, sample by sample, in runs that keep few of them at a time. */
typedef gboolean (*LptWatchFunc) (LptQuantizer *q, guint value, LptTensor *tensor, guint sample, gpointer data,
                                  GError **error);
gboolean lpt_quantize_watch (LptQuantizer *q, GPtrArray *values, LptData *samples, LptWatchFunc func, gpointer data,
                             GError **error);
/* concat.c: behind observation. */
gboolean lpt_quantize_split_concats (LptQuantizer *q, GError **error);
/* lattices.c: intervals of points, scales of weights. */
void     lpt_quantize_ranges  (LptQuantizer *q);
gboolean lpt_quantize_scales  (LptQuantizer *q, gboolean mse, GError **error);
/* insert.c */
/* Into @graph: the quantizer's, or a copy. */
gboolean lpt_quantize_insert  (LptQuantizer *q, LptGraph *graph, GError **error);
/* io-types.c: inputs and outputs become @dtype, u8 or i8. */
gboolean lpt_quantize_set_io (LptQuantizer *q, LptDType dtype, GError **error);
/* The point whose FakeQuantize input @port of @node reads, or NULL. */
LptPoint *lpt_quantizer_point (LptQuantizer *q, LptNode *node, guint port);

/* Empty sets. */
void     lpt_quantizer_init   (LptQuantizer *q);
/* The layer that @node is, or NULL. */
LptLayer *lpt_quantizer_layer (LptQuantizer *q, LptNode *node);

/* Repairs: in front of the observation of ranges, behind it, or behind rounding. */
typedef enum { LPT_REPAIR_FLOAT, LPT_REPAIR_ROUNDING, LPT_REPAIR_BIAS } LptRepairStage;
typedef struct
{
  const char    *name, *doc;
  LptRepairStage stage;
  gboolean     (*run) (LptQuantizer *q, GError **error);
} LptRepair;
const LptRepair *lpt_repair_row (guint i);

gboolean lpt_repair_equalize    (LptQuantizer *q, GError **error);
gboolean lpt_repair_smooth      (LptQuantizer *q, GError **error);
gboolean lpt_repair_gptq        (LptQuantizer *q, GError **error);
gboolean lpt_repair_round       (LptQuantizer *q, GError **error);
gboolean lpt_repair_bias        (LptQuantizer *q, GError **error);
gboolean lpt_repair_bias_in_turn (LptQuantizer *q, GError **error);

G_END_DECLS

#endif
