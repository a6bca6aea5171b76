/* arrays.h - arrays in and out of a model
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_ARRAYS_H
#define LPTC_ARRAYS_H

#include <lpt/lpt-data.h>

#define CMD_NO_SEED (-1)

/**
 * cmd_arrays_load:
 * @specs: NAME=FILE, FILE (for a model with one input) or FILE.npz (its arrays are called as the inputs); may be NULL.
 *   FILE is what lpt_data_load_input() reads
 * @options: (nullable): how images and arrays become inputs
 * @seed: of random arrays for inputs that none of them gives; CMD_NO_SEED = that is an error, unless nothing reads
 *   the input: zeros
 * @other: (nullable): the model that runs on them as well
 * @drawn: (out) (optional): how many inputs were drawn
 * Returns: (transfer full) (element-type LptTensor): one per graph->parameters; NULL: *code is the exit code, the
 *   message is printed
 */
GPtrArray *cmd_arrays_load_drawn (LptGraph *graph, LptGraph *other, char **specs, const LptDataOptions *options,
                                  gint64 seed, guint *drawn, int *code);
GPtrArray *cmd_arrays_load (LptGraph *graph, char **specs, const LptDataOptions *options, gint64 seed, int *code);

/* Writes @n arrays as @dir/NAME.npy (made when it is absent), or into one archive when @dir ends with .npz.
 * Names become file names; equal ones get "_2", ... */
gboolean   cmd_arrays_save (const char *dir, guint n, const char *const *names, LptTensor *const *tensors, GError **error);

/* Values of an input that is drawn: reals in the interval that a FakeQuantize or Quantize rounds it to, or one that
 * reads @twin (nullable), the same input of another model, else [-1, 1); 8-bit codes
 * over all their range; other integers below @below (CMD_DRAWN_BELOW), and below the length where they are seen to be
 * indices. Dynamic dimensions are 1. NULL + error. */
#define CMD_DRAWN_BELOW 10
LptTensor *cmd_arrays_random (LptNode *parameter, LptNode *twin, gint64 below, GRand *rand, GError **error);
/* Says behind what was wrong with @graph which input has lengths that are 1 for want of another number. */
void       cmd_arrays_name_open (LptGraph *graph, GError **error);

#endif
