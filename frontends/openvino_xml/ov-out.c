/* ov-out.c - XML that is written, element by element, by libxml2's writer
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-out.h"

/* The writer does nothing behind its first failure, and says so again. */
static void
keep (OvOut *out, int result)
{
  out->failed |= result < 0;
}

void
ov_out_open (OvOut *out, FILE *stream)
{
  xmlOutputBufferPtr buffer = xmlOutputBufferCreateFile (stream, NULL);
  *out = (OvOut) { .writer = buffer != NULL ? xmlNewTextWriter (buffer) : NULL };
  if (out->writer == NULL)
    {
      out->failed = TRUE;
      if (buffer != NULL)
        xmlOutputBufferClose (buffer);
      return;
    }
  keep (out, xmlTextWriterSetIndent (out->writer, 1));
  keep (out, xmlTextWriterSetIndentString (out->writer, BAD_CAST "\t"));
  keep (out, xmlTextWriterStartDocument (out->writer, NULL, NULL, NULL));
}

gboolean
ov_out_finish (OvOut *out)
{
  keep (out, xmlTextWriterEndDocument (out->writer));
  gboolean ok = !out->failed;
  ov_out_clear (out);
  return ok;
}

void
ov_out_clear (OvOut *out)
{
  if (out->writer != NULL)
    xmlFreeTextWriter (out->writer);
  *out = (OvOut) { NULL };
}

void
ov_out_begin (OvOut *out, const char *element)
{
  keep (out, xmlTextWriterStartElement (out->writer, BAD_CAST element));
}

void
ov_out_end (OvOut *out)
{
  keep (out, xmlTextWriterEndElement (out->writer));
}

void
ov_out_attr (OvOut *out, const char *name, const char *text)
{
  keep (out, xmlTextWriterWriteAttribute (out->writer, BAD_CAST name, BAD_CAST text));
}

void
ov_out_number (OvOut *out, const char *name, gint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, number);
  ov_out_attr (out, name, text);
}

void
ov_out_item (OvOut *out, const char *element, gint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, number);
  keep (out, xmlTextWriterWriteElement (out->writer, BAD_CAST element, BAD_CAST text));
}

void
ov_out_raw (OvOut *out, const char *xml)
{
  keep (out, xmlTextWriterWriteRaw (out->writer, BAD_CAST xml));
}

gboolean
ov_is_text (const char *text)
{
  for (const char *p = text; *p != '\0'; p++)
    if ((guchar) *p < 0x20 && *p != '\t' && *p != '\n' && *p != '\r')
      return FALSE;
  return g_utf8_validate (text, -1, NULL);
}
