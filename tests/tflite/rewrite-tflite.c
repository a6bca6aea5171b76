/* rewrite-tflite.c - a model of any node-by-node form written anew: rewrite-tflite IN.tflite OUT.tflite [--behind]
 *
 * As lptc transform does with a changed graph, but for graphs that nobody changed, too; --behind: constants stand
 * behind the FlatBuffer. For test-tflite-write.py.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-tflite.h>

#include <stdio.h>

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  guint flags = LPT_TFLITE_ANEW | (argc > 3 ? LPT_TFLITE_BUFFERS_BEHIND : 0);
  g_autoptr (LptGraph) graph = argc > 2 ? lpt_tflite_load (argv[1], NULL, 0, &error) : NULL;
  if (graph != NULL && lpt_tflite_save (graph, argv[2], flags, &error))
    return 0;
  fprintf (stderr, "rewrite-tflite: %s\n", error != NULL ? error->message : "IN and OUT are missing");
  return 1;
}
