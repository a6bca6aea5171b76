/* cache.c - DIR/KEY-LEVEL.lptcache: a graph in the native JSON form, its constants, packed weights
 *
 * The key is a digest of the program itself, the CPU level, the options, the model and its weights file: what another
 * build packed or lowered is never read. The file is mapped: constants and packed weights are used where they lie.
 *
 *   Header | constants | JSON text | blocks, each at a multiple of 64 | index: of each block {offset, size, name, 0}
 *
 * All but the checksum itself is under the checksum, which is verified by reading the file, not through the mapping, so
 * that pages that nobody needs take no memory of the process. Digest and checksum find accidents, not attacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cache.h"
#include "cli/files.h"
#include "cli/limits.h"

#include <lpt/lpt-cpu.h>
#include <lpt/lpt-out-file.h>

#include <lpt/lpt-json.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MAGIC   "LPTcache"
#define VERSION 2
#define CHUNK   ((gsize) 1 << 18)

typedef struct
{
  char    magic[8];
  guint64 version;            /* also tells byte orders apart */
  guint64 key[2], checksum[2];
  guint64 size;               /* of the file */
  guint64 weights, weights_size, text, text_size, index, index_size;
  guint64 unused[3];
} Header;

G_STATIC_ASSERT (sizeof (Header) == 128);

/* --- digest: XXH3 of 128 bits ------------------------------------------------- */

typedef XXH3_state_t Digest;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Digest, XXH3_freeState)

static Digest *
digest_new (void)
{
  Digest *d = XXH3_createState ();
  g_assert (d != NULL && XXH3_128bits_reset (d) == XXH_OK);
  return d;
}

/* The length of each piece is part of the digest. */
static void
digest_add (Digest *d, gconstpointer data, gsize size)
{
  const guint64 length = size;
  XXH3_128bits_update (d, &length, sizeof length);
  XXH3_128bits_update (d, data, size);
}

static void
digest_end (const Digest *d, guint64 *out)
{
  const XXH128_hash_t hash = XXH3_128bits_digest (d);
  out[0] = hash.high64;
  out[1] = hash.low64;
}

/* Digest of a stream from where it stands to its end, in pieces of CHUNK. */
static gboolean
digest_stream (Digest *d, FILE *stream, guint64 *length)
{
  g_autofree guint8 *buffer = g_malloc (CHUNK);
  gsize n;
  *length = 0;
  while ((n = fread (buffer, 1, CHUNK, stream)) > 0)
    {
      digest_add (d, buffer, n);
      *length += n;
    }
  return !ferror (stream);
}

static gboolean
digest_file (Digest *d, const char *path)
{
  FILE *stream = g_fopen (path, "rb");
  guint64 length;
  gboolean ok = stream != NULL && digest_stream (d, stream, &length);
  if (stream != NULL)
    fclose (stream);
  return ok;
}

/* @files (nullable) in their order. */
static gboolean
digest_files (Digest *d, char **files)
{
  for (guint i = 0; files != NULL && files[i] != NULL; i++)
    if (!digest_file (d, files[i]))
      return FALSE;
  return TRUE;
}

/* --- key ------------------------------------------------------------------- */

static gboolean
contains (const char *path, const char *text)
{
  g_autoptr (GMappedFile) map = g_mapped_file_new (path, FALSE, NULL);
  return map != NULL && g_mapped_file_get_length (map) > 0 &&
         memmem (g_mapped_file_get_contents (map), g_mapped_file_get_length (map), text, strlen (text)) != NULL;
}

/* Does all of the model lie in the file and in @weights? ONNX tensors may name other files ("location"), native JSON
 * one. */
static gboolean
is_complete (const char *model, const char *weights)
{
  /* A file of external buffers is named anywhere: such a model is not kept. */
  if (g_str_has_suffix (model, ".tflite"))
    return FALSE;
  if (g_str_has_suffix (model, ".xml") || g_str_has_suffix (model, ".lpt"))
    return TRUE;
  if (contains (model, "\"" LPT_JSON_FORMAT "\""))
    {
      g_autofree char *name = weights != NULL ? g_path_get_basename (weights) : NULL;
      g_autofree char *entry = name != NULL ? g_strdup_printf ("{\"file\": \"%s\"", name) : NULL;
      return !contains (model, "\"file\"") || (entry != NULL && contains (model, entry));
    }
  return !contains (model, "location");
}

