/* lpt-tensor-private.h - what a tensor is, for the files of lpt-tensor
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TENSOR_PRIVATE_H
#define LPT_TENSOR_PRIVATE_H

#include <lpt/lpt-tensor.h>

struct _LptTensor
{
  gatomicrefcount refs;
  LptDType   dtype;
  LptShape   shape;
  gint64     count;
  gsize      size;
  const guint8 *data;
  guint8    *own;        /* writable and aligned, allocated here or in a chunk; or NULL */
  GBytes    *bytes;      /* that chunk, or what the tensor is a slice of */
  gboolean   mapped;     /* which is a file */
  LptTensor *parent;     /* or of another tensor */
};

/* Do @count packed strings begin at @data, and in how many bytes? */
gboolean lpt_tensor_check_strings (const guint8 *data, gsize length, gint64 count, gsize *size, GError **error);
/* Element @i of a tensor that is being made. */
void lpt_tensor_store_f64 (LptTensor *tensor, gint64 i, double value);

#endif
