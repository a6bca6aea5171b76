/* svdf.c - LiteSVDF with constant weights, by sums of 16-bit products
 *
 * Each filter's product with the input, by the kernels of 8-bit products, rescaled, is the newest of its memory; the
 * memories of `rank` filters times their weights along time, plus a bias, are one result. The latter are sums of 16-bit
 * products. Where they could leave 32 bits the weights are 256 times an upper and a lower part of 8 bits: 256 such
 * products add up to 2^30 at most, and what they add up to is summed in 64 bits. Exact: the same codes as
 * eval/integer/lpt-lite-recurrent.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/integer/lpt-lite-svdf.h"
#include "executor/operators/lpt-operators.h"

/* Inputs, so that sums of their products fit 32 bits. */
#define MAX_INPUTS 65536
/* Products that are summed in 32 bits. */
#define PART 256

/* A multiplier's two roundings as shifts in 64 bits: v = (acc m + first.half) >> first.shift, then the same of v, less
 * one below 0 (`away`: ties go away from 0). */
typedef struct
{
  gint64 m, half[2], away;
  gint   shift[2];
} Rescale;

typedef struct
{
  LptLiteSvdf svdf;
  LptGemm     gemm;                      /* with the features, to int32 */
  LptEpilogue words;
  gint32     *zeros;                     /* what the input's zero point adds to the sums */
  gint16     *low, *high;                /* weights along time = 256 high + low, high 0 for units that are */
  guint8     *narrow;                    /* small enough */
  gint64     *bias;                      /* of units */
  Rescale     newest, result;
  gint32      y_zero;                    /* in u8 form */
} Svdf;

static inline gint64
rescale (const Rescale *r,
         gint64         acc)
{
  const gint64 v = (acc * r->m + r->half[0]) >> r->shift[0];

  return (v + r->half[1] - (v < 0 ? r->away : 0)) >> r->shift[1];
}

/* lpt_requant_single () and lpt_requant_double () but for saturation, which the limits of 16 bits and less hide. FALSE:
 * a shift or multiplier of no use. */
static gboolean
rescale_make (const LptMultiplier *m,
              Rescale             *r)
{
  const gboolean once = m->rounding == LPT_REQUANT_SINGLE || m->s > 0;
  const gint second = once ? 0 : -m->s;

  if (m->m == G_MININT32 || m->s > 30 || m->s < -31 ||
      (m->rounding != LPT_REQUANT_SINGLE && m->rounding != LPT_REQUANT_DOUBLE))
    return FALSE;
  r->m = m->m;
  r->shift[0] = once ? 31 - m->s : 31;
  r->half[0] = G_GINT64_CONSTANT (1) << (r->shift[0] - 1);
  r->shift[1] = second;
  r->half[1] = (G_GINT64_CONSTANT (1) << second) >> 1;
  r->away = second > 0;

  return TRUE;
}

/* The memories @a of a unit times its weights: within 32 bits. */
static inline gint32
along_time_narrow (const gint16 *a,
                   const gint16 *weights,
                   gsize         n)
{
  gint32 sum = 0;
  gsize k;

  for (k = 0; k < n; k++)
    sum += a[k] * weights[k];

  return sum;
}

/* The same of any weights. */
static inline gint64
along_time (const gint16 *a,
            const gint16 *low,
            const gint16 *high,
            gsize         n)
{
  gint64 all = 0;
  gsize from, k;

  for (from = 0; from < n; from += PART)
    {
      const gsize end = MIN (from + PART, n);
      gint32 lower = 0, upper = 0;

      for (k = from; k < end; k++)
        {
          lower += a[k] * low[k];
          upper += a[k] * high[k];
        }
      all += 256 * (gint64) upper + lower;
    }

  return all;
}

/* Sums of filters, later of units. */
static gsize
sums_size (const Svdf *p)
{
  return (p->gemm.n * sizeof (gint64) + 63) & ~(gsize) 63;
}

/* @sums as the newest of each filter's memory in @next. */
static void
put_newest (const Svdf   *p,
            const gint32 *sums,
            gint16       *next)
{
  const gsize memory = (gsize) p->svdf.memory, filters = p->gemm.n;
  const Rescale r = p->newest;
  gsize f;

  for (f = 0, next += memory - 1; f < filters; f++, next += memory)
    *next = (gint16) CLAMP (rescale (&r, sums[f]), G_MININT16, G_MAXINT16);
}

