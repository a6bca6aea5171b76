/* lpt-same-code.c - which difference between real numbers and integers is only what single precision rounds?
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-same-code.h"

#include <math.h>

#define MOST     1e-3       /* of a step */
#define NO_REST  1e-6

gboolean
lpt_same_code (double   x,
               double   whole,
               LptDType dtype)
{
  const double far = fmax (lpt_dtype_max (dtype) - lpt_dtype_min (dtype), fabs (whole));

  return fabs (x - whole) <= fmin (far / (1 << 22), MOST);
}

gboolean
lpt_is_lost_beside_codes (double   x,
                          LptDType dtype)
{
  return x != 0 && lpt_same_code (x, 0, dtype);
}

gboolean
lpt_are_lost_beside_codes (const double *x,
                           gint64        n,
                           LptDType      dtype)
{
  gboolean any = FALSE;

  for (gint64 i = 0; i < n; i++)
    {
      if (x[i] != 0 && !lpt_is_lost_beside_codes (x[i], dtype))
        return FALSE;
      any |= x[i] != 0;
    }

  return any;
}

gboolean
lpt_is_rest_of_sum (double x,
                    double sum)
{
  return fabs (x) < fmin (fmax (NO_REST, fabs (sum) / (1 << 21)), MOST);
}
