/* test-chunks.c - memory of tensors in chunks
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/storage/lpt-tensor-pages.h"

#include <string.h>

/* Zero-filled, aligned, apart from each other, whatever the order of sizes. */
static void
test_blocks (void)
{
  static const gsize sizes[] = { 1, 63, 64, 65, 70000, 1, 3000000, 5000000, 100, 20000000, 7 };
  LptChunks *chunks = lpt_chunks_new ();
  guint8 *blocks[G_N_ELEMENTS (sizes)];
  gsize i, k;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      blocks[i] = lpt_chunks_take (chunks, sizes[i], NULL, NULL);
      g_assert_nonnull (blocks[i]);
      g_assert_cmpuint ((guintptr) blocks[i] % 64, ==, 0);
      for (k = 0; k < sizes[i]; k++)
        g_assert_true (blocks[i][k] == 0);
      memset (blocks[i], (int) i + 1, sizes[i]);
    }
  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    g_assert_true (blocks[i][0] == i + 1 && blocks[i][sizes[i] - 1] == i + 1);
  g_assert_null (lpt_chunks_take (chunks, G_MAXSIZE, NULL, NULL));
  lpt_chunks_free (chunks);
}

static void
test_tensor_outlives (void)
{
  LptChunks *chunks = lpt_chunks_new ();
  LptShape shape = lpt_shape_make (2, (const gint64[]) { 300, 500 });
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) first = lpt_tensor_new_in (chunks, LPT_DTYPE_I8, &shape, &error);
  g_autoptr (LptTensor) second = lpt_tensor_new_in (chunks, LPT_DTYPE_U8, &shape, &error);
  g_autoptr (LptTensor) view = NULL;

  g_assert_no_error (error);
  memset (lpt_tensor_writable (first), 5, lpt_tensor_size (first));
  memset (lpt_tensor_writable (second), 6, lpt_tensor_size (second));
  view = lpt_tensor_reshape (second, &shape, &error);
  lpt_chunks_free (chunks);
  g_clear_pointer (&second, lpt_tensor_unref);
  g_assert_cmpint (lpt_tensor_get_i64 (first, 149999), ==, 5);
  g_assert_cmpint (lpt_tensor_get_i64 (view, 149999), ==, 6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/chunks/blocks", test_blocks);
  g_test_add_func ("/chunks/tensor-outlives", test_tensor_outlives);

  return g_test_run ();
}