/* The sums of units in @sums, then their codes in @y. */
static void
put_units (const Svdf   *p,
           const gint16 *next,
           gint64       *sums,
           guint8       *y)
{
  const gsize units = p->gemm.n / (gsize) p->svdf.rank, length = (gsize) (p->svdf.rank * p->svdf.memory);
  const gint64 zero = p->y_zero;
  const Rescale r = p->result;
  gsize u;

  for (u = 0; u < units; u++)
    {
      const gsize at = u * length;

      sums[u] = p->bias[u] + (p->narrow[u] ? along_time_narrow (next + at, p->low + at, length)
                                           : along_time (next + at, p->low + at, p->high + at, length));
    }
  for (u = 0; u < units; u++)
    y[u] = (guint8) CLAMP (rescale (&r, lpt_requant_sat32 (sums[u])) + zero, 0, 255);
}

static void
run_item (const Svdf   *p,
          const guint8 *x,
          const gint16 *state,
          gint16       *next,
          guint8       *y,
          gpointer      workspace)
{
  LptGemm gemm = p->gemm;

  gemm.a = x;
  gemm.out = workspace;
  lpt_gemm_tile (&gemm, 0, 1, 0, gemm.n, (guint8 *) workspace + sums_size (p));
  memcpy (next, state + 1, (gemm.n * (gsize) p->svdf.memory - 1) * sizeof (gint16));
  put_newest (p, workspace, next);
  put_units (p, next, workspace, y);
}

static void
svdf_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Svdf *p = op->form.params;
  const gsize inputs = (gsize) p->svdf.inputs, units = (gsize) (p->svdf.filters / p->svdf.rank),
              length = (gsize) (p->svdf.filters * p->svdf.memory);

  for (; task < end; task++)
    run_item (p, data->in[0] + task * inputs, (const gint16 *) (gconstpointer) data->in[1] + task * length,
              (gint16 *) (gpointer) data->more[0] + task * length, data->out + task * units,
              data->workspace);
}

static void
svdf_clear (gpointer params)
{
  Svdf *p = params;

  lpt_aligned_free (p->zeros);
  lpt_aligned_free (p->low);
  lpt_aligned_free (p->high);
  lpt_aligned_free (p->narrow);
  lpt_aligned_free (p->bias);
}

static gboolean
is_weights (const LptProgramValue *value)
{
  return value != NULL && value->kind == LPT_STORAGE_CONST &&
         (value->array.dtype == LPT_DTYPE_I8 || value->array.dtype == LPT_DTYPE_I16);
}

static gboolean
is_state (const LptProgramValue *value)
{
  return value != NULL && value->array.dtype == LPT_DTYPE_I16 &&
         (value->array.quant == NULL || value->array.quant->zero_point[0] == 0);
}

/* FALSE: no memory. */
static gboolean
pack_features (LptProgram         *program,
               const LptProgramOp *op,
               Svdf               *p)
{
  const LptArray *w = &op->in[1]->array;
  const gsize k = (gsize) p->svdf.inputs, n = (gsize) p->svdf.filters;
  const LptGemmWeights weights = { .data = w->data, .taps = 1, .k = k, .n = n, .k_stride = 1, .n_stride = (ptrdiff_t) k };
  const LptGemmKernel *gemm = lpt_gemm_kernel_for (program->kernels.gemm, 1, k);
  LptPackedWeights packed = lpt_program_pack (program, op, gemm->name, NULL, 0, lpt_gemm_packed_size (gemm, 1, k, n), n);
  gsize c;

  p->zeros = lpt_program_array (n, sizeof (gint32));
  if (p->zeros == NULL || packed.data == NULL)
    return FALSE;
  if (packed.fresh)
    lpt_gemm_pack (gemm, &weights, 0, n, packed.data, packed.col_sum);
  for (c = 0; c < n; c++)
    p->zeros[c] = -lpt_program_zero (op->in[0]) * packed.col_sum[c];
  p->words = (LptEpilogue) { .store = LPT_STORE_I32, .bias = p->zeros };
  lpt_epilogue_prepare (&p->words, n, lpt_accumulator_bound (k));
  p->gemm = (LptGemm) { .kernel = gemm, .epilogue_kernel = program->kernels.epilogue, .epilogue = &p->words, .m = 1,
                        .k = k, .n = n, .lda = k, .packed = packed.data, .ldo = n * sizeof (gint32) };

  return TRUE;
}

