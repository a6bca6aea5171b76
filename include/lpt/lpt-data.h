/* lpt-data.h - samples for a model: arrays, archives, folders, images, sound
 *
 * A source of samples gives one run's inputs at a time, read when they are asked for: what it holds in memory does not
 * grow with the number of samples. lpt_data_open() makes one from files; a program may bring its own.
 *
 *   data = lpt_data_open (graph, (const char *[]) { "photos", NULL }, &options, &error);
 *   for (guint i = 0; i < data->n; i++)
 *     if (!lpt_data_get (data, i, tensors, &error)) ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_DATA_H
#define LPT_DATA_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

typedef struct _LptData LptData;

/**
 * LptData:
 * @n: samples
 * @get: fills tensors[0 .. graph->parameters->len) (transfer full; none on error) with the inputs of sample @i
 * @name: of the file that sample @i came from, without its folder; NULL = none
 * @free: frees @self
 * Begin a structure of your own with this one. All calls come from one thread.
 */
struct _LptData
{
  guint        n;
  gboolean   (*get)  (LptData *self, guint i, LptTensor **tensors, GError **error);
  const char *(*name) (LptData *self, guint i);
  void       (*free) (LptData *self);
};

/* Inputs of sample @i: LptData.get. */
static inline gboolean
lpt_data_get (LptData *data, guint i, LptTensor **tensors, GError **error)
{
  return data->get (data, i, tensors, error);
}
/* File of sample @i, or NULL: LptData.name. */
static inline const char *
lpt_data_name (LptData *data, guint i)
{
  return data->name != NULL ? data->name (data, i) : NULL;
}
/* NULL allowed. */
static inline void        lpt_data_free (LptData *data) { if (data != NULL) data->free (data); }
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptData, lpt_data_free)

/* How the axes of an image lie. */
typedef enum { LPT_LAYOUT_GUESS, LPT_LAYOUT_NCHW, LPT_LAYOUT_NHWC } LptLayout;
/* Which channels an image has. */
typedef enum { LPT_CHANNELS_RGB, LPT_CHANNELS_BGR, LPT_CHANNELS_GRAY } LptChannels;

/**
 * LptImageFit:
 * @LPT_FIT_BILINEAR: stretched to the size of the input
 * @LPT_FIT_CROP: the shorter side to @shorter, then the middle
 * @LPT_FIT_PAD: the longer side fits, the rest is @pad, on both sides
 */
typedef enum { LPT_FIT_BILINEAR, LPT_FIT_CROP, LPT_FIT_PAD } LptImageFit;

/* What the model's metadata may say of images, where it does (frontends/data/model-info.c): mean and scale; the order
   of colours; whether the aspect is kept. */
typedef enum { LPT_DATA_NORMAL = 1, LPT_DATA_CHANNELS = 2, LPT_DATA_FIT = 4 } LptDataFromModel;

/* Zero-initialised = images in RGB, stretched, 0 .. 255; arrays as they are. Plain data; @remark is called by
 * the thread that reads the samples. */
typedef struct
{
  LptLayout   layout;        /* of the model's input; GUESS: channels are where 1, 3 or 4 is */
  LptChannels channels;
  LptImageFit fit;
  gint64      shorter;       /* CROP: 0 = 256 for 224, and so for other sizes */
  double      pad;           /* a level of the image, before mean and scale */
  guint       n_mean, n_scale;
  double      mean[4], scale[4];     /* (x - mean) / scale, one for all or one per channel of the model */
  gint64      limit;         /* samples at most; 0 = all */
  void (*remark) (const char *text, gpointer data); /* nullable: said once per input: "input \"x\": u8 becomes f32" */
  gpointer    remark_data;
  guint       from_model;    /* LptDataFromModel: for images, in place of what stands above */
} LptDataOptions;

/* The options from text: "NHWC"; "bgr"; "bilinear", "crop", "crop:256"; "123.7,116.3,103.5". FALSE + error. */
LPT_EXPORT gboolean   lpt_data_options_layout   (LptDataOptions *options, const char *text, GError **error);
LPT_EXPORT gboolean   lpt_data_options_channels (LptDataOptions *options, const char *text, GError **error);
LPT_EXPORT gboolean   lpt_data_options_resize   (LptDataOptions *options, const char *text, GError **error);
LPT_EXPORT gboolean   lpt_data_options_mean     (LptDataOptions *options, const char *text, GError **error);
LPT_EXPORT gboolean   lpt_data_options_scale    (LptDataOptions *options, const char *text, GError **error);

/**
 * lpt_data_open:
 * @specs: PATH for a model with one input, NAME=PATH else; ends with NULL. PATH is
 *   FILE.npy      samples stacked on the first axis, or one
 *   FILE.npz      the same for each input by its name
 *   an image      PNG, JPEG, BMP; FILE.wav mono, 16 bits, as f32 in [-1, 1); FILE:u8[1,3,8,8] bytes without a header
 *   a folder      of these, in the order of the bytes of their names
 * @options: (nullable)
 * Returns: (transfer full): holds on to @graph's inputs; NULL + error, which names the file
 */
LPT_EXPORT LptData *lpt_data_open (LptGraph *graph, const char *const *specs, const LptDataOptions *options,
                                   GError **error);

/* One file as it is: .npy, an image as u8[H,W,3], a sound, bytes with type and shape (transfer full); NULL + error. */
LPT_EXPORT LptTensor *lpt_array_load            (const char *path, GError **error);
/* One file as the array of an input, samples stacked: images fitted, everything normalized as @options (nullable) say
   (transfer full); NULL + error. */
LPT_EXPORT LptTensor *lpt_data_load_input (LptNode *parameter, const char *path, const LptDataOptions *options,
                                           GError **error);
/* Of an array that is no image: its channels turned where only that fits; where the input takes codes and it has
   another type, the codes of its numbers (transfer full); NULL + error. */
LPT_EXPORT LptTensor *lpt_data_fit_input  (LptNode *parameter, LptTensor *array, const LptDataOptions *options,
                                           GError **error);
/* Is it the name of an image, a sound, or bytes with type and shape? */
LPT_EXPORT gboolean   lpt_array_is_media        (const char *path);

/**
 * lpt_image_resize:
 * @image: u8[H,W,C]
 * Bilinear with the triangle widened by the factor when shrinking (Pillow's BILINEAR, to the bit): (transfer full);
 * NULL + error
 */
LPT_EXPORT LptTensor *lpt_image_resize          (LptTensor *image, gint64 height, gint64 width, GError **error);

G_END_DECLS

#endif
