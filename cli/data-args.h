/* data-args.h - options of the sub-commands that read samples
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_DATA_ARGS_H
#define LPTC_DATA_ARGS_H

#include <lpt/lpt-data.h>

typedef struct
{
  char **data;
  char  *layout, *mean, *scale, *resize, *channels, *pad, *samples;
} CmdDataArgs;

/* How images and arrays become inputs, as rows of a table of options. */
#define CMD_IMAGE_ENTRIES(args) \
  { "layout", 0, 0, G_OPTION_ARG_STRING, &(args)->layout, \
    "Of the model's input: where its channels are", "NHWC|NCHW" }, \
  { "channels", 0, 0, G_OPTION_ARG_STRING, &(args)->channels, \
    "Order in which the model takes colours", "rgb|bgr|gray" }, \
  { "resize", 0, 0, G_OPTION_ARG_STRING, &(args)->resize, \
    "Stretch images, or shorter side to N and cut the middle out", "bilinear|crop[:N]" }, \
  { "pad", 0, 0, G_OPTION_ARG_STRING, &(args)->pad, \
    "Keep the aspect of images and fill up with this level", "LEVEL" }, \
  { "mean", 0, 0, G_OPTION_ARG_STRING, &(args)->mean, \
    "Subtracted from samples: one value, or one per channel", "M[,M...]" }, \
  { "scale", 0, 0, G_OPTION_ARG_STRING, &(args)->scale, "Divides samples after that", "S[,S...]" }

/* The same with --data and --samples. */
#define CMD_DATA_ENTRIES(args) \
  { "data", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &(args)->data, \
    "Samples: .npy, .npz, an image, a folder of these", "[NAME=]PATH" }, \
  { "samples", 0, 0, G_OPTION_ARG_STRING, &(args)->samples, "The first N of them (default: all)", "N" }, \
  CMD_IMAGE_ENTRIES (args)

void     cmd_data_args_clear (CmdDataArgs *args);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CmdDataArgs, cmd_data_args_clear)

/* What the options ask for. FALSE: *code is the exit code, the message is printed. */
gboolean cmd_data_options    (const CmdDataArgs *args, LptDataOptions *options, int *code);
/* Warns of samples that cannot be what @graph was trained with; what goes wrong is left to who runs them. */
void     cmd_data_warn       (LptGraph *graph, LptData *data);
/* --data for @graph (transfer full); NULL: as above. */
LptData *cmd_data_open       (const CmdDataArgs *args, LptGraph *graph, int *code);
/* --labels for the samples @data (transfer full); labels of more samples than there are, where --samples does not leave
 * some out, are said. NULL: as above. */
LptData *cmd_labels_open     (const CmdDataArgs *args, const char *path, LptData *data, int *code);

#endif
