/* driver.c - runs a fuzz target without libFuzzer: every file of the given folders as it is, then cut off and with
 * bytes changed (LPT_FUZZ_MUTATIONS times each, 100 by default), or as the target's own mutator changes it (3 times, 60
 * with LPT_TEST_NIGHTLY=1); seeded by the file's content
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/fuzz.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pieces that formats give a meaning to. */
static const char *const words[] = { "-1", "0", "18446744073709551615", "9223372036854775807", "4294967296", "\"", "<", "]", "}", "&lt;", "nan", "...", ",", "\n" };

/* The input is handed over in a block of its own, so that reading past its end is seen. */
static void
run (const guint8 *data, gsize size)
{
  guint8 *block = malloc (size > 0 ? size : 1);
  memcpy (block, data, size);
  LLVMFuzzerTestOneInput (block, size);
  free (block);
}

/* Each change starts from the one before, so that some go far. */
static void
mutate_by_target (const guint8 *data, gsize size, GRand *rand)
{
  gsize max = size + 4096;
  g_autofree guint8 *text = g_malloc (max);
  memcpy (text, data, size);
  for (int k = g_rand_int_range (rand, 1, 4); k > 0; k--)
    size = LLVMFuzzerCustomMutator (text, size, max, g_rand_int (rand));
  run (text, size);
}

static void
mutate (const guint8 *data, gsize size, GRand *rand)
{
  if (LLVMFuzzerCustomMutator != NULL)
    {
      mutate_by_target (data, size, rand);
      return;
    }
  g_autoptr (GByteArray) bytes = g_byte_array_sized_new ((guint) size + 64);
  g_byte_array_append (bytes, data, (guint) size);
  for (int k = g_rand_int_range (rand, 1, 5); k > 0 && bytes->len > 0; k--)
    {
      guint at = (guint) g_rand_int_range (rand, 0, (gint32) bytes->len);
      switch (g_rand_int_range (rand, 0, 4))
        {
        case 0:
          bytes->data[at] = (guint8) g_rand_int_range (rand, 0, 256);
          break;
        case 1:
          {
            guint n = (guint) g_rand_int_range (rand, 1, 17);
            g_byte_array_remove_range (bytes, at, MIN (bytes->len - at, n));
          }
          break;
        case 2:
          {
            const char *word = words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))];
            for (guint i = 0; word[i] != '\0' && at + i < bytes->len; i++)
              bytes->data[at + i] = (guint8) word[i];
          }
          break;
        default:
          {
            guint from = (guint) g_rand_int_range (rand, 0, (gint32) bytes->len),
                  n = MIN (bytes->len - MAX (at, from), 32);
            memmove (bytes->data + at, bytes->data + from, n);
          }
        }
    }
  run (bytes->data, bytes->len);
}

int
main (int argc, char **argv)
{
  const char *text = g_getenv ("LPT_FUZZ_MUTATIONS");
  guint64 usual = LLVMFuzzerCustomMutator == NULL ? 100 : g_getenv ("LPT_TEST_NIGHTLY") != NULL ? 60 : 3;
  guint64 mutations = text != NULL ? g_ascii_strtoull (text, NULL, 10) : usual;
  guint n = 0;
  puts ("TAP version 13");
  for (int i = 1; i < argc; i++)
    {
      g_autoptr (GDir) dir = g_dir_open (argv[i], 0, NULL);
      const char *name;
      while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *path = g_build_filename (argv[i], name, NULL), *data = NULL;
          gsize size;
          if (!g_file_get_contents (path, &data, &size, NULL))
            continue;
          g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
          g_autoptr (GRand) rand = g_rand_new_with_seed (g_bytes_hash (bytes));
          run ((const guint8 *) data, size);
          for (guint64 k = 0; k < mutations; k++)
            mutate ((const guint8 *) data, size, rand);
          printf ("ok %u %s\n", ++n, name);
          fflush (stdout);
        }
    }
  printf ("1..%u\n", n);
  return n > 0 ? 0 : 1;
}
