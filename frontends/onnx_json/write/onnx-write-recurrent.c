/* onnx-write-recurrent.c - LSTM, GRU and Elman networks in ONNX; layouts: see onnx-map-recurrent.c
 *
 * A cell is a sequence of length 1 with one direction. Bias goes to W's half, R's is zero but for the last gate of a
 * GRU with linear_before_reset, which has two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

#include <string.h>

typedef struct
{
  LptOnnxWriter *w;
  LptNode       *node;
  const char    *onnx;
  gboolean       cell;
  gint64         hidden;
  gint64         gates;
  gboolean       linear;
  const char    *activations;
  LptFloats     *numbers[2];      /* alpha, beta */
} Net;

/* Input @i with its axis of directions; cells have none. */
static const char *
with_directions (const Net *n,
                 guint      i)
{
  gint64 front = 0;
  const char *x = lpt_onnx_w_in (n->w, n->node, i);

  return n->cell ? lpt_onnx_w_step (n->w, "Unsqueeze", 2, x, lpt_onnx_w_i64s (n->w, "axis", 1, &front)) : x;
}

/* Rows of the gates in ONNX's order, along axis 1 */
static const char *
ordered (const Net  *n,
         const char *x)
{
  static const gint64 from[] = { 1, 3, 0, 2 };   /* f i c o -> i o f c */
  const char *parts[4];

  if (n->gates != 4)
    return x;
  for (guint i = 0; i < 4; i++)
    parts[i] = lpt_onnx_w_sliced (n->w, x, 1, from[i] * n->hidden, (from[i] + 1) * n->hidden, 1);
  return lpt_onnx_w_joined (n->w, 1, 4, parts);
}

static const char *
both_biases (const Net  *n,
             const char *bias)
{
  LptOnnxWriter *w = n->w;
  gint64 rows = n->gates * n->hidden;
  const char *parts[4], *main_part, *zeros;

  if (n->linear)
    {
      /* z r h of W's | h of R's */
      main_part = lpt_onnx_w_sliced (w, bias, 1, 0, rows, 1);
      zeros = lpt_onnx_w_sliced (w, main_part, 1, 0, 2 * n->hidden, 1);
      parts[0] = main_part;
      parts[1] = lpt_onnx_w_step (w, "Sub", 2, zeros, zeros);
      parts[2] = lpt_onnx_w_sliced (w, bias, 1, rows, rows + n->hidden, 1);
      return lpt_onnx_w_joined (w, 1, 3, parts);
    }
  parts[0] = ordered (n, bias);
  parts[1] = lpt_onnx_w_step (w, "Sub", 2, bias, bias);
  return lpt_onnx_w_joined (w, 1, 2, parts);
}

/* ONNX's functions, and the numbers that they have where the graph gives none. */
static const struct { const char *name; guint numbers; double own[2]; } functions[] =
{
#define ONNX_ACTIVATION(name, build, op, numbers, alpha, beta) { name, numbers, { alpha, beta } },
#include "frontends/onnx_json/onnx-activations.def"
};

/* "tanh,sigmoid" as ONNX's names, for each direction, with the numbers of those functions that have any. */
static void
put_activations (const Net       *n,
                 Onnx__NodeProto *y,
                 guint            directions)
{
  g_auto (GStrv) list = n->activations != NULL && *n->activations != '\0' ? g_strsplit (n->activations, ",", -1) : NULL;
  guint have = list != NULL ? g_strv_length (list) : 0, each = n->gates == 4 ? 3 : n->gates == 3 ? 2 : 1;
  const char *names[6];
  float numbers[2][6];
  guint count[2] = { 0 };

  if (have == 0)
    return;
  if (have < each)
    {
      lpt_onnx_w_fail (n->w, "%u activations", have);
      return;
    }
  for (guint i = 0; i < each * directions; i++)
    {
      guint from = have >= each * directions ? i : i % each, f = 0;
      const char *name = g_strstrip (list[from]);

      while (f < G_N_ELEMENTS (functions) && g_ascii_strcasecmp (functions[f].name, name) != 0)
        f++;
      if (f == G_N_ELEMENTS (functions))
        {
          lpt_onnx_w_fail (n->w, "activation \"%s\"", name);
          return;
        }
      names[i] = functions[f].name;
      for (guint k = 0; k < functions[f].numbers; k++)
        {
          const LptFloats *given = n->numbers[k];

          numbers[k][count[k]++] = (float) (given->n > from ? given->v[from] : functions[f].own[k]);
        }
    }
  lpt_onnx_w_strings (n->w, y, "activations", each * directions, names);
  if (count[0] > 0)
    lpt_onnx_w_floats (n->w, y, "activation_alpha", count[0], numbers[0]);
  if (count[1] > 0)
    lpt_onnx_w_floats (n->w, y, "activation_beta", count[1], numbers[1]);
}

