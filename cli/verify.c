/* verify.c - holding a model after every change of a pass against the model before
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/verify.h"

#include "cli/arrays.h"
#include "cli/places.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/ties.h"

#include <lpt/lpt-body.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Float rounding: how far a value may move where a pass is exact in real numbers, as a share of the greatest one. */
#define FLOAT_NOISE (1.0 / (1 << 16))
/* What a change in a body does is seen at the outputs of its node, ties behind each other included: the mean then. */
#define BODY_NOISE 1e-3
/* Steps of quantization: nearer, and a value of a pass that is not exact counts as what stood there. */
#define STEPS (1.0 / 16)

typedef struct { const LptPass *pass; guint steps; guint64 ties, nans; double max, mean; } Moved;

struct _CmdVerify
{
  LptGraph  *graph;
  CmdPlaces *places;
  GArray    *moved;      /* of Moved, in order of appearance */
  guint      steps;
};

/* The source on drawn inputs, integers below @below. */
static CmdPlaces *
run_source (LptGraph *graph, gint64 below, GError **error)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (GPtrArray) tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      LptTensor *tensor = cmd_arrays_random (g_ptr_array_index (graph->parameters, i), NULL, below, rand, error);
      if (tensor == NULL)
        return NULL;
      g_ptr_array_add (tensors, tensor);
    }
  progress ("running the source", 0, 0);
  CmdPlaces *places = cmd_places_new (graph, (LptTensor *const *) tensors->pdata, error);
  progress_end ();
  return places;
}

CmdVerify *
cmd_verify_new (LptGraph *graph, GError **error)
{
  /* An integer may be an axis, an index or a length, of which few fit: where the source refuses some, smaller ones. */
  static const gint64 below[] = { CMD_DRAWN_BELOW, 2, 1 };
  GError *first = NULL;
  CmdPlaces *places = run_source (graph, below[0], &first);
  for (guint i = 1; places == NULL && i < G_N_ELEMENTS (below) && g_error_matches (first, LPT_ERROR, LPT_ERROR_INVALID); i++)
    {
      g_autoptr (GError) further = NULL;
      places = run_source (graph, below[i], &further);
    }
  if (places == NULL)
    {
      cmd_arrays_name_open (graph, &first);
      g_propagate_error (error, first);
      return NULL;
    }
  g_clear_error (&first);
  CmdVerify *verify = g_new0 (CmdVerify, 1);
  verify->graph = graph;
  verify->places = places;
  verify->moved = g_array_new (FALSE, FALSE, sizeof (Moved));
  return verify;
}

void
cmd_verify_free (CmdVerify *verify)
{
  if (verify == NULL)
    return;
  g_clear_pointer (&verify->places, cmd_places_free);
  g_clear_pointer (&verify->moved, g_array_unref);
  g_free (verify);
}

static Moved *
moved_by (CmdVerify *verify, const LptPass *pass)
{
  for (guint i = 0; i < verify->moved->len; i++)
    if (g_array_index (verify->moved, Moved, i).pass == pass)
      return &g_array_index (verify->moved, Moved, i);
  Moved fresh = { .pass = pass };
  g_array_append_val (verify->moved, fresh);
  return &g_array_index (verify->moved, Moved, verify->moved->len - 1);
}

static double
greatest (LptTensor *tensor)
{
  double max = 0.0;
  for (gint64 i = 0; i < lpt_tensor_count (tensor); i++)
    {
      double x = fabs (lpt_tensor_get_f64 (tensor, i));
      if (isfinite (x))
        max = fmax (max, x);
    }
  return max;
}

static gboolean
same_bits (LptTensor *a, LptTensor *b)
{
  return lpt_tensor_dtype (a) == lpt_tensor_dtype (b) && lpt_tensor_size (a) == lpt_tensor_size (b) &&
         memcmp (lpt_tensor_data (a), lpt_tensor_data (b), lpt_tensor_size (a)) == 0;
}

