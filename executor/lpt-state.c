/* lpt-state.c - what variables hold from run to run of a context
 *
 * A ReadValue reads what the last run that went well assigned; before the first one, and after a reset, its initial
 * value. An Assign counts when its run is over, whatever the order of both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-state.h"

#include <string.h>

typedef struct { LptArray now, next; gboolean written; } State;

struct _LptStates { GHashTable *states; };

static void
state_free (gpointer data)
{
  State *state = data;
  lpt_array_clear (&state->now);
  lpt_array_clear (&state->next);
  g_free (state);
}

LptStates *
lpt_states_new (void)
{
  LptStates *states = g_new0 (LptStates, 1);
  states->states = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, state_free);
  return states;
}

void
lpt_states_free (LptStates *states)
{
  g_hash_table_unref (states->states);
  g_free (states);
}

static gsize
bytes_of (const LptArray *array)
{
  return (gsize) lpt_array_count (array) * lpt_storage_size (array->dtype);
}

gboolean
lpt_states_read (LptStates *states, const char *name, LptArray *out, gboolean *found, GError **error)
{
  State *state = g_hash_table_lookup (states->states, name);
  *found = FALSE;
  if (state == NULL || state->now.data == NULL)
    return TRUE;
  if (out->dtype != state->now.dtype || (out->data != NULL && !lpt_shape_equal (&out->shape, &state->now.shape)))
    {
      g_autofree char *is = lpt_shape_to_string (&state->now.shape), *wanted = lpt_shape_to_string (&out->shape);
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "variable \"%s\" holds [%s], not [%s]", name, is, wanted);
      return FALSE;
    }
  if (out->data == NULL)
    {
      out->shape = state->now.shape;
      if (!lpt_array_alloc (out, error))
        return FALSE;
    }
  memcpy (out->data, state->now.data, bytes_of (&state->now));
  *found = TRUE;
  return TRUE;
}

gboolean
lpt_states_write (LptStates *states, const char *name, const LptArray *value, GError **error)
{
  State *state = g_hash_table_lookup (states->states, name);
  if (state == NULL)
    {
      state = g_new0 (State, 1);
      g_hash_table_insert (states->states, g_strdup (name), state);
    }
  if (state->next.data == NULL || state->next.dtype != value->dtype
      || !lpt_shape_equal (&state->next.shape, &value->shape))
    {
      lpt_array_clear (&state->next);
      state->next = (LptArray) { .declared = value->declared, .dtype = value->dtype, .shape = value->shape };
      if (!lpt_array_alloc (&state->next, error))
        return FALSE;
    }
  memcpy (state->next.data, value->data, bytes_of (value));
  state->written = TRUE;
  return TRUE;
}

void
lpt_states_commit (LptStates *states, gboolean ok)
{
  GHashTableIter iter;
  gpointer value;
  if (g_hash_table_size (states->states) == 0)
    return;
  g_hash_table_iter_init (&iter, states->states);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      State *state = value, old = *state;
      gboolean written = state->written;
      state->written = FALSE;
      if (!ok || !written)
        continue;
      state->now = state->next;
      state->next = old.now;
    }
}

void
lpt_states_reset (LptStates *states)
{
  g_hash_table_remove_all (states->states);
}
