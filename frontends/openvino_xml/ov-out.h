/* ov-out.h - XML that is written, element by element
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <glib.h>
#include <libxml/xmlwriter.h>
#include <stdio.h>

/* Zero-initialised = closed. */
typedef struct
{
  xmlTextWriterPtr writer;
  gboolean         failed;      /* memory was short; a stream's own errors stay with the stream */
} OvOut;

/* Writes to @stream, which stays open; begins with the XML declaration. */
void     ov_out_open   (OvOut *out, FILE *stream);
/* Ends all elements. FALSE: memory was short, and what stands in the stream is not whole. */
gboolean ov_out_finish (OvOut *out);
void     ov_out_clear  (OvOut *out);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (OvOut, ov_out_clear)

void ov_out_begin  (OvOut *out, const char *element);
void ov_out_end    (OvOut *out);
/* An attribute of the element that was begun last, before anything inside it. */
void ov_out_attr   (OvOut *out, const char *name, const char *text);
void ov_out_number (OvOut *out, const char *name, gint64 number);
/* <element>number</element> */
void ov_out_item   (OvOut *out, const char *element, gint64 number);
/* An element that is XML already. */
void ov_out_raw    (OvOut *out, const char *xml);

/* Can XML hold @text? */
gboolean ov_is_text (const char *text);
