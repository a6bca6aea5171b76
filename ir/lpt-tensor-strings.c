/* lpt-tensor-strings.c - tensors of strings, which are kept and not computed
 *
 * Their bytes are packed as OpenVINO packs them: the number of strings n, n + 1 places where they begin and end,
 * counted from the first character, all as 32-bit integers; then the characters, with nothing between them. Any bytes
 * may stand in a string.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "ir/lpt-memory.h"
#include "ir/lpt-tensor-private.h"

#define WORD sizeof (guint32)

static guint32
word_at (const guint8 *data,
         gsize         i)
{
  guint32 word;

  memcpy (&word, data + i * WORD, WORD);

  return GUINT32_FROM_LE (word);
}

static void
put_word (guint8  *data,
          gsize    i,
          guint32  word)
{
  word = GUINT32_TO_LE (word);
  memcpy (data + i * WORD, &word, WORD);
}

gboolean
lpt_tensor_check_strings (const guint8  *data,
                          gsize          length,
                          gint64         count,
                          gsize         *size,
                          GError       **error)
{
  gsize header;
  gint64 i;

  if (count < 0 || count > G_MAXINT32 - 2)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "too many strings");
      return FALSE;
    }
  header = (gsize) (count + 2) * WORD;
  if (length < header || word_at (data, 0) != (guint32) count)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "its bytes do not begin as those of %" G_GINT64_FORMAT " strings", count);
      return FALSE;
    }
  for (i = 0; i <= count; i++)
    if (word_at (data, (gsize) i + 1) < (i > 0 ? word_at (data, (gsize) i) : 0) ||
        word_at (data, (gsize) i + 1) > length - header || (i == 0 && word_at (data, 1) != 0))
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "string %" G_GINT64_FORMAT " does not lie within its bytes",
                     MAX (i - 1, 0));
        return FALSE;
      }
  *size = header + word_at (data, (gsize) count + 1);

  return TRUE;
}

LptTensor *
lpt_tensor_new_strings (const LptShape     *shape,
                        const char *const  *strings,
                        const gsize        *lengths,
                        GError            **error)
{
  g_autoptr (GBytes) bytes = NULL;
  guint8 *data;
  gint64 count, i;
  gsize header, size;

  if (!lpt_shape_count (shape, &count) || count > G_MAXINT32 - 2)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID,
                           "strings of a shape that is dynamic or has too many elements");
      return NULL;
    }
  size = header = (gsize) (count + 2) * WORD;
  for (i = 0; i < count; i++)
    if (!g_size_checked_add (&size, size, lengths[i]) || size - header > G_MAXINT32)
      {
        g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                             "unsupported: strings of more than 2 GiB together");
        return NULL;
      }
  data = lpt_memory_alloc (size, "strings", error);
  if (data == NULL)
    return NULL;
  bytes = g_bytes_new_with_free_func (data, size, lpt_memory_free, data);
  put_word (data, 0, (guint32) count);
  put_word (data, 1, 0);
  for (i = 0, size = 0; i < count; i++)
    {
      if (lengths[i] > 0)
        memcpy (data + header + size, strings[i], lengths[i]);
      size += lengths[i];
      put_word (data, (gsize) i + 2, (guint32) size);
    }

  return lpt_tensor_new_bytes (LPT_DTYPE_STRING, shape, bytes, 0, error);
}

const char *
lpt_tensor_string (const LptTensor *tensor,
                   gint64           i,
                   gsize           *length)
{
  guint32 from, to;

  g_return_val_if_fail (tensor->dtype == LPT_DTYPE_STRING && i >= 0 && i < tensor->count, NULL);
  from = word_at (tensor->data, (gsize) i + 1);
  to = word_at (tensor->data, (gsize) i + 2);
  *length = to - from;

  return (const char *) tensor->data + (gsize) (tensor->count + 2) * WORD + from;
}
