/* lpt-call.c - one call of an op: conversions to and from what it computes in, running it
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-call.h"
#include "eval/lpt-code-loops.h"
#include "ir/lpt-weighted.h"
#include "ir/scalar/lpt-loop.h"

/* --- conversions --- */

/* Truncated, saturated to i64; NaN gives 0. */
static gint64
real_to_i64 (double x)
{
  if (isnan (x))
    return 0;

  return x >= 9223372036854775807.0 ? G_MAXINT64 : x <= -9223372036854775808.0 ? G_MININT64 : (gint64) x;
}

static gint64
code_get (gconstpointer data,
          LptDType      dtype,
          gint64        i)
{
  switch ((guint) dtype)
    {
    case LPT_DTYPE_U8:  return ((const guint8 *) data)[i];
    case LPT_DTYPE_I8:  return ((const gint8 *) data)[i];
    case LPT_DTYPE_U16: return ((const guint16 *) data)[i];
    case LPT_DTYPE_I16: return ((const gint16 *) data)[i];
    case LPT_DTYPE_U32: return ((const guint32 *) data)[i];
    case LPT_DTYPE_I32: return ((const gint32 *) data)[i];
    case LPT_DTYPE_I64: return ((const gint64 *) data)[i];
    case LPT_DTYPE_BOOL: return ((const guint8 *) data)[i];
    default: g_assert_not_reached ();
    }
}

static void
code_set (gpointer data,
          LptDType dtype,
          gint64   i,
          gint64   code)
{
  switch ((guint) dtype)
    {
    case LPT_DTYPE_U8:  ((guint8 *) data)[i] = (guint8) code; break;
    case LPT_DTYPE_I8:  ((gint8 *) data)[i] = (gint8) code; break;
    case LPT_DTYPE_U16: ((guint16 *) data)[i] = (guint16) code; break;
    case LPT_DTYPE_I16: ((gint16 *) data)[i] = (gint16) code; break;
    case LPT_DTYPE_U32: ((guint32 *) data)[i] = (guint32) code; break;
    case LPT_DTYPE_I32: ((gint32 *) data)[i] = (gint32) code; break;
    case LPT_DTYPE_I64: ((gint64 *) data)[i] = code; break;
    case LPT_DTYPE_BOOL: ((guint8 *) data)[i] = code != 0; break;
    default: g_assert_not_reached ();
    }
}

/* Which entry of scale[] and zero_point[] element @i has: i / run % n. */
static void
quant_steps (const LptArray *array,
             gint64         *run,
             gint64         *n)
{
  const LptQuant *quant = array->quant;
  const gboolean varies = quant != NULL && quant->axis >= 0 && quant->axis < array->shape.rank;

  *n = varies ? quant->n : 1;
  *run = varies ? lpt_quant_run (quant, &array->shape) : 1;
}

static double
code_to_real (const LptQuant *quant,
              gint64          channel,
              gint64          code)
{
  return quant == NULL ? (double) code : quant->scale[channel] * (double) (code - quant->zero_point[channel]);
}

static gint64
real_to_code (const LptQuant *quant,
              LptDType        dtype,
              gint64          channel,
              double          x)
{
  double zero = quant != NULL ? quant->zero_point[channel] : 0;

  if (isnan (x))      /* the lowest code, as ONNX Runtime has it */
    return quant != NULL ? (gint64) lpt_dtype_min (dtype) : 0;
  x = nearbyint (quant != NULL ? x / quant->scale[channel] : x) + zero;
  if (x < lpt_dtype_min (dtype))
    x = lpt_dtype_min (dtype);
  if (x > lpt_dtype_max (dtype))
    x = lpt_dtype_max (dtype);

  return real_to_i64 (x);
}

/* The type whose range codes of @array have: less than 8 bits are stored in 8. */
static LptDType
code_type (const LptArray *array)
{
  const gboolean narrow = array->quant != NULL && lpt_dtype_is_integer (array->declared) &&
                          lpt_dtype_bits (array->declared) < 8;

  return narrow ? array->declared : array->dtype;
}

gint64
lpt_array_requantize (const LptArray *in,
                      gint64          from,
                      const LptArray *out,
                      gint64          to,
                      gint64          code)
{
  return real_to_code (out->quant, code_type (out), to, (float) code_to_real (in->quant, from, code));
}

static gboolean
absent (guint    i,
        GError **error)
{
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input %u is missing", i);

  return FALSE;
}

