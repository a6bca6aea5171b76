/* ov-xml.c - see ov-xml.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-xml.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlreader.h>
#include <string.h>

typedef struct
{
  const char *name;             /* without a prefix; interned */
  guint       line;
  guint       first, n_attrs;   /* of x->attrs */
  guint       end;              /* behind the last descendant */
  guint       text;             /* in x->strings */
} Element;

typedef struct
{
  const char *name;             /* with its prefix; interned */
  guint       value;            /* in x->strings */
} Attribute;

struct _OvXml
{
  const char      *xml;
  gsize            length;
  const char      *source;
  const char      *text_element;
  xmlParserCtxtPtr parser;      /* keeps the interned names */
  GArray          *elements, *attrs;
  GString         *strings;     /* each with its zero byte; begins with an empty one */
  GString         *text;        /* of the open element whose text is kept */
  GArray          *open;        /* guint: elements that have not ended */
  guint            text_of;     /* the outermost of them whose text is kept; G_MAXUINT = none */
  GError          *malformed;   /* what the parser says */
  GError          *error;       /* what the reader of the elements says */
  guint            at;          /* the current element */
  xmlTextReaderPtr reader;      /* for what is kept as it stands */
  guint            reader_at;   /* elements that it has seen */
};

/* --- errors ---------------------------------------------------------------- */

static void
keep_error (const OvXml *x, GError **error, guint line, const char *message)
{
  if (*error == NULL)
    *error = g_error_new (LPT_ERROR, strstr (message, "unsupported") != NULL ? LPT_ERROR_UNSUPPORTED : LPT_ERROR_INVALID,
                          "%s:%u: %s", x->source, line, message);
}

gboolean
ov_fail (OvXml *x, guint line, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  keep_error (x, &x->error, line, message);
  return FALSE;
}

gboolean
ov_failed (const OvXml *x)
{
  return x->error != NULL;
}

gboolean
ov_xml_check (OvXml *x, GError **error)
{
  /* The elements stand before the place that is malformed. */
  GError **first = x->error != NULL ? &x->error : &x->malformed;
  if (*first == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (first));
  return FALSE;
}

/* --- calls of the parser ---------------------------------------------------- */

static void
on_error (void *data, xmlErrorPtr e)
{
  OvXml *x = data;
  if (e == NULL || e->level < XML_ERR_ERROR)
    return;
  g_autofree char *text = g_strdup (e->message != NULL ? e->message : "malformed");
  g_strdelimit (text, "\r\n", ' ');
  g_autofree char *message = g_strconcat ("not well-formed XML: ", g_strstrip (text), NULL);
  keep_error (x, &x->malformed, e->line > 0 ? (guint) e->line : 0, message);
}

static guint
parser_line (const OvXml *x)
{
  return x->parser->input != NULL && x->parser->input->line > 0 ? (guint) x->parser->input->line : 0;
}

static void
stop (OvXml *x, const char *message)
{
  keep_error (x, &x->malformed, parser_line (x), message);
  xmlStopParser (x->parser);
}

static void
on_document_type (void *data, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
  stop (data, "unsupported: a document type declaration");
}

static void
on_entity (void *data, const xmlChar *name)
{
  stop (data, "entity references are unsupported");
}

static guint
keep_string (OvXml *x, const char *text, gsize length)
{
  guint at = (guint) x->strings->len;
  g_string_append_len (x->strings, text, (gssize) length);
  g_string_append_c (x->strings, '\0');
  return at;
}

static void
on_start (void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int n_namespaces,
          const xmlChar **namespaces, int n_attrs, int n_defaulted, const xmlChar **attrs)
{
  OvXml *x = data;
  Element element = { .name = (const char *) name, .line = parser_line (x), .first = x->attrs->len, .n_attrs = (guint) n_attrs };
  for (int i = 0; i < n_attrs; i++)
    {
      const xmlChar **a = attrs + 5 * i;      /* name, prefix, URI, value, its end */
      Attribute attr = { (const char *) (a[1] != NULL ? xmlDictQLookup (x->parser->dict, a[1], a[0]) : a[0]),
                         keep_string (x, (const char *) a[3], (gsize) (a[4] - a[3])) };
      g_array_append_val (x->attrs, attr);
    }
  if (x->text_of == G_MAXUINT && strcmp (element.name, x->text_element) == 0)
    {
      x->text_of = x->elements->len;
      g_string_truncate (x->text, 0);
    }
  g_array_append_val (x->open, x->elements->len);
  g_array_append_val (x->elements, element);
}

static void
on_end (void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
  OvXml *x = data;
  guint i = g_array_index (x->open, guint, x->open->len - 1);
  Element *element = &g_array_index (x->elements, Element, i);
  g_array_set_size (x->open, x->open->len - 1);
  element->end = x->elements->len;
  if (x->text_of == i)
    {
      element->text = keep_string (x, x->text->str, x->text->len);
      x->text_of = G_MAXUINT;
    }
}

static void
on_text (void *data, const xmlChar *text, int length)
{
  OvXml *x = data;
  if (x->text_of != G_MAXUINT)
    g_string_append_len (x->text, (const char *) text, length);
}

