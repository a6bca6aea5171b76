/* data-case.h - samples that tests of data write and read
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <string.h>

#include <glib/gstdio.h>

#include <lpt/lpt-data.h>
#include <lpt/lpt-npy.h>

static char *scratch;

static inline char *
path_of (const char *name)
{
  return g_build_filename (scratch, name, NULL);
}

/* A model with the input "x". */
static inline LptGraph *
model (LptDType dtype, gint rank, const gint64 *dims)
{
  LptGraph *graph = lpt_graph_new ("g");
  LptNode *x = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, "x", 0, NULL);
  x->out[0].dtype = dtype;
  x->out[0].shape = lpt_shape_make (rank, dims);
  return graph;
}

/* u8 0, 1, 2, ... in @path. */
static inline void
save_range (const char *path, gint rank, const gint64 *dims)
{
  LptShape shape = lpt_shape_make (rank, dims);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) tensor = lpt_tensor_new (LPT_DTYPE_U8, &shape, &error);
  guint8 *v = lpt_tensor_writable (tensor);
  for (gint64 i = 0; i < lpt_tensor_count (tensor); i++)
    v[i] = (guint8) i;
  lpt_npy_save (path, tensor, &error);
  g_assert_no_error (error);
}

static inline LptData *
open_data (LptGraph *graph, const char *spec, const LptDataOptions *options)
{
  g_autoptr (GError) error = NULL;
  LptData *data = lpt_data_open (graph, (const char *const[]) { spec, NULL }, options, &error);
  g_assert_no_error (error);
  return data;
}

static inline LptTensor *
get (LptData *data, guint i)
{
  g_autoptr (GError) error = NULL;
  LptTensor *tensor = NULL;
  lpt_data_get (data, i, &tensor, &error);
  g_assert_no_error (error);
  return tensor;
}
