/* bench/kernels/peer-none.c - no oneDNN on this machine: there is no peer of any shape
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "bench/kernels/peer.h"

#include <stddef.h>

Peer *
peer_convolution (const LptConvShape *s)
{
  return NULL;
}

Peer *
peer_product (size_t batch,
              size_t m,
              size_t k,
              size_t n,
              bool   batched)
{
  return NULL;
}

void
peer_run (Peer *peer)
{
}