static void
parse (OvXml *x)
{
  xmlSAXHandler calls = { .initialized = XML_SAX2_MAGIC, .startElementNs = on_start, .endElementNs = on_end, .characters = on_text,
                          .ignorableWhitespace = on_text, .cdataBlock = on_text, .internalSubset = on_document_type,
                          .reference = on_entity, .serror = on_error };
  x->parser = xmlCreateMemoryParserCtxt (x->xml, (int) x->length);
  if (x->parser == NULL)
    {
      keep_error (x, &x->malformed, 1, x->length == 0 ? "not well-formed XML: Document is empty" : "out of memory");
      return;
    }
  xmlCtxtUseOptions (x->parser, XML_PARSE_NONET | XML_PARSE_NOENT);      /* the five entities that XML has; others are refused */
  *x->parser->sax = calls;
  x->parser->userData = x;
  xmlParseDocument (x->parser);
  if (!x->parser->wellFormed)
    keep_error (x, &x->malformed, parser_line (x), "the file ends too early");
  for (guint i = 0; i < x->open->len; i++)
    g_array_index (x->elements, Element, g_array_index (x->open, guint, i)).end = x->elements->len;
}

/* --- life ------------------------------------------------------------------ */

OvXml *
ov_xml_new (const char *xml, gsize length, const char *source, const char *text_element)
{
  OvXml *x = g_new0 (OvXml, 1);
  x->xml = xml;
  x->length = length;
  x->source = source;
  x->text_element = text_element;
  x->elements = g_array_new (FALSE, FALSE, sizeof (Element));
  x->attrs = g_array_new (FALSE, FALSE, sizeof (Attribute));
  x->open = g_array_new (FALSE, FALSE, sizeof (guint));
  x->text = g_string_new (NULL);
  x->strings = g_string_new (NULL);
  g_string_append_c (x->strings, '\0');
  x->text_of = G_MAXUINT;
  parse (x);
  return x;
}

void
ov_xml_free (OvXml *x)
{
  if (x->reader != NULL)
    xmlFreeTextReader (x->reader);
  if (x->parser != NULL)
    xmlFreeParserCtxt (x->parser);
  g_array_unref (x->elements);
  g_array_unref (x->attrs);
  g_array_unref (x->open);
  g_string_free (x->text, TRUE);
  g_string_free (x->strings, TRUE);
  g_clear_error (&x->malformed);
  g_clear_error (&x->error);
  g_free (x);
}

/* --- walking --------------------------------------------------------------- */

static const Element *
current (const OvXml *x)
{
  return &g_array_index (x->elements, Element, x->at);
}

gboolean
ov_root (OvXml *x)
{
  x->at = 0;
  return x->elements->len > 0;
}

gboolean
ov_enter (OvXml *x, OvScope *scope)
{
  *scope = (OvScope) { x->at + 1, current (x)->end };
  return x->error == NULL && scope->next < scope->end;
}

gboolean
ov_next (OvXml *x, OvScope *scope)
{
  if (x->error != NULL || scope->next >= scope->end)
    return FALSE;
  x->at = scope->next;
  scope->next = current (x)->end;
  return TRUE;
}

guint
ov_line (const OvXml *x)
{
  return current (x)->line;
}

const char *
ov_name (const OvXml *x)
{
  return current (x)->name;
}

gboolean
ov_is (const OvXml *x, const char *name)
{
  return strcmp (current (x)->name, name) == 0;
}

char *
ov_text (OvXml *x)
{
  return x->strings->str + current (x)->text;
}

char *
ov_attr (OvXml *x, const char *name)
{
  const Element *element = current (x);
  for (guint i = 0; i < element->n_attrs; i++)
    {
      const Attribute *attr = &g_array_index (x->attrs, Attribute, element->first + i);
      if (strcmp (attr->name, name) == 0)
        return x->strings->str + attr->value;
    }
  return NULL;
}

gboolean
ov_attr_at (OvXml *x, guint i, const char **name, const char **value)
{
  const Element *element = current (x);
  if (i >= element->n_attrs)
    return FALSE;
  const Attribute *attr = &g_array_index (x->attrs, Attribute, element->first + i);
  *name = attr->name;
  *value = x->strings->str + attr->value;
  return TRUE;
}

char *
ov_outer_xml (OvXml *x)
{
  /* Elements are asked for in the order in which they stand. */
  if (x->reader == NULL)
    x->reader = xmlReaderForMemory (x->xml, (int) x->length, NULL, NULL,
                                    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  while (x->reader != NULL && x->reader_at <= x->at && xmlTextReaderRead (x->reader) == 1)
    x->reader_at += xmlTextReaderNodeType (x->reader) == XML_READER_TYPE_ELEMENT;
  xmlChar *raw = x->reader != NULL && x->reader_at == x->at + 1 ? xmlTextReaderReadOuterXml (x->reader) : NULL;
  char *copy = g_strdup (raw != NULL ? (const char *) raw : "");
  xmlFree (raw);
  return copy;
}
