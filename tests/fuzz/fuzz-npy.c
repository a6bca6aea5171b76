/* fuzz-npy.c - the reader of NumPy arrays
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/fuzz.h"

#include <lpt/lpt-npy.h>

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) tensor = lpt_npy_parse (bytes, "fuzz.npy", &error);
  g_assert ((tensor == NULL) == (error != NULL));
  if (tensor != NULL && lpt_tensor_count (tensor) > 0)
    lpt_tensor_get_f64 (tensor, lpt_tensor_count (tensor) - 1);
  return 0;
}
