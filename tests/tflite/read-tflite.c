/* read-tflite.c - reads model after model from the standard input, a line for each: "read" or why not
 *
 * A model is its length, 32 bits, and its bytes. For test-tflite-broken.py, whose thousands of models are read by one
 * process, none of them with more memory than is behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-limits.h>
#include <lpt/lpt-tflite.h>

#include <stdio.h>
#include <string.h>

#define MAX_MEMORY (32 << 20)

int
main (void)
{
  guint32 n;
  g_autoptr (LptLimits) limits = lpt_limits_new ();
  lpt_limits_set_max_memory (limits, MAX_MEMORY);
  lpt_limits_set_thread (limits);

  while (fread (&n, sizeof n, 1, stdin) == 1)
    {
      guint8 *data = g_malloc (n);
      if (fread (data, 1, n, stdin) != n)
        return 1;
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = g_bytes_new_take (data, n);
      g_autoptr (LptGraph) graph = lpt_tflite_parse (bytes, NULL, NULL, 0, &error);
      /* More than a line is seen as more than a line. */
      puts (graph != NULL ? "read" : error->message);
      fflush (stdout);
    }
  return 0;
}
