/* data-private.h - what the sources of samples share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_DATA_PRIVATE_H
#define LPT_DATA_PRIVATE_H

#include <lpt/lpt-data.h>

#define DATA_MAX_SIDE   32768
#define DATA_MAX_PIXELS ((gint64) 1 << 28)

/* --- files --- */

gboolean   data_is_image   (const char *path);
LptTensor *data_load_image (const char *path, GError **error);       /* u8[H,W,3] */

/* --- rows of an array (npy-rows.c) --- */

typedef struct _DataRows DataRows;

/* @entry: of an archive, or NULL. NULL + error. */
DataRows       *data_rows_open  (const char *path, const char *entry, GError **error);
void            data_rows_free  (DataRows *rows);
const LptShape *data_rows_shape (const DataRows *rows);
/* Elements [first, first + count of @shape) as an array of @shape (transfer full); NULL + error. */
LptTensor      *data_rows_read  (DataRows *rows, gint64 first, const LptShape *shape, GError **error);
/* The names in an archive, without ".npy" (transfer full); NULL + error. */
GStrv           data_archive_names (const char *path, GError **error);

/* --- one sample (fit.c) --- */

/* How an array of samples fits an input of a model. */
typedef struct
{
  gint64   n;            /* samples in it */
  LptShape slice;        /* of one as it lies in the array */
  LptShape shape;        /* of one as the model takes it */
  gboolean transposed;   /* channels last in the array, first in the model, or the other way */
} DataFit;

/* FALSE: it does not. */
gboolean   data_fit        (const LptShape *has, const LptShape *model, DataFit *fit);
/* Where the model has its channels. */
LptLayout  data_layout     (const LptShape *model, LptLayout said);
/* Does (x - mean) / scale, and makes it the type of @value: (transfer full); NULL + error. */
LptTensor *data_normalize  (LptTensor *tensor, const LptValue *value, const LptDataOptions *options, GError **error);
/* Do the samples of @raw, normalized, reach so far beyond what the codes of @value hold that they are of another scale?
   Their ends. */
gboolean   data_misses_codes (LptTensor *raw, const LptValue *value, const LptDataOptions *options, double *low,
                              double *high);
/* Channels last to channels first, or back: [..,H,W,C] of @tensor (transfer full). */
LptTensor *data_transpose  (LptTensor *tensor, const LptShape *shape, GError **error);
/* @options with what the model of @value says of images (model-info.c). */
LptDataOptions data_options_for_images (const LptDataOptions *options, const LptValue *value);
/* What data_options_for_images() asks for. */
void       data_copy_model_info (const LptGraph *from, LptGraph *to);
/* " --mean 1 --scale 2": how @own differs from @options (transfer full); NULL = nowhere. */
char      *data_options_said (const LptDataOptions *options, const LptDataOptions *own);
/* An image u8[H,W,3] as the input @value (transfer full); NULL + error. */
LptTensor *data_fit_image  (LptTensor *image, const LptValue *value, const LptDataOptions *options, GError **error);

#endif