static void
write_net (const Net  *n,
           const char *direction,
           double      clip)
{
  static const gint64 swap[] = { 1, 0, 2 }, batch_first[] = { 2, 1, 0, 3 };
  LptOnnxWriter *w = n->w;
  LptNode *node = n->node;
  guint states = n->gates == 4 ? 2 : 1, at = n->cell ? 1 + states : 2 + states,
        directions = strcmp (direction, "bidirectional") == 0 ? 2 : 1;
  gint64 front[2] = { 0, 1 };
  const char *in[7] = { "", "", "", "", "", "", "" }, *out[3] = { "", "", "" };
  Onnx__NodeProto *y;

  /* [T, B, I] and [D, B, S] */
  in[0] = n->cell ? with_directions (n, 0) : lpt_onnx_w_transposed (w, lpt_onnx_w_in (w, node, 0), 3, swap);
  in[1] = ordered (n, with_directions (n, at));
  in[2] = ordered (n, with_directions (n, at + 1));
  if (lpt_node_in (node, at + 2) != NULL)
    in[3] = both_biases (n, with_directions (n, at + 2));
  if (!n->cell)
    in[4] = lpt_onnx_w_cast (w, lpt_onnx_w_i64 (w, node, 1 + states), LPT_DTYPE_I32);
  for (guint i = 0; i < states; i++)
    in[5 + i] = n->cell ? with_directions (n, 1 + i)
                        : lpt_onnx_w_transposed (w, lpt_onnx_w_in (w, node, 1 + i), 3, swap);

  for (guint i = n->cell ? 1 : 0; i <= states; i++)
    out[i] = lpt_onnx_w_temp (w, n->onnx);
  y = lpt_onnx_w_list (w, n->onnx, 1 + states, out, 5 + states, in);
  y->name = (char *) out[n->cell ? 1 : 0];
  lpt_onnx_w_int (w, y, "hidden_size", n->hidden);
  lpt_onnx_w_string (w, y, "direction", direction);
  if (n->gates == 3)
    lpt_onnx_w_int (w, y, "linear_before_reset", n->linear);
  if (clip > 0 && clip < G_MAXFLOAT)
    lpt_onnx_w_float (w, y, "clip", clip);
  put_activations (n, y, directions);

  for (guint i = 0; i <= states; i++)
    {
      const char *name = *out[i] != '\0' ? lpt_onnx_w_out (w, node, n->cell ? i - 1 : i) : "";

      if (i == 0 && !n->cell)
        lpt_onnx_w_ints (w, lpt_onnx_w_node (w, "Transpose", name, 1, out[i]), "perm", 4, batch_first);
      else if (i > 0 && n->cell)
        lpt_onnx_w_node (w, "Squeeze", name, 2, out[i], lpt_onnx_w_i64s (w, "axis", 1, front));
      else if (i > 0)
        lpt_onnx_w_ints (w, lpt_onnx_w_node (w, "Transpose", name, 1, out[i]), "perm", 3, swap);
    }
}

static gint64
gates_of (const char *onnx)
{
  return strcmp (onnx, "LSTM") == 0 ? 4 : strcmp (onnx, "GRU") == 0 ? 3 : 1;
}

void
lpt_onnx_write_cell (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *onnx)
{
  LptRnnCellAttrs *attrs = LPT_ATTRS (node, LptRnnCellAttrs);
  Net n = { w, node, onnx, TRUE, attrs->hidden_size, gates_of (onnx), attrs->linear_before_reset, attrs->activations,
            { &attrs->activations_alpha, &attrs->activations_beta } };

  if (node->n_in > (n.gates == 4 ? 6 : 5))
    lpt_onnx_w_fail (w, "peepholes");
  write_net (&n, "forward", attrs->clip);
}

void
lpt_onnx_write_sequence (LptOnnxWriter *w,
                         LptNode       *node,
                         const char    *onnx)
{
  static const char *const directions[] = { "forward", "reverse", "bidirectional" };
  LptRnnSequenceAttrs *attrs = LPT_ATTRS (node, LptRnnSequenceAttrs);
  Net n = { w, node, onnx, FALSE, attrs->hidden_size, gates_of (onnx), attrs->linear_before_reset, attrs->activations,
            { &attrs->activations_alpha, &attrs->activations_beta } };

  if (node->n_in > (n.gates == 4 ? 7 : 6))
    lpt_onnx_w_fail (w, "peepholes");
  write_net (&n, directions[attrs->direction], attrs->clip);
}
