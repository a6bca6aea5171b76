/* bench/kernels/peer.h - the same shapes on oneDNN
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

#include "executor/kernels/igemm/conv.h"

typedef struct Peer Peer;

/* u8 x s8 -> u8 with a scale per output channel, a bias and a ReLU; layouts are oneDNN's own choice and reorders are
 * not part of a run. NULL where oneDNN refuses, or is not there (peer-none.c). */
Peer *peer_convolution (const LptConvShape *s);
Peer *peer_product     (size_t batch, size_t m, size_t k, size_t n, bool batched);
void  peer_run         (Peer *peer);