/* The same. */
static gboolean
copy_weights (const LptProgramOp *op,
              Svdf               *p)
{
  const LptArray *time = &op->in[2]->array;
  const gsize units = (gsize) (p->svdf.filters / p->svdf.rank), length = (gsize) (p->svdf.rank * p->svdf.memory);
  gsize u, k;

  p->low = lpt_program_array (units * length, sizeof (gint16));
  p->high = lpt_program_array (units * length, sizeof (gint16));
  p->narrow = lpt_program_array (units, 1);
  p->bias = lpt_program_array (units, sizeof (gint64));
  if (p->low == NULL || p->high == NULL || p->narrow == NULL || p->bias == NULL)
    return FALSE;

  for (u = 0; u < units; u++)
    {
      gint64 reach = 0;

      for (k = u * length; k < (u + 1) * length; k++)
        reach += ABS ((gint64) lpt_int_at (time, (gint64) k)) << 15;
      p->narrow[u] = reach <= G_MAXINT32;
      for (k = u * length; k < (u + 1) * length; k++)
        {
          const gint32 w = (gint32) lpt_int_at (time, (gint64) k);

          p->low[k] = (gint16) (p->narrow[u] ? w : (gint8) (w & 0xff));
          p->high[k] = (gint16) ((w - p->low[k]) / 256);
        }
      p->bias[u] = op->n_in > 3 && op->in[3] != NULL ? lpt_int_at (&op->in[3]->array, (gint64) u) : 0;
    }

  return TRUE;
}

gboolean
lpt_prepare_svdf (LptProgram   *program,
                  LptProgramOp *op)
{
  Rescale newest, result;
  LptLiteSvdf svdf;
  LptOpForm form;
  Svdf *p;

  if (!is_weights (op->in[1]) || !is_weights (op->in[2]) ||
      (op->in[3] != NULL && op->in[3]->kind != LPT_STORAGE_CONST))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  if (!lpt_program_is_codes (op->in[0]) || op->in[0]->array.dtype != LPT_DTYPE_I8 || !lpt_program_is_codes (op->out[0]) ||
      !is_state (op->in[4]) || !is_state (op->out[1]) || op->in[1]->array.dtype != LPT_DTYPE_I8)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[1]->array.shape.dims[1] > MAX_INPUTS || lpt_array_count (&op->in[1]->array) == 0)
    return lpt_refuse (op, LPT_REMARK_RANGE);
  svdf = lpt_lite_svdf (op->node, &op->in[0]->array, &op->in[1]->array, &op->in[2]->array, &op->in[4]->array,
                        &op->out[0]->array);
  if (!rescale_make (&svdf.newest, &newest) || !rescale_make (&svdf.result, &result))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);

  p = g_new0 (Svdf, 1);
  p->svdf = svdf;
  p->newest = newest;
  p->result = result;
  p->y_zero = lpt_program_zero (op->out[0]);
  if (!pack_features (program, op, p) || !copy_weights (op, p))
    {
      svdf_clear (p);
      g_free (p);
      return lpt_refuse (op, LPT_REMARK_MEMORY);
    }
  form = (LptOpForm) {
    .run = svdf_run, .clear = svdf_clear, .params = p, .kernel = "svdf_s16", .tasks = (gsize) p->svdf.batch,
    .workspace = sums_size (p) + ((lpt_gemm_workspace (&p->gemm) + 63) & ~(gsize) 63), .n_in = 2,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_CODES }, { op->in[4], LPT_LAYOUT_TYPED }), .out = op->out[0],
    .out_layout = LPT_LAYOUT_CODES, .n_more = 1, .more = { op->out[1] } };
  lpt_program_set_form (op, &form);

  return TRUE;
}
