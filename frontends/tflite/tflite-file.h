/* tflite-file.h - an open .tflite file: its bytes, its buffers, its operator codes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_FILE_H
#define LPT_TFLITE_FILE_H

#include "frontends/tflite/tflite-flat.h"

/* Numbers of the schema's enumerations that several files ask for. */
enum { TFL_SAME, TFL_VALID };
enum { TFL_ACT_NONE, TFL_ACT_RELU, TFL_ACT_RELU_N1_TO_1, TFL_ACT_RELU6, TFL_ACT_TANH, TFL_ACT_SIGN_BIT };
enum
{
  TFL_TYPE_FLOAT32 = 0,
  TFL_TYPE_FLOAT16 = 1,
  TFL_TYPE_INT32 = 2,
  TFL_TYPE_STRING = 5,
  TFL_TYPE_INT16 = 7,
  TFL_TYPE_COMPLEX64 = 8,
  TFL_TYPE_INT8 = 9,
  TFL_TYPE_COMPLEX128 = 11,
  TFL_TYPE_RESOURCE = 13,
  TFL_TYPE_VARIANT = 14,
  TFL_TYPE_LAST = 22
};

typedef struct
{
  LptTflFlat   flat;
  GBytes      *bytes;
  char        *folder;        /* of external buffers, or NULL */
  LptTflTable  model;
  LptTflVector codes, subgraphs, buffers;
  GHashTable  *externals;     /* path -> GBytes */
} LptTflFile;

/* @folder nullable. The verifier has gone over it, and it is schema 3. */
LptTflFile *lpt_tfl_file_new   (GBytes *bytes, const char *folder, GError **error);
LptTflFile *lpt_tfl_file_load  (const char *path, GError **error);
void        lpt_tfl_file_free  (LptTflFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptTflFile, lpt_tfl_file_free)

/* Where the bytes of a buffer lie in file->bytes. *size 0 and *given FALSE: it has none, so that its tensors are no
   constants. */
gboolean lpt_tfl_file_buffer (const LptTflFile *file, gint64 index, gsize *offset, gsize *size, gboolean *given,
                              GError **error);
/* The bytes of external buffer @id in *bytes (transfer none) from *offset on. */
gboolean lpt_tfl_file_external (LptTflFile *file, gint64 id, GBytes **bytes, gsize *offset, gsize *size,
                                GError **error);
/* Builtin code of entry @index of operator_codes; *custom is the name of a custom operator, else NULL. -1 + error. */
gint64 lpt_tfl_file_code (const LptTflFile *file, gint64 index, const char **custom, gint64 *version, GError **error);
/* LPT_DTYPE_UNDEFINED: resources, variants, complex numbers, unknown ones. */
LptDType    lpt_tfl_dtype         (gint64 type);
const char *lpt_tfl_type_name     (gint64 type);

#endif
