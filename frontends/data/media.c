/* media.c - images, sounds and bare bytes as arrays
 *
 * Images are decoded by gdk-pixbuf, where the build has it, and told by their content; pixels with alpha lie over
 * black. Sound: RIFF WAVE, PCM of 16 bits, one channel, as f32[n] = sample / 32768. FILE:TYPE[SHAPE] is bytes in C
 * order, little-endian. Refused: what is none of these, more than one channel, files that are too short. Of a sound
 * that was written to a pipe, whose length says nothing, the samples reach to the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/data-private.h"

#include <lpt/lpt-npy.h>

#include <string.h>

#define UNKNOWN_LENGTH 0x7ffff000u  /* of samples: so much or more */

#ifdef LPT_HAVE_PIXBUF
#include <gdk-pixbuf/gdk-pixbuf.h>

#include "frontends/data/late-library.h"

#define PIXBUF_FUNCTIONS(F) \
  F (loader_new, gdk_pixbuf_loader_new) F (loader_set_size, gdk_pixbuf_loader_set_size) \
  F (loader_write, gdk_pixbuf_loader_write) F (loader_close, gdk_pixbuf_loader_close) \
  F (loader_get_pixbuf, gdk_pixbuf_loader_get_pixbuf) F (read_pixels, gdk_pixbuf_read_pixels) \
  F (get_width, gdk_pixbuf_get_width) F (get_height, gdk_pixbuf_get_height) \
  F (get_rowstride, gdk_pixbuf_get_rowstride) \
  F (get_n_channels, gdk_pixbuf_get_n_channels) F (connect_data, g_signal_connect_data) F (unref, g_object_unref)

/* gdk-pixbuf and what it stands on. */
static struct
{
  PIXBUF_FUNCTIONS (LATE_MEMBER)
} pixbuf = { PIXBUF_FUNCTIONS (LATE_VALUE) };

static const char *const pixbuf_names[] = { PIXBUF_FUNCTIONS (LATE_NAME) };
static LateLibrary pixbuf_library = { "gdk-pixbuf", LPT_SONAME_PIXBUF, G_N_ELEMENTS (pixbuf_names), pixbuf_names,
                                      &pixbuf, 0, NULL };
#endif

static const char *const image_names[] = { ".png", ".jpg", ".jpeg", ".bmp" };

static gboolean
has_suffix (const char *path, const char *suffix)
{
  gsize n = strlen (path), k = strlen (suffix);
  return n > k && g_ascii_strcasecmp (path + n - k, suffix) == 0;
}

gboolean
data_is_image (const char *path)
{
  for (guint i = 0; i < G_N_ELEMENTS (image_names); i++)
    if (has_suffix (path, image_names[i]))
      return TRUE;
  return FALSE;
}

/* The ":" of FILE:TYPE[SHAPE], or NULL. */
static const char *
find_type (const char *path)
{
  const char *colon = strrchr (path, ':'), *bracket = colon != NULL ? strchr (colon, '[') : NULL;
  if (bracket == NULL || path[strlen (path) - 1] != ']')
    return NULL;
  g_autofree char *type = g_strndup (colon + 1, (gsize) (bracket - colon - 1));
  return lpt_dtype_from_name (type) != LPT_DTYPE_UNDEFINED ? colon : NULL;
}

gboolean
lpt_array_is_media (const char *path)
{
  return data_is_image (path) || has_suffix (path, ".wav") || find_type (path) != NULL;
}

static gboolean
read_file (const char *path, char **text, gsize *length, GError **error)
{
  g_autoptr (GError) cause = NULL;
  if (g_file_get_contents (path, text, length, &cause))
    return TRUE;
  /* Its message has the name a second time, in front of the reason. */
  const char *reason = g_strrstr (cause->message, ": ");
  g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, reason != NULL ? reason + 2 : cause->message);
  return FALSE;
}

static LptTensor *
fail (GError **error, const char *path, const char *what)
{
  g_set_error (error, LPT_ERROR, strstr (what, "unsupported") != NULL ? LPT_ERROR_UNSUPPORTED : LPT_ERROR_INVALID,
               "%s: %s", path, what);
  return NULL;
}

/* --- images ------------------------------------------------------------------ */

#ifdef LPT_HAVE_PIXBUF

/* To u8[H,W,3]; a fourth channel is alpha. */
static LptTensor *
copy_pixels (GdkPixbuf *image, GError **error)
{
  const guint8 *pixels = pixbuf.read_pixels (image);
  gint width = pixbuf.get_width (image), height = pixbuf.get_height (image), n = pixbuf.get_n_channels (image);
  gsize stride = (gsize) pixbuf.get_rowstride (image);
  LptShape shape = { 3, { height, width, 3 } };
  g_autoptr (LptTensor) tensor = lpt_tensor_new (LPT_DTYPE_U8, &shape, error);
  if (tensor == NULL)
    return NULL;
  guint8 *out = lpt_tensor_writable (tensor);
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++, out += 3)
      {
        const guint8 *p = pixels + (gsize) y * stride + (gsize) x * (gsize) n;
        for (gint c = 0; c < 3; c++)
          out[c] = n == 4 ? (guint8) ((p[c] * p[3] + 127) / 255) : p[c];
      }
  return g_steal_pointer (&tensor);
}

