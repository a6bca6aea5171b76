/* lpt-page.h - one page about a model: what runs in which type and why, where the error and the time are
 *
 * A file of HTML that needs nothing else: no network, no fonts, no scripts but its own. Times are not measured here:
 * they come from what `lptc bench --profile --json` wrote, so that the same input makes the same bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_PAGE_H
#define LPT_PAGE_H

#include <lpt/lpt-compare.h>
#include <lpt/lpt-pass.h>

G_BEGIN_DECLS

/**
 * LptPageOptions:
 * @config: (nullable): how the model is lowered, as lpt_pipeline_run() takes it
 * @title: of the page, "model.onnx"
 * @original: (nullable): the float graph that errors are held against
 * @data: (nullable): samples; with @labels (nullable, lpt_labels_open()) accuracy, too
 * @limit: samples at most that values are compared and counted on; 0 = 32
 * @profile, @original_profile: (nullable): text of the JSON of `bench --profile --json` of the model, and of @original
 * @against: (nullable): another model; what differs is shown
 * @file_size, @against_size: bytes of the files, 0 = not known
 * Plain data.
 */
typedef struct
{
  const LptConfig *config;
  const char      *title, *original_title, *against_title;
  LptGraph        *original, *against;
  LptData         *data, *labels;
  gint64           label_offset;
  guint            limit, threads;
  const char      *profile, *original_profile;
  guint64          file_size, original_size, against_size;
  LptProgressFunc  progress;      /* nullable */
  gpointer         progress_data;
} LptPageOptions;

/* The page (transfer full); NULL + error. */
LPT_EXPORT char *lpt_page_make (LptGraph *graph, const LptPageOptions *options, GError **error);

G_END_DECLS

#endif
