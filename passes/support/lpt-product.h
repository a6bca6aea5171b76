/* lpt-product.h - an op with constant weights, seen as a matrix per group
 *
 * y[g, o] = sum over i, k of w[g, o, i, k] x[g, i, k]: groups, outputs and inputs of a group, places of the kernel.
 * Element (g, o, i, k) lies at g stride_g + o stride_o + i stride_i + k.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_PRODUCT_H
#define LPT_PRODUCT_H

#include <lpt/lpt-config.h>

G_BEGIN_DECLS

typedef struct
{
  LptNode *node;
  guint    data_port, weights_port;
  gint64   groups, outputs, inputs, places;        /* outputs and inputs: of a group */
  gint64   stride_g, stride_o, stride_i;
  gint     out_axis, in_axis;                      /* channels of the result, of the data */
  LptShape scale_shape;                            /* of one value per output channel, against the weights */
  LptNode *bias;                                   /* Add of a constant per output channel right behind, or NULL */

  LptDType dtype;                                  /* of the codes: i8, u8, ... */
  gint32   low, high;                              /* their ends */
  guint    n_scale;                                /* 1, or groups * outputs */
  double  *scale;                                  /* n_scale; NULL = not quantized */
  gint32  *zero;                                   /* n_scale, or NULL = 0 */
  float   *original;                               /* weights before rounding, with the scales */
} LptLayer;

/* Is it an op that a layer can be of: a convolution, transposed too, or a matrix product? Grouped transposed ones are
 * none. */
gboolean   lpt_layer_is_product (const LptNode *node);
/* Does @add put one constant on each of the channels of @value along @axis, or one on all? */
gboolean   lpt_product_is_bias  (LptNode *add, LptValue *value, gint axis, gint64 channels);
/* Is @node one, and which? FALSE: it is not, or its weights do not allow this view. */
gboolean   lpt_layer_view    (LptNode *node, LptLayer *layer);
void       lpt_layer_clear   (LptLayer *layer);
static inline gint64 lpt_layer_channels (const LptLayer *layer) { return layer->groups * layer->outputs; }
static inline gint64 lpt_layer_at (const LptLayer *layer, gint64 channel, gint64 i, gint64 k)
{
  return channel / layer->outputs * layer->stride_g + channel % layer->outputs * layer->stride_o + i * layer->stride_i
         + k;
}

/* Weights as f32 (transfer full, g_free); NULL + error. */
float     *lpt_layer_weights     (const LptLayer *layer, GError **error);
gboolean   lpt_layer_set_weights (LptLayer *layer, const float *weights, GError **error);
/* Bias per output channel, zeros when there is none (transfer full, g_free); NULL + error. */
double    *lpt_layer_bias        (const LptLayer *layer, GError **error);
/* Makes the Add where there is none. */
gboolean   lpt_layer_set_bias    (LptLayer *layer, const double *bias, GError **error);
/* @w in channel @channel rounded to its lattice. */
double     lpt_layer_round       (const LptLayer *layer, gint64 channel, double w);
/* The value that leaves the layer with its bias. */
LptValue  *lpt_layer_out         (const LptLayer *layer);

/* A constant of @n values of f32. NULL + error. */
LptNode *lpt_product_add_const (LptGraph *graph, const char *name, const LptShape *shape, const float *values,
                                GError **error);

G_END_DECLS

#endif
