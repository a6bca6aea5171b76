/* lpt-arena.h - placing blocks with known lifetimes in one memory
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

typedef struct
{
  gsize size;             /* multiple of the alignment */
  guint first, last;      /* lifetime, both ends included */
  gsize offset;           /* result */
} LptArenaBlock;

/* Sets offsets so that blocks that live at the same time do not overlap; returns the total size. */
gsize lpt_arena_place (LptArenaBlock *blocks, guint n);
/* The most bytes alive at one time. */
gsize lpt_arena_bound (const LptArenaBlock *blocks, guint n);
