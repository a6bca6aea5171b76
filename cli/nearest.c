/* nearest.c - the known word that differs least: optimal string alignment distance
 *
 * d(i, j) = min (d(i-1, j) + 1, d(i, j-1) + 1, d(i-1, j-1) + [a_i != b_j], d(i-2, j-2) + 1 where the last two are
 * swapped)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "cli/nearest.h"

enum { MAX_LENGTH = 64 };

static guint
distance (const char *a, const char *b)
{
  gsize n = strlen (a), m = strlen (b);
  guint d[MAX_LENGTH + 1][MAX_LENGTH + 1];
  if (n > MAX_LENGTH || m > MAX_LENGTH)
    return G_MAXUINT;
  for (gsize i = 0; i <= n; i++)
    for (gsize j = 0; j <= m; j++)
      {
        if (i == 0 || j == 0)
          {
            d[i][j] = (guint) (i + j);
            continue;
          }
        d[i][j] = MIN (MIN (d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
          d[i][j] = MIN (d[i][j], d[i - 2][j - 2] + 1);
      }
  return d[n][m];
}

Nearest
nearest_begin (const char *word)
{
  return (Nearest) { word, NULL, (guint) (strlen (word) + 2) / 3 };
}

void
nearest_offer (Nearest *nearest, const char *candidate)
{
  guint d = distance (nearest->word, candidate);
  if (d < nearest->distance || (d == nearest->distance && nearest->best == NULL))
    {
      nearest->best = candidate;
      nearest->distance = d;
    }
}