static gboolean
find_key (CmdCache *cache, const char *level, const char *model, const char *options)
{
  g_autofree char *weights = lpt_path_weights_beside (model);
  g_autoptr (Digest) d = digest_new ();
  digest_add (d, level, strlen (level));
  digest_add (d, options, strlen (options));
  const char *signature = cmd_limits_signature ();
  digest_add (d, signature != NULL ? signature : "", signature != NULL ? strlen (signature) + 1 : 0);
  digest_add (d, cmd_limits_stateless () ? "stateless" : "", cmd_limits_stateless () ? 9 : 0);
  if (!is_complete (model, weights) || !digest_file (d, "/proc/self/exe") || !digest_file (d, model))
    return FALSE;
  if (weights != NULL && g_file_test (weights, G_FILE_TEST_EXISTS) && !digest_file (d, weights))
    return FALSE;
  if (!digest_files (d, cmd_limits_weights ()))
    return FALSE;
  digest_add (d, "encodings", cmd_limits_encodings () != NULL ? 9 : 0);
  if (!digest_files (d, cmd_limits_encodings ()))
    return FALSE;
  digest_end (d, cache->key);
  return TRUE;
}

/* --- reading --------------------------------------------------------------- */

/* @size bytes at @offset lie behind the header and in the file. */
static gboolean
fits (const Header *h, guint64 offset, guint64 size)
{
  return offset >= sizeof *h && offset <= h->size && size <= h->size - offset;
}

/* Checksum of the header, without that field, and of what follows in @stream, which stands behind the header. */
static gboolean
file_checksum (const Header *h, FILE *stream, guint64 *checksum)
{
  Header bare = *h;
  guint64 length;
  g_autoptr (Digest) d = digest_new ();
  memset (bare.checksum, 0, sizeof bare.checksum);
  digest_add (d, &bare, sizeof bare);
  if (!digest_stream (d, stream, &length) || length != h->size - sizeof bare)
    return FALSE;
  digest_end (d, checksum);
  return TRUE;
}

static gboolean
read_header (FILE *stream, const CmdCache *cache, Header *h)
{
  guint64 checksum[2];
  if (fread (h, 1, sizeof *h, stream) != sizeof *h || memcmp (h->magic, MAGIC, sizeof h->magic) != 0 ||
      h->version != VERSION || memcmp (h->key, cache->key, sizeof h->key) != 0 ||
      !fits (h, h->weights, h->weights_size) || !fits (h, h->text, h->text_size) || !fits (h, h->index, h->index_size))
    return FALSE;
  return file_checksum (h, stream, checksum) && memcmp (checksum, h->checksum, sizeof checksum) == 0;
}

static gboolean
read_blocks (LptPack *pack, const Header *h, GBytes *bytes)
{
  const char *data = g_bytes_get_data (bytes, NULL);
  const char *at = data + h->index, *end = at + h->index_size;
  while (at < end)
    {
      guint64 range[2];
      if ((gsize) (end - at) < sizeof range)
        return FALSE;
      memcpy (range, at, sizeof range);
      at += sizeof range;
      const char *stop = memchr (at, '\0', (gsize) (end - at));
      if (stop == NULL || range[0] % 64 != 0 || !fits (h, range[0], range[1]))
        return FALSE;
      lpt_pack_lend (pack, at, bytes, range[0], range[1]);
      at = stop + 1;
    }
  return TRUE;
}

/* The graph and packed weights of a file that is whole and ours. */
static void
read_file (CmdCache *cache)
{
  FILE *stream = g_fopen (cache->path, "rb");
  Header h;
  gboolean good = stream != NULL && read_header (stream, cache, &h);
  g_autoptr (GMappedFile) map = good ? g_mapped_file_new_from_fd (fileno (stream), FALSE, NULL) : NULL;
  if (stream != NULL)
    fclose (stream);
  if (map == NULL || g_mapped_file_get_length (map) != h.size)
    return;
  g_autoptr (GBytes) bytes = g_mapped_file_get_bytes (map);
  g_autoptr (GBytes) weights = g_bytes_new_from_bytes (bytes, h.weights, h.weights_size);
  g_autoptr (LptPack) pack = lpt_pack_new ();
  g_autoptr (LptGraph) graph = lpt_json_parse (g_mapped_file_get_contents (map) + h.text, h.text_size, weights,
                                               cache->path, NULL);
  if (graph == NULL || !read_blocks (pack, &h, bytes))
    return;
  cache->graph = g_steal_pointer (&graph);
  cache->pack = g_steal_pointer (&pack);
}

