/* guest.c - the least that needs the library
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-op.h>

int
main (void)
{
  return lpt_op_find ("Convolution") == NULL;
}