/* Told before anything is decoded. */
static void
on_size (GdkPixbufLoader *loader, gint width, gint height, gpointer data)
{
  gboolean *large = data;
  *large = width > DATA_MAX_SIDE || height > DATA_MAX_SIDE || (gint64) width * height > DATA_MAX_PIXELS;
  if (*large)
    pixbuf.loader_set_size (loader, 1, 1);
}

LptTensor *
data_load_image (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  gsize length;
  gboolean large = FALSE;
  if (!read_file (path, &text, &length, error) || !late_library_open (&pixbuf_library, path, error))
    return NULL;
  g_autoptr (GError) cause = NULL;
  GdkPixbufLoader *loader = pixbuf.loader_new ();
  pixbuf.connect_data (loader, "size-prepared", G_CALLBACK (on_size), &large, NULL, 0);
  gboolean ok = pixbuf.loader_write (loader, (const guchar *) text, length, &cause);
  ok = pixbuf.loader_close (loader, ok ? &cause : NULL) && ok;
  GdkPixbuf *image = ok ? pixbuf.loader_get_pixbuf (loader) : NULL;
  LptTensor *tensor = NULL;
  if (large)
    fail (error, path, "unsupported: the image is too large");
  else if (image == NULL)
    fail (error, path, cause != NULL ? cause->message : "not an image");
  else
    tensor = copy_pixels (image, error);
  pixbuf.unref (loader);
  return tensor;
}

#else

LptTensor *
data_load_image (const char *path, GError **error)
{
  return fail (error, path, "unsupported: built without gdk-pixbuf; use .npy files");
}

#endif

/* --- sound ------------------------------------------------------------------- */

static guint32
read_u32 (const char *p)
{
  const guint8 *u = (const guint8 *) p;
  return u[0] | (guint32) u[1] << 8 | (guint32) u[2] << 16 | (guint32) u[3] << 24;
}

static LptTensor *
load_wav (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  gsize length;
  gboolean format = FALSE;
  if (!read_file (path, &text, &length, error))
    return NULL;
  if (length < 12 || memcmp (text, "RIFF", 4) != 0 || memcmp (text + 8, "WAVE", 4) != 0)
    return fail (error, path, "not a WAVE file");
  for (gsize at = 12; length - at >= 8; )
    {
      const char *chunk = text + at;
      guint32 said = read_u32 (chunk + 4);
      gsize size = MIN ((gsize) said, length - at - 8);
      if (memcmp (chunk, "fmt ", 4) == 0 && size >= 16)
        {
          if ((read_u32 (chunk + 8) & 0xffff) != 1 || read_u32 (chunk + 8) >> 16 != 1
              || read_u32 (chunk + 20) >> 16 != 16)
            return fail (error, path, "unsupported: one channel of 16-bit PCM is read");
          format = TRUE;
        }
      else if (memcmp (chunk, "data", 4) == 0 && format)
        {
          if (size < said && said < UNKNOWN_LENGTH)
            return fail (error, path, "the file ends early");
          LptShape shape = { 1, { (gint64) (size / 2) } };
          LptTensor *tensor = lpt_tensor_new (LPT_DTYPE_F32, &shape, error);
          float *out = tensor != NULL ? lpt_tensor_writable (tensor) : NULL;
          for (gsize i = 0; out != NULL && i < size / 2; i++)
            out[i] =
              (float) (gint16) ((guint8) chunk[8 + 2 * i] | (guint16) ((guint8) chunk[9 + 2 * i] << 8)) / 32768.0f;
          return tensor;
        }
      at += MIN (8 + size + (size & 1), length - at);
    }
  return fail (error, path, "the file has no samples");
}

/* --- bytes ------------------------------------------------------------------- */

static LptTensor *
load_bytes (const char *spec, const char *colon, GError **error)
{
  g_autofree char *path = g_strndup (spec, (gsize) (colon - spec)),
                  *type = g_strndup (colon + 1, strcspn (colon + 1, "[")), *text = NULL;
  gsize length, need;
  gint64 count;
  LptShape shape;
  LptDType dtype = lpt_dtype_from_name (type);
  if (!lpt_shape_from_string (strchr (colon, '['), &shape, error))
    {
      g_prefix_error (error, "%s: ", path);
      return NULL;
    }
  if (!read_file (path, &text, &length, error))
    return NULL;
  if (!lpt_shape_is_static (&shape) || !lpt_shape_count (&shape, &count) || !lpt_tensor_byte_size (dtype, count, &need))
    return fail (error, spec, "a shape of known sizes is wanted");
  if (need != length)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "%s: the file has %" G_GSIZE_FORMAT " bytes, %s needs %" G_GSIZE_FORMAT, path, length, colon + 1,
                   need);
      return NULL;
    }
  return lpt_tensor_new_copy (dtype, &shape, text, error);
}

LptTensor *
lpt_array_load (const char *path, GError **error)
{
  const char *colon = find_type (path);
  if (colon != NULL)
    return load_bytes (path, colon, error);
  if (has_suffix (path, ".wav"))
    return load_wav (path, error);
  return data_is_image (path) ? data_load_image (path, error) : lpt_npy_load (path, error);
}
