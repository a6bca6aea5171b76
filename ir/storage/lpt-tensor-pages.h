/* lpt-tensor-pages.h - where the memory of large tensors comes from and goes: chunks, mapped files
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TENSOR_PAGES_H
#define LPT_TENSOR_PAGES_H

#include <lpt/lpt-tensor.h>

#include "ir/storage/lpt-chunks.h"

/* Like lpt_tensor_new(), for one of many that stay as long as their graph. */
LptTensor *lpt_tensor_new_in (LptChunks *chunks, LptDType dtype, const LptShape *shape, GError **error);

/* The bytes of @tensor, made by lpt_tensor_new_bytes(), lie in a file that is mapped for reading only. */
void lpt_tensor_set_mapped (LptTensor *tensor);

/* The whole pages of such a tensor leave the process; they come back from the file when they are read. Nothing for
 * other tensors. */
void lpt_tensor_drop_pages (const LptTensor *tensor);

#endif
