/* lpt-npy.h - NumPy arrays: .npy and .npz
 *
 * Read: format versions 1 to 3, either byte order, C and Fortran order, real, integer and boolean types.
 * Written: version 1, little-endian, C order; bf16 as its bits in u16, 4-bit types as 8-bit ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_NPY_H
#define LPT_NPY_H

#include <lpt/lpt-tensor.h>

G_BEGIN_DECLS

/* @source: for messages. Little-endian C-order data is not copied (transfer full); NULL + error. */
LPT_EXPORT LptTensor *lpt_npy_parse (GBytes *bytes, const char *source, GError **error);
LPT_EXPORT LptTensor *lpt_npy_load  (const char *path, GError **error);
LPT_EXPORT gboolean   lpt_npy_save  (const char *path, LptTensor *tensor, GError **error);

/* Asked with the header of an array, before its elements are read: FALSE = leave it out, or + error. */
typedef gboolean (*LptNpyWant) (const char *name, const LptShape *shape, gpointer data, GError **error);

/* Arrays of an archive, those that @want (nullable) wants, by name without ".npy": char * -> LptTensor * (transfer
 * full); NULL + error. */
LPT_EXPORT GHashTable *lpt_npz_load (const char *path, LptNpyWant want, gpointer data, GError **error);
LPT_EXPORT gboolean    lpt_npz_save (const char *path, guint n, const char *const *names, LptTensor *const *tensors, GError **error);

G_END_DECLS

#endif
