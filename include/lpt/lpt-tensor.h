/* lpt-tensor.h - constant data: a typed, shaped, immutable array
 *
 * An LptTensor is atomically reference counted. Its bytes are little-endian,
 * row-major and packed (4-bit types: two elements a byte, the first in the low
 * half); they may be a slice of a mapped file, so that weights cost no copy.
 * Mapped bytes may be unaligned: read elements through the getters, or take an
 * aligned copy with lpt_tensor_aligned().
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TENSOR_H
#define LPT_TENSOR_H

#include <lpt/lpt-types.h>

G_BEGIN_DECLS

/* Elements of one type and a static shape. Shared by counting references, atomically; its bytes are not changed once it
 * is shared. */
typedef struct _LptTensor LptTensor;

LPT_EXPORT LptTensor *lpt_tensor_ref   (LptTensor *tensor);   /* any thread */
LPT_EXPORT void       lpt_tensor_unref (LptTensor *tensor);   /* any thread; NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptTensor, lpt_tensor_unref)

/* Bytes of @count elements; FALSE on overflow, and of strings, which have no size of their own. */
LPT_EXPORT gboolean   lpt_tensor_byte_size   (LptDType dtype, gint64 count, gsize *size);
/* The same; of strings the size that a file states. */
LPT_EXPORT gboolean   lpt_tensor_stated_size (LptDType dtype, gint64 count, guint64 stated, gsize *size);

/**
 * lpt_tensor_new:
 * Zero-filled, 64-byte aligned, writable through lpt_tensor_writable() until shared.
 * Returns: (transfer full): NULL with LPT_ERROR_MEMORY or LPT_ERROR_INVALID (dynamic or overflowing shape)
 */
LPT_EXPORT LptTensor *lpt_tensor_new         (LptDType dtype, const LptShape *shape, GError **error);
/* A copy of @data, which holds the packed elements. */
LPT_EXPORT LptTensor *lpt_tensor_new_copy    (LptDType dtype, const LptShape *shape, gconstpointer data, GError **error);
/* A view of @bytes (a reference is taken) from @offset on; checks that they suffice. Strings are packed
 * (lpt_tensor_new_strings()), and say themselves how long they are. */
LPT_EXPORT LptTensor *lpt_tensor_new_bytes   (LptDType dtype, const LptShape *shape, GBytes *bytes, gsize offset, GError **error);
/* As many strings as @shape has elements, of any bytes: kept in constants, not computed. They are packed as in an
 * OpenVINO IR. */
LPT_EXPORT LptTensor *lpt_tensor_new_strings (const LptShape *shape, const char *const *strings, const gsize *lengths, GError **error);
/* One of them, without a zero byte behind it (transfer none). */
LPT_EXPORT const char *lpt_tensor_string     (const LptTensor *tensor, gint64 i, gsize *length);
/* One element, which cannot fail; rank 0. */
LPT_EXPORT LptTensor *lpt_tensor_scalar      (LptDType dtype, double value);
/* NULL when memory runs out. */
LPT_EXPORT LptTensor *lpt_tensor_vector_i64  (guint n, const gint64 *values);
/* @values converted to @dtype (nearest even for half floats, lpt_tensor_convert()'s rule for integers). */
LPT_EXPORT LptTensor *lpt_tensor_from_f64    (LptDType dtype, const LptShape *shape, const double *values, GError **error);
LPT_EXPORT LptTensor *lpt_tensor_from_f32    (const LptShape *shape, const float *values, GError **error);

LPT_EXPORT LptDType        lpt_tensor_dtype    (const LptTensor *tensor);   /* of its elements */
LPT_EXPORT const LptShape *lpt_tensor_shape    (const LptTensor *tensor);   /* static (transfer none) */
LPT_EXPORT gint64          lpt_tensor_count    (const LptTensor *tensor);   /* elements */
LPT_EXPORT gsize           lpt_tensor_size     (const LptTensor *tensor);   /* bytes */
LPT_EXPORT gconstpointer   lpt_tensor_data     (const LptTensor *tensor);   /* maybe unaligned */
LPT_EXPORT gpointer        lpt_tensor_writable (LptTensor *tensor);         /* only for the sole owner of a tensor made by lpt_tensor_new* */
/* The tensor itself (a new reference) when its bytes are aligned to 64, else an aligned copy; NULL + error. */
LPT_EXPORT LptTensor      *lpt_tensor_aligned  (LptTensor *tensor, GError **error);
/* The same bytes under another shape of as many elements. */
LPT_EXPORT LptTensor      *lpt_tensor_reshape  (LptTensor *tensor, const LptShape *shape, GError **error);

/* One element, any type; of strings 0. Integers beyond 2^53 lose bits in get_f64. */
LPT_EXPORT double     lpt_tensor_get_f64     (const LptTensor *tensor, gint64 i);
LPT_EXPORT gint64     lpt_tensor_get_i64     (const LptTensor *tensor, gint64 i);
/* All elements as f32 or f64 or i64 (transfer full, g_free); NULL + error when memory runs out. */
LPT_EXPORT float     *lpt_tensor_to_f32      (const LptTensor *tensor, GError **error);
LPT_EXPORT double    *lpt_tensor_to_f64      (const LptTensor *tensor, GError **error);
LPT_EXPORT gint64    *lpt_tensor_to_i64      (const LptTensor *tensor, GError **error);

/**
 * lpt_tensor_convert:
 * The Convert operation: real to integer truncates and then wraps (OpenVINO leaves out-of-range
 * open; NaN gives 0), integer to narrower integer is modulo, to boolean is != 0, real to half is nearest even.
 * Returns: (transfer full)
 */
LPT_EXPORT LptTensor *lpt_tensor_convert     (LptTensor *tensor, LptDType dtype, GError **error);
/* As convert, but real to integer rounds half to even (or half away) and saturates. */
typedef enum { LPT_ROUND_HALF_EVEN, LPT_ROUND_HALF_AWAY } LptRound;
/* As lpt_tensor_convert(); real to integer by @mode. */
LPT_EXPORT LptTensor *lpt_tensor_convert_round (LptTensor *tensor, LptDType dtype, LptRound mode, GError **error);

/* Floats that NumPy lacks as their bits, and back: u16 for bf16, u8 (one element a byte) for those of 8 and 4 bits. */
LPT_EXPORT gboolean   lpt_dtype_is_bits         (LptDType dtype, LptDType bits);    /* is @bits that type for @dtype? */
LPT_EXPORT LptTensor *lpt_tensor_to_bits        (LptTensor *tensor, GError **error);
LPT_EXPORT LptTensor *lpt_tensor_from_bits      (LptTensor *bits, LptDType dtype, GError **error);

LPT_EXPORT gboolean   lpt_tensor_is_scalar_like (const LptTensor *tensor);  /* one element, or all elements equal (0 elements: FALSE) */
LPT_EXPORT gboolean   lpt_tensor_equal          (const LptTensor *a, const LptTensor *b); /* type, shape and bytes */

G_END_DECLS

#endif
