/* lpt-blob.h - the weights file of a model: bytes of its constants, equal ones once
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_BLOB_H
#define LPT_BLOB_H

#include <lpt/lpt-tensor.h>
#include <stdio.h>

typedef struct
{
  FILE       *stream;     /* not owned */
  gsize       align;      /* of offsets */
  guint64     size;       /* bytes written so far */
  GHashTable *seen;       /* GBytes * -> guint64 * */
} LptBlob;

void    lpt_blob_init  (LptBlob *blob, FILE *stream, gsize align);
/* Offset of the tensor's bytes. @tensor must outlive @blob. Errors show up in the stream. */
guint64 lpt_blob_add   (LptBlob *blob, LptTensor *tensor);
void    lpt_blob_clear (LptBlob *blob);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptBlob, lpt_blob_clear)

#endif