/* What passes promise of numbers: where the source has none, codes that stand there are as good. They are counted.
 * Returns @was as it is, or with the numbers of @is in their place. */
static LptTensor *
numbers_of (LptTensor *was, LptTensor *is, guint64 *nans)
{
  LptTensor *held = NULL;
  *nans = 0;
  if (lpt_tensor_dtype (was) != LPT_DTYPE_F32 || lpt_tensor_count (was) != lpt_tensor_count (is))
    return lpt_tensor_ref (was);
  for (gint64 i = 0; i < lpt_tensor_count (was); i++)
    if (isnan (lpt_tensor_get_f64 (was, i)) && !isnan (lpt_tensor_get_f64 (is, i)))
      {
        if (held == NULL)
          {
            held = lpt_tensor_new (LPT_DTYPE_F32, lpt_tensor_shape (was), NULL);
            if (held == NULL)
              break;
            memcpy (lpt_tensor_writable (held), lpt_tensor_data (was), lpt_tensor_size (was));
          }
        ((float *) lpt_tensor_writable (held))[i] = (float) lpt_tensor_get_f64 (is, i);
        ++*nans;
      }
  return held != NULL ? held : lpt_tensor_ref (was);
}

/* --- one place --- */

/* Float rounding and proven ties alone? Counts the ties. */
static gboolean
is_rounding (CmdPlaces *places, const CmdPlace *place, double scale, guint64 *ties)
{
  g_autoptr (CmdTies) proof = NULL;
  *ties = 0;
  for (gint64 i = 0; i < lpt_tensor_count (place->was); i++)
    {
      double x = lpt_tensor_get_f64 (place->was, i), y = lpt_tensor_get_f64 (place->is, i);
      if (fabs (x - y) <= FLOAT_NOISE * scale || x == y || (isnan (x) && isnan (y)))
        continue;
      if (proof == NULL && (proof = cmd_ties_new (places, place)) == NULL)
        return FALSE;
      if (fabs (x - y) <= FLOAT_NOISE * cmd_ties_range (proof, i))
        continue;
      if (!cmd_ties_has (proof, i))
        return FALSE;
      ++*ties;
    }
  return TRUE;
}

/* A reference run keeps fractions in values of small integer types, an AvgPool of u8; what the type can hold of
 * both? */
static gboolean
is_same_integer (const CmdPlace *place)
{
  LptDType dtype = place->before->dtype;
  if (dtype != place->after->dtype || !lpt_dtype_is_integer (dtype) || lpt_tensor_dtype (place->was) != LPT_DTYPE_F32)
    return FALSE;
  for (gint64 i = 0; i < lpt_tensor_count (place->was); i++)
    if (nearbyint (lpt_tensor_get_f64 (place->was, i)) != nearbyint (lpt_tensor_get_f64 (place->is, i)))
      return FALSE;
  return TRUE;
}

/* A reference run holds f16 and bf16 in f32; a constant that a pass computes is stored: the same number in its type? */
static gboolean
is_stored (const CmdPlace *place)
{
  LptDType dtype = place->after->dtype;
  if (!lpt_node_is_const (place->after->producer) || (dtype != LPT_DTYPE_F16 && dtype != LPT_DTYPE_BF16))
    return FALSE;
  g_autoptr (LptTensor) was = lpt_tensor_convert_round (place->was, dtype, LPT_ROUND_HALF_EVEN, NULL),
                        is = lpt_tensor_convert_round (place->is, dtype, LPT_ROUND_HALF_EVEN, NULL);
  return was != NULL && is != NULL && same_bits (was, is);
}

