/* lpt-tensor-elements.h - the elements of a tensor in memory that is there
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TENSOR_ELEMENTS_H
#define LPT_TENSOR_ELEMENTS_H

#include <lpt/lpt-tensor.h>

/* All elements of @tensor, no strings, as lpt_tensor_convert() makes them, to memory of their size in @dtype. */
void lpt_tensor_write_as (const LptTensor *tensor, LptDType dtype, gpointer to);

#endif
