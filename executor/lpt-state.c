/* lpt-state.c - what variables hold from run to run of a context
 *
 * A ReadValue reads what the last run that went well assigned; before the first one, and after a reset, its initial
 * value. An Assign counts when its run is over, whatever the order of both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-state.h"

#include <string.h>

struct _LptState
{
  char    *name;
  LptArray now, next;
  gboolean written;
};

struct _LptStates
{
  GPtrArray *states;
};

static void
state_free (gpointer data)
{
  LptState *state = data;

  lpt_array_clear (&state->now);
  lpt_array_clear (&state->next);
  g_free (state->name);
  g_free (state);
}

LptStates *
lpt_states_new (void)
{
  LptStates *states = g_new0 (LptStates, 1);

  states->states = g_ptr_array_new_with_free_func (state_free);

  return states;
}

void
lpt_states_free (LptStates *states)
{
  g_ptr_array_unref (states->states);
  g_free (states);
}

LptState *
lpt_states_get (LptStates *states, const char *name)
{
  LptState *state;
  guint i;

  for (i = 0; i < states->states->len; i++)
    if (g_str_equal (((LptState *) states->states->pdata[i])->name, name))
      return states->states->pdata[i];
  state = g_new0 (LptState, 1);
  state->name = g_strdup (name);
  g_ptr_array_add (states->states, state);

  return state;
}

static gsize
bytes_of (const LptArray *array)
{
  return (gsize) lpt_array_count (array) * lpt_storage_size (array->dtype);
}

gboolean
lpt_state_read (const LptState *state, LptArray *out, gboolean *found, GError **error)
{
  *found = FALSE;
  if (state->now.data == NULL)
    return TRUE;
  if (out->dtype != state->now.dtype || (out->data != NULL && !lpt_shape_equal (&out->shape, &state->now.shape)))
    {
      g_autofree char *is = lpt_shape_to_string (&state->now.shape), *wanted = lpt_shape_to_string (&out->shape);
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "variable \"%s\" holds [%s], not [%s]",
                   state->name, is, wanted);
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
lpt_state_write (LptState *state, const LptArray *value, GError **error)
{
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
  guint i;

  for (i = 0; i < states->states->len; i++)
    {
      LptState *state = states->states->pdata[i], old = *state;

      state->written = FALSE;
      if (!ok || !old.written)
        continue;
      state->now = old.next;
      state->next = old.now;
    }
}

void
lpt_states_reset (LptStates *states)
{
  guint i;

  for (i = 0; i < states->states->len; i++)
    {
      LptState *state = states->states->pdata[i];

      lpt_array_clear (&state->now);
      lpt_array_clear (&state->next);
      state->written = FALSE;
    }
}
