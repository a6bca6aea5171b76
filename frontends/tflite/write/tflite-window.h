/* tflite-window.h - padding of windows in the file: SAME, VALID, or a PAD in front
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_WINDOW_H
#define LPT_TFLITE_WINDOW_H

#include "frontends/tflite/write/tflite-writer.h"

#define LPT_TFL_SPATIAL 3

/* A window over the spatial axes of input 0, as the graph has it. */
typedef struct
{
  guint    n;
  gint64   kernel[LPT_TFL_SPATIAL], strides[LPT_TFL_SPATIAL], dilations[LPT_TFL_SPATIAL];
  gint64   begin[LPT_TFL_SPATIAL], end[LPT_TFL_SPATIAL];
  gint     auto_pad;        /* LptAutoPad */
  gboolean same;            /* of the operator */
} LptTflWindow;

/* What @list says of each axis; @fallback where it says nothing. */
void     lpt_tfl_window_list (gint64 *to, guint n, const LptInts *list, gint64 fallback);
/* Settles @window->same. *@pads: pads have to be put in front. @out: the output's lengths are those (ceiling of
   pools). */
void     lpt_tfl_window_pads (LptTflWriter *w, LptTflWindow *window, gboolean *pads);
/* @x with its borders; @lowest: the lowest number stands there, not 0. */
gint     lpt_tfl_window_pad  (LptTflWriter *w, gint x, const LptTflWindow *window, gboolean lowest);
/* Two spatial axes: of one another one of length 1 in front. */
void     lpt_tfl_window_widen (LptTflWindow *window);
/* [N, W, C] as [N, 1, W, C], or back. */
gint     lpt_tfl_window_unsqueeze (LptTflWriter *w, gint x, gboolean back);
/* The tensor that the operator writes for @value, channels last; of one spatial axis a wider one, which
   lpt_tfl_window_finish() narrows. */
gint     lpt_tfl_window_out  (LptTflWriter *w, LptValue *value, double gauge);
void     lpt_tfl_window_finish (LptTflWriter *w, LptValue *value, gint out);

#endif