static CmdPlaceVerdict
judge (CmdPlaces *places, const CmdPlace *seen, gpointer data)
{
  Moved *moved = data;
  CmdPlace own = *seen;
  const CmdPlace *place = &own;
  g_autoptr (LptTensor) was = NULL;
  guint64 nans = 0;
  CmdDistance d;
  guint64 ties = 0;
  gboolean accepted;
  if (!lpt_shape_equal (lpt_tensor_shape (place->was), lpt_tensor_shape (place->is)) ||
      !lpt_quant_equal (place->before->quant, place->after->quant))
    return CMD_PLACE_OTHER;
  if (same_bits (place->was, place->is))
    return CMD_PLACE_SAME;
  own.was = was = numbers_of (seen->was, seen->is, &nans);
  if (!cmd_distance (place->was, place->is, &d))
    return CMD_PLACE_OTHER;
  double scale = fmax (greatest (place->was), greatest (place->is));
  switch (moved->pass->exactness)
    {
    case LPT_EXACT:
      accepted = d.max == 0.0 || is_same_integer (place) || is_stored (place);
      break;
    case LPT_EXACT_REAL:
      accepted = is_rounding (places, place, scale, &ties) || is_stored (place) ||
                 (lpt_node_n_bodies (place->after->producer) > 0 && d.mean <= BODY_NOISE * scale);
      break;
    default:
      accepted = d.mean <= STEPS * scale;
      break;
    }
  if (!accepted)
    return CMD_PLACE_OTHER;
  moved->ties += ties;
  moved->nans += nans;
  if (scale > 0.0)
    {
      moved->max = fmax (moved->max, d.max / scale);
      moved->mean = fmax (moved->mean, d.mean / scale);
    }
  return CMD_PLACE_ACCEPTED;
}

/* --- one change --- */

/* An output that no accepted value stands for. */
static gboolean
check_lost (Moved *moved, const CmdLost *lost, const char *at, GError **error)
{
  CmdDistance d;
  const char *name = lpt_result_name (lost->result);
  guint64 nans = 0;
  g_autoptr (LptTensor) was = numbers_of (lost->was, lost->is, &nans);
  double scale = fmax (greatest (was), greatest (lost->is));
  moved->nans += nans;
  if (!lpt_shape_equal (lpt_tensor_shape (was), lpt_tensor_shape (lost->is)) || !cmd_distance (was, lost->is, &d))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s at \"%s\" changed the shape of output \"%s\"",
                   moved->pass->name, at, name);
      return FALSE;
    }
  if ((moved->pass->exactness == LPT_EXACT || moved->pass->exactness == LPT_EXACT_REAL) && d.max != 0.0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "%s at \"%s\" changed output \"%s\" by up to %g (mean %g), which it must not", moved->pass->name, at,
                   name, d.max, d.mean);
      return FALSE;
    }
  if (scale > 0.0)
    {
      moved->max = fmax (moved->max, d.max / scale);
      moved->mean = fmax (moved->mean, d.mean / scale);
    }
  return TRUE;
}

gboolean
cmd_verify_step (CmdVerify *verify, const LptPass *pass, const char *node, GError **error)
{
  const char *at = node != NULL ? node : verify->graph->name;
  Moved *moved = moved_by (verify, pass);
  CmdLost lost;
  progress (pass->name, verify->steps++, 0);
  moved->steps++;
  if (!cmd_places_step (verify->places, judge, moved, &lost, error))
    {
      g_prefix_error (error, "after %s at \"%s\": ", pass->name, at);
      return FALSE;
    }
  return lost.result == NULL || check_lost (moved, &lost, at, error);
}

void
cmd_verify_print (CmdVerify *verify)
{
  guint64 nans = 0;
  printf ("%-46s %8s %14s %14s %8s\n", "verified", "changes", "max, relative", "mean, relative", "ties");
  for (guint i = 0; i < verify->moved->len; i++)
    {
      const Moved *m = &g_array_index (verify->moved, Moved, i);
      printf ("%-46s %8u %14.6g %14.6g %8" G_GUINT64_FORMAT "\n", m->pass->name, m->steps, m->max, m->mean, m->ties);
      nans = MAX (nans, m->nans);
    }
  if (nans > 0)
    printf ("the source has NaN where the result has numbers: %" G_GUINT64_FORMAT " values were not compared\n", nans);
}
