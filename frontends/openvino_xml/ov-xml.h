/* ov-xml.h - the elements of an XML file, and a walk over them
 *
 * The parser's calls fill one flat list in the order of the start tags; each element knows where its descendants end.
 * Entities and document types are refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef OV_XML_H
#define OV_XML_H

#include <lpt/lpt-types.h>

typedef struct _OvXml OvXml;

/* The children of an element that are still to come. */
typedef struct { guint next, end; } OvScope;

/* Text is kept of the elements called @text_element. What is malformed ends the list; it is told by ov_xml_error(). */
OvXml      *ov_xml_new       (const char *xml, gsize length, const char *source, const char *text_element);
void        ov_xml_free      (OvXml *x);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (OvXml, ov_xml_free)

/* Keeps the first message, "SOURCE:LINE: ..."; the word "unsupported" in it decides its code. Returns FALSE. */
gboolean    ov_fail          (OvXml *x, guint line, const char *format, ...) G_GNUC_PRINTF (3, 4);
gboolean    ov_failed        (const OvXml *x);
/* FALSE + error where ov_fail() was called, or the file is malformed. */
gboolean    ov_xml_check     (OvXml *x, GError **error);

/* Steps to the root element; FALSE: there is none. */
gboolean    ov_root          (OvXml *x);
/* Enters the current element; FALSE when it has no children, or after an error. */
gboolean    ov_enter         (OvXml *x, OvScope *scope);
/* Steps to the next child; FALSE when there is none, or after an error. */
gboolean    ov_next          (OvXml *x, OvScope *scope);

/* Of the current element. */
guint       ov_line          (const OvXml *x);
const char *ov_name          (const OvXml *x);
gboolean    ov_is            (const OvXml *x, const char *name);
char       *ov_text          (OvXml *x);                                          /* "" where it is not kept; may be stripped in place */
char       *ov_attr          (OvXml *x, const char *name);                        /* NULL: it is absent; may be stripped in place */
gboolean    ov_attr_at       (OvXml *x, guint i, const char **name, const char **value);
char       *ov_outer_xml     (OvXml *x);                                          /* as the parser would write it (transfer full) */

#endif
