/* repair-round.c - each code of a weight up or down, whichever makes the layer's result better
 *
 * L = e' H e with e the error of the weights of one output channel in steps (hessian.c) and g = H e: one code more or
 * less, t = 1 or -1, changes L by 2 t g_k + H_kk. Codes are visited in turn; a change that makes L less is made, and g
 * follows by t H_k; until a sweep changes nothing, at most 20 times. A code stays within 1.5 of its weight. L never
 * grows, and starts at nearest rounding or at what an earlier repair chose.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/hessian.h"

#include <math.h>

#define SWEEPS 20
#define REACH  1.5

static void
round_row (gint64 d, const double *h, const double *w, double *codes, double low, double high, gpointer workspace)
{
  g_autofree double *g = g_new0 (double, d);
  for (gint64 a = 0; a < d; a++)
    {
      double e = codes[a] - w[a];
      for (gint64 b = 0; b < d; b++)
        g[b] += e * h[a * d + b];
    }
  for (guint sweep = 0, changed = 1; changed > 0 && sweep < SWEEPS; sweep++)
    {
      changed = 0;
      for (gint64 k = 0; k < d; k++)
        {
          double t = g[k] > 0.0 ? -1.0 : 1.0, code = codes[k] + t;
          if (!(2.0 * t * g[k] + h[k * d + k] < 0.0) || code < low || code > high || fabs (code - w[k]) > REACH)
            continue;
          codes[k] = code;
          changed++;
          for (gint64 b = 0; b < d; b++)
            g[b] += t * h[k * d + b];
        }
    }
}

gboolean
lpt_repair_round (LptQuantizer *q, GError **error)
{
  return lpt_quantize_round_rows (q, NULL, round_row, error);
}