gboolean
cmd_cache_open (CmdCache *cache, const char *dir, const char *model, const char *options, GError **error)
{
  LptCpu cpu = lpt_cpu_detect ();
  const char *limit = g_getenv ("LPT_CPU");
  *cache = (CmdCache) { NULL };
  if (dir == NULL)
    return TRUE;
  if (limit != NULL)
    lpt_cpu_limit (&cpu, limit);
  const char *level = lpt_cpu_level_name (cpu);
  if (g_mkdir_with_parents (dir, 0777) != 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: cannot be made: %s", dir, g_strerror (errno));
      return FALSE;
    }
  if (find_key (cache, level, model, options))
    {
      cache->path = g_strdup_printf ("%s/%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x-%s.lptcache", dir,
                                     cache->key[0], cache->key[1], level);
      read_file (cache);
    }
  if (cache->pack == NULL)
    cache->pack = lpt_pack_new ();
  return TRUE;
}

void
cmd_cache_clear (CmdCache *cache)
{
  g_clear_pointer (&cache->path, g_free);
  g_clear_pointer (&cache->graph, lpt_graph_free);
  g_clear_pointer (&cache->pack, lpt_pack_unref);
}

/* --- writing --------------------------------------------------------------- */

static guint64
pad (FILE *stream)
{
  static const char zeros[64] = { 0 };
  guint64 at = (guint64) ftello (stream);
  fwrite (zeros, 1, (64 - at % 64) % 64, stream);
  return (at + 63) / 64 * 64;
}

static void
write_blocks (FILE *stream, const LptPack *pack, Header *h)
{
  guint n = lpt_pack_n_blocks (pack, NULL);
  g_autofree guint64 *offsets = g_new (guint64, n + 1);
  const char *name;
  gsize size;
  for (guint i = 0; i < n; i++)
    {
      gconstpointer data = lpt_pack_block (pack, i, &name, &size);
      offsets[i] = pad (stream);
      fwrite (data, 1, size, stream);
    }
  h->index = pad (stream);
  for (guint i = 0; i < n; i++)
    {
      lpt_pack_block (pack, i, &name, &size);
      fwrite ((guint64[]) { offsets[i], size }, sizeof (guint64), 2, stream);
      fwrite (name, 1, strlen (name) + 1, stream);
    }
  h->size = (guint64) ftello (stream);
  h->index_size = h->size - h->index;
}

gboolean
cmd_cache_save (CmdCache *cache, LptGraph *graph, gboolean hit, GError **error)
{
  guint n_fresh = 0;
  if (cache->path == NULL || (lpt_pack_n_blocks (cache->pack, &n_fresh), hit && n_fresh == 0))
    return TRUE;

  g_auto (LptOutFile) file = { NULL };
  Header h = { .version = VERSION, .key = { cache->key[0], cache->key[1] } };
  memcpy (h.magic, MAGIC, sizeof h.magic);
  if (!lpt_out_file_open (&file, cache->path, error))
    return FALSE;
  fwrite (&h, 1, sizeof h, file.stream);
  h.weights = sizeof h;
  g_autofree char *text = lpt_json_print_apart (graph, file.stream, &h.weights_size, error);
  if (text == NULL)
    return FALSE;
  h.text = pad (file.stream);
  h.text_size = strlen (text);
  fwrite (text, 1, h.text_size, file.stream);
  write_blocks (file.stream, cache->pack, &h);

  /* The checksum is that of the file as it is read back. */
  FILE *stream = fflush (file.stream) == 0 ? g_fopen (file.temp != NULL ? file.temp : file.path, "rb") : NULL;
  if (stream == NULL || fseeko (stream, sizeof h, SEEK_SET) != 0 || !file_checksum (&h, stream, h.checksum))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: cannot be written", cache->path);
      g_clear_pointer (&stream, fclose);
      return FALSE;
    }
  fclose (stream);
  if (fseeko (file.stream, 0, SEEK_SET) == 0)
    fwrite (&h, 1, sizeof h, file.stream);
  return lpt_out_file_finish (&file, error) && lpt_out_file_commit (&file, error);
}
