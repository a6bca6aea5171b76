/* npy.h - NumPy arrays: .npy and .npz
 *
 * Read: format versions 1 to 3, either byte order, C and Fortran order, real, integer and boolean types.
 * Written: version 1, little-endian, C order; bf16 as its bits in u16, 4-bit types as 8-bit ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_NPY_H
#define LPTC_NPY_H

#include <lpt/lpt-tensor.h>

/* @source: for messages. Little-endian C-order data is not copied (transfer full); NULL + error. */
LptTensor *npy_parse (GBytes *bytes, const char *source, GError **error);
LptTensor *npy_load  (const char *path, GError **error);
gboolean   npy_save  (const char *path, LptTensor *tensor, GError **error);

/* Asked with the header of an array, before its elements are read: FALSE = leave it out, or + error. */
typedef gboolean (*NpyWant) (const char *name, const LptShape *shape, gpointer data, GError **error);

/* Arrays of an archive, those that @want (nullable) wants, by name without ".npy": char * -> LptTensor * (transfer full); NULL + error. */
GHashTable *npz_load (const char *path, NpyWant want, gpointer data, GError **error);
gboolean    npz_save (const char *path, guint n, const char *const *names, LptTensor *const *tensors, GError **error);

#endif