const float *
lpt_call_f32 (LptCall *call,
              guint    i,
              GError **error)
{
  const LptArray *in = &call->in[i];
  const LptQuant *quant = in->quant;
  gint64 k, count, run, n;
  float *copy;

  if (!lpt_call_has (call, i))
    {
      absent (i, error);
      return NULL;
    }
  if (in->dtype == LPT_DTYPE_F32)
    return in->data;

  count = lpt_array_count (in);
  copy = lpt_call_scratch (call, (gsize) count, sizeof (float), error);
  if (copy == NULL)
    return NULL;
  quant_steps (in, &run, &n);
  run = n == 1 ? count : run;
  for (k = 0; k < count; k += run)
    {
      const gint64 channel = k / run % n;

      lpt_codes_to_numbers ((const char *) in->data + (gsize) k * lpt_storage_size (in->dtype), in->dtype, run,
                            quant != NULL ? quant->scale[channel] : 1, quant != NULL ? quant->zero_point[channel] : 0,
                            copy + k);
    }

  return copy;
}

const gint64 *
lpt_call_i64 (LptCall *call,
              guint    i,
              GError **error)
{
  const LptArray *in = &call->in[i];
  gint64 k, count;
  gint64 *copy;

  if (!lpt_call_has (call, i))
    {
      absent (i, error);
      return NULL;
    }
  if (in->dtype == LPT_DTYPE_I64)
    return in->data;

  count = lpt_array_count (in);
  copy = lpt_call_scratch (call, (gsize) count, sizeof (gint64), error);
  if (copy == NULL)
    return NULL;
  if (in->dtype != LPT_DTYPE_F32)
    lpt_codes_to_words (in->data, in->dtype, count, copy);
  for (k = 0; k < count && in->dtype == LPT_DTYPE_F32; k++)
    copy[k] = real_to_i64 (((const float *) in->data)[k]);

  return copy;
}

static gpointer
out_as (LptCall *call,
        guint    o,
        LptDType dtype,
        GError **error)
{
  LptArray *out = &call->out[o];

  if (out->dtype == dtype && out->quant == NULL)
    return out->data;
  if (call->pending[o] == NULL)
    {
      call->pending[o] = lpt_call_scratch (call, (gsize) lpt_array_count (out), lpt_storage_size (dtype), error);
      call->pending_dtype[o] = dtype;
    }

  return call->pending[o];
}

float *
lpt_call_out_f32 (LptCall *call,
                  guint    o,
                  GError **error)
{
  return out_as (call, o, LPT_DTYPE_F32, error);
}

gint64 *
lpt_call_out_i64 (LptCall *call,
                  guint    o,
                  GError **error)
{
  return out_as (call, o, LPT_DTYPE_I64, error);
}

/* Results in another form than the storage of their output. */
static void
write_back (LptCall *call)
{
  guint o;

  for (o = 0; o < call->n_out && o < LPT_CALL_MAX_OUT; o++)
    {
      const LptArray *out = &call->out[o];
      gint64 k, count, run, n;

      if (call->pending[o] == NULL)
        continue;
      count = lpt_array_count (out);
      quant_steps (out, &run, &n);
      if (call->pending_dtype[o] == LPT_DTYPE_I64 && out->dtype == LPT_DTYPE_F32)
        for (k = 0; k < count; k++)
          ((float *) out->data)[k] = (float) ((gint64 *) call->pending[o])[k];
      else if (call->pending_dtype[o] == LPT_DTYPE_I64)
        lpt_words_to_codes (call->pending[o], count, out->dtype, out->data);
      else
        for (k = 0; k < count; k++)
          code_set (out->data, out->dtype, k,
                    real_to_code (out->quant, code_type (out), k / run % n, ((float *) call->pending[o])[k]));
    }
}

gpointer
lpt_call_scratch (LptCall *call,
                  gsize    count,
                  gsize    size,
                  GError **error)
{
  gsize bytes;

  if (!g_size_checked_mul (&bytes, count, size))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_MEMORY, "no memory for %" G_GSIZE_FORMAT " elements", count);
      return NULL;
    }

  return lpt_scratch_take (call->scratch, bytes, error);
}

gboolean
lpt_call_set_shape (LptCall        *call,
                    guint           o,
                    const LptShape *shape,
                    GError        **error)
{
  LptArray *out = &call->out[o];

  if (out->data != NULL)
    {
      g_autofree char *is = NULL, *was = NULL;

      if (lpt_shape_equal (&out->shape, shape))
        return TRUE;
      is = lpt_shape_to_string (shape);
      was = lpt_shape_to_string (&out->shape);
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "output %u has shape [%s], not [%s] as inferred", o, is, was);
      return FALSE;
    }

  out->shape = *shape;

  return lpt_array_alloc (out, error);
}

