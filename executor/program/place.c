/* place.c - one arena for all values of known shape, by lifetime
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/program/lpt-arena.h"
#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-memory.h"
#include "ir/scalar/lpt-loop.h"

static gboolean
add_block (LptProgramValue *value,
           GArray          *blocks,
           GError         **error)
{
  LptArenaBlock block = { .first = MIN (value->first, value->last), .last = value->last };
  gint64 count;
  gsize size;

  if (!lpt_shape_count (&value->array.shape, &count) ||
      !g_size_checked_mul (&size, (gsize) count, lpt_storage_size (value->array.dtype)) || size > G_MAXSSIZE / 2)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_MEMORY, "node \"%s\": the output is too large for memory",
                   value->origin->producer->name);
      return FALSE;
    }
  block.size = (MAX (size, 1) + 63) & ~(gsize) 63;
  value->kind = LPT_STORAGE_ARENA;
  value->size = block.size;
  g_array_append_val (blocks, block);

  return TRUE;
}

gboolean
lpt_program_place (LptProgram *program,
                   GError    **error)
{
  g_autoptr (GArray) blocks = g_array_new (FALSE, FALSE, sizeof (LptArenaBlock));
  guint i, k = 0;
  gsize sum = 0;

  for (i = 0; i < program->values->len; i++)
    {
      LptProgramValue *value = program->values->pdata[i];

      if (value->kind == LPT_STORAGE_DYNAMIC && lpt_shape_is_static (&value->array.shape) &&
          !add_block (value, blocks, error))
        return FALSE;
    }
  for (i = 0; i < blocks->len; i++)
    if (!g_size_checked_add (&sum, sum, g_array_index (blocks, LptArenaBlock, i).size) || sum > G_MAXSSIZE)
      {
        lpt_memory_fail (G_MAXSSIZE, "an arena", error);
        return FALSE;
      }
  program->arena_size = lpt_arena_place ((LptArenaBlock *) blocks->data, blocks->len);
  program->arena_bound = lpt_arena_bound ((const LptArenaBlock *) blocks->data, blocks->len);
  for (i = 0; i < program->values->len; i++)
    {
      LptProgramValue *value = program->values->pdata[i];

      if (value->kind == LPT_STORAGE_ARENA)
        value->offset = g_array_index (blocks, LptArenaBlock, k++).offset;
    }
  /* No view of a view. */
  for (i = 0; i < program->values->len; i++)
    {
      LptProgramValue *value = program->values->pdata[i], *storage;
      gsize offset;

      if (value->kind != LPT_STORAGE_VIEW)
        continue;
      storage = lpt_program_storage (value, &offset);
      value->in = storage;
      value->offset = offset;
    }

  program->placed = TRUE;

  return TRUE;
}
