/* npy-private.h - what the readers of arrays share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_NPY_PRIVATE_H
#define LPT_NPY_PRIVATE_H

#include <lpt/lpt-npy.h>

/* Files are read, not mapped: one that becomes shorter meanwhile is an error like others. */
typedef struct
{
  gssize    (*read) (gpointer from, gpointer to, gsize size);   /* up to @size bytes; < 0: an error */
  gpointer    from;
  const char *name;
} NpyStream;

typedef struct
{
  LptDType dtype;
  gboolean swap, fortran;
  LptShape shape;
} NpyHeader;

/* FALSE, and "SOURCE: ..." */
gboolean   npy_fail         (GError **error, const char *source, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* Of a FILE. */
gssize     npy_read_file    (gpointer from, gpointer to, gsize size);
#ifdef LPT_HAVE_LIBZIP
/* Of an entry of an archive, a zip_file_t. */
gssize     npy_read_zip     (gpointer from, gpointer to, gsize size);
/* What an entry is called, without ".npy". */
char      *npy_entry_name   (const char *entry);
/* Goes to its end, where the archive's check sum is compared. */
gboolean   npy_end_zip      (gpointer from, const char *source, GError **error);
#endif
/* What there is of @size bytes; G_MAXSIZE: an error. */
gsize      npy_fill         (const NpyStream *stream, guint8 *to, gsize size);
/* The stream stands at the elements then, *need bytes. */
gboolean   npy_load_header  (const NpyStream *stream, NpyHeader *h, gsize *need, GError **error);
/* The array that begins where @stream stands, if @want (nullable) wants it; NULL + error, without one: it is not
   wanted. */
LptTensor *npy_load_array   (const NpyStream *stream, const char *name, LptNpyWant want, gpointer data, GError **error);
/* @count elements of @data in C order and our byte order, as h->shape. */
LptTensor *npy_rearrange    (const NpyHeader *h, const guint8 *data, gint64 count, GError **error);
/* In a type that NumPy has (transfer full). */
LptTensor *npy_plain_tensor (LptTensor *tensor, const char **descr, GError **error);
GString   *npy_header_text  (const LptTensor *tensor, const char *descr);

#endif