gboolean
lpt_call_int (LptCall *call,
              guint    i,
              gint64   fallback,
              gint64  *value,
              GError **error)
{
  const gint64 *v;

  *value = fallback;
  if (!lpt_call_has (call, i))
    return TRUE;
  if (lpt_array_count (&call->in[i]) != 1)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input %u has %" G_GINT64_FORMAT " elements, not one", i,
                   lpt_array_count (&call->in[i]));
      return FALSE;
    }
  v = lpt_call_i64 (call, i, error);
  if (v == NULL)
    return FALSE;
  *value = v[0];

  return TRUE;
}

gboolean
lpt_call_axis (LptCall *call,
               gint64   axis,
               gint     rank,
               gint    *out,
               GError **error)
{
  if (lpt_axis_normalize (axis, rank, out))
    return TRUE;

  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "axis %" G_GINT64_FORMAT " is outside rank %d", axis, rank);

  return FALSE;
}

gboolean
lpt_call_refuse_zero (const LptCall *call,
                      GError       **error)
{
  LptWeightedView view;

  if (!lpt_weighted_view (call->node, &view) || !lpt_call_has (call, view.zero))
    return TRUE;

  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
               "unsupported: a zero point that is computed, of a product that is not on 8-bit codes");

  return FALSE;
}

gboolean
lpt_call_is_integer (const LptCall *call)
{
  guint i;

  if (call->node->flags & LPT_NODE_RELAXED)
    return FALSE;
  for (i = 0; i < call->n_in; i++)
    if (lpt_call_has (call, i) && (!lpt_dtype_is_integer (call->in[i].declared) || call->in[i].quant != NULL))
      return FALSE;

  return call->n_in > 0;
}

gboolean
lpt_call_wraps (const LptCall *call)
{
  return lpt_call_is_integer (call) && call->n_out > 0 && lpt_dtype_is_integer (call->out[0].declared) &&
         call->out[0].quant == NULL;
}

const gint64 *
lpt_call_whole (LptCall *call,
                guint    i,
                GError **error)
{
  const LptArray *in = &call->in[i];
  gint64 k, count;
  gint64 *copy;

  if (!lpt_call_has (call, i) || in->dtype != LPT_DTYPE_F32)
    return lpt_call_i64 (call, i, error);
  count = lpt_array_count (in);
  copy = lpt_call_scratch (call, (gsize) count, sizeof (gint64), error);
  for (k = 0; copy != NULL && k < count; k++)
    copy[k] = real_to_i64 (nearbyintf (((const float *) in->data)[k]));

  return copy;
}

gboolean
lpt_call_is_wide (const LptCall *call)
{
  return call->node->graph->ir_version != 0 && call->n_out > 0 && lpt_dtype_bits (call->out[0].declared) <= 16;
}

void
lpt_call_wrap (const LptCall *call,
               gint64        *values,
               gint64         n)
{
  const LptDType dtype = call->out[0].declared;

  if (lpt_dtype_is_integer (dtype) && !lpt_call_is_wide (call))
    lpt_wrap_words (values, n, dtype);
}

gboolean
lpt_call_element (LptCall *call,
                  guint    i,
                  guint    o,
                  gpointer to,
                  GError **error)
{
  const LptArray *in = &call->in[i], *out = &call->out[o];
  double x;

  if (lpt_array_count (in) < 1)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input %u is empty", i);
      return FALSE;
    }
  if (lpt_array_keeps_codes (out, in))
    {
      memcpy (to, in->data, lpt_storage_size (out->dtype));
      return TRUE;
    }

  x = in->dtype == LPT_DTYPE_F32 ? ((const float *) in->data)[0]
                                 : code_to_real (in->quant, 0, code_get (in->data, in->dtype, 0));
  if (out->dtype == LPT_DTYPE_F32)
    *(float *) to = (float) x;
  else
    code_set (to, out->dtype, 0, real_to_code (out->quant, code_type (out), 0, x));

  return TRUE;
}

void
lpt_call_zero (LptCall *call,
               guint    o,
               gpointer to)
{
  const LptArray *out = &call->out[o];

  if (out->dtype == LPT_DTYPE_F32)
    *(float *) to = 0;
  else
    code_set (to, out->dtype, 0, out->quant != NULL ? real_to_code (out->quant, code_type (out), 0, 0) : 0);
}

/* --- running --- */

static gboolean
has_quant (const LptArray *arrays,
           guint           n)
{
  guint i;

  for (i = 0; i < n; i++)
    if (arrays[i].quant != NULL)
      return TRUE;

  return FALSE;
}

/* An integer without quantization that is made of codes is a whole number of its type, of the number that they stand
 * for: half to even, saturating, as codes are. All that read it, integer ops and outputs, see the same. What may mix
 * types (LPT_NODE_RELAXED) computes real numbers whatever types it has. */
static void
round_numbers (LptCall *call)
{
  if ((call->node->flags & LPT_NODE_RELAXED) || !has_quant (call->in, call->n_in))
    return;
  for (guint o = 0; o < call->n_out; o++)
    {
      const LptArray *out = &call->out[o];
      float *y = out->data;

      if (out->dtype != LPT_DTYPE_F32 || out->quant != NULL || !lpt_dtype_is_integer (out->declared))
        continue;
      for (gint64 k = 0; k < lpt_array_count (out); k++)
        y[k] = (float) real_to_code (NULL, out->declared, 0, y[k]);
    }
}

/* Takes quantization off the arrays for the time of the call: the op sees codes as numbers. */
static gboolean
run_on_codes (LptCall         *call,
              const LptExecOp *row,
              GError         **error)
{
  LptArray *arrays[2] = { call->in, call->out };
  guint n[2] = { call->n_in, call->n_out }, i, k;
  LptQuant *kept[2][LPT_CALL_MAX_OUT] = { { NULL } };
  gboolean ok;

  for (k = 0; k < 2; k++)
    for (i = 0; i < MIN (n[k], LPT_CALL_MAX_OUT); i++)
      kept[k][i] = g_steal_pointer (&arrays[k][i].quant);

  ok = row->run (call, error);
  if (ok)
    write_back (call);

  for (k = 0; k < 2; k++)
    for (i = 0; i < MIN (n[k], LPT_CALL_MAX_OUT); i++)
      arrays[k][i].quant = kept[k][i];

  return ok;
}

static gboolean
run_row (LptCall         *call,
         const LptExecOp *row,
         GError         **error)
{
  gboolean quantised;
  LptArray *in = call->in;
  gboolean ok;

  if (call->integer != NULL)
    return call->integer->call (call->integer, call, error);
  if (row->flags & LPT_EXEC_NONE)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: %s cannot be executed",
                   call->node->info->name);
      return FALSE;
    }
  if (!lpt_call_read_plain (call, error))
    return FALSE;
  quantised = has_quant (call->in, call->n_in) || has_quant (call->out, call->n_out);
  if (quantised && (row->flags & LPT_EXEC_CODES) && call->n_in > 0 &&
      lpt_array_keeps_codes (&call->out[0], &call->in[0]))
    return run_on_codes (call, row, error);

  ok = row->run (call, error);
  if (ok)
    write_back (call);
  if (ok && quantised)
    round_numbers (call);
  call->in = in;

  return ok;
}

gboolean
lpt_call_run (LptCall *call,
              GError **error)
{
  const LptExecOp *row = lpt_exec_node (call->node);
  gboolean ok = TRUE;
  guint o;

  memset (call->pending, 0, sizeof call->pending);
  if (call->n_out > LPT_CALL_MAX_OUT && !(row->flags & LPT_EXEC_MOVES))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\": unsupported: more than %d outputs",
                   call->node->name, LPT_CALL_MAX_OUT);
      return FALSE;
    }

  if (!(row->flags & LPT_EXEC_SHAPE))
    {
      gboolean known = !lpt_exec_is_held (call->node);

      for (o = 0; o < call->n_out; o++)
        known = known && lpt_shape_is_static (&call->out[o].shape);
      /* Integer ops take the lengths as inferred: those that only a run knows are held against each other. */
      for (o = 0; o < call->n_in && call->integer != NULL; o++)
        known = known && (call->node->in[o].value == NULL || lpt_shape_is_static (&call->node->in[o].value->shape));
      if (!known && !lpt_call_infer (call, error))
        return FALSE;     /* names the node itself */
      for (o = 0; o < call->n_out && ok; o++)
        if (!lpt_shape_is_static (&call->out[o].shape))
          {
            g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: the shape of output %u is not known",
                         o);
            ok = FALSE;
          }
        else if (call->out[o].data == NULL)
          ok = lpt_array_alloc (&call->out[o], error);
    }

  ok = ok && run_row (call, row, error);
  if (!ok)
    g_prefix_error (error, "node \"%s\": ", call->node->name);
  lpt_scratch_reset (call->scratch);

  return ok;
}
