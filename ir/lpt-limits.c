/* lpt-limits.c - what a model may cost, and the memory that is counted
 *
 * A block of memory knows whose limits it counts against in the 64 bytes before it. Large ones ask for pages of 2 MB:
 * maps of many channels are read and written at as many places at once, each in another page of 4 KB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/lpt-memory.h"

#ifdef __SANITIZE_ADDRESS__
#define LPT_POISON 1
#elif defined (__has_feature)
#if __has_feature (address_sanitizer)
#define LPT_POISON 1
#endif
#endif
#ifdef LPT_POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, size)
#endif

#define ALIGNMENT 64
#define HUGE_PAGE ((gsize) 2 << 20)

struct _LptLimits
{
  gatomicrefcount  refs;
  gsize            max_memory;       /* 0 = none */
  gsize            memory;           /* atomic */
  gint64           max_trips;
  gboolean         allow_paths;
  LptInterruptFunc interrupt;
  gpointer         interrupt_data;
  LptGrantFunc     grant;
  gpointer         grant_data;
};

/* As errno: what happened to the thread that asks. */
static _Thread_local LptLimits *current;
static _Thread_local guint n_refusals;
static _Thread_local gsize refused_size;
static _Thread_local const char *refused_what;

LptLimits *
lpt_limits_new (void)
{
  LptLimits *limits = g_new0 (LptLimits, 1);
  long pages = sysconf (_SC_PHYS_PAGES), page = sysconf (_SC_PAGESIZE);

  g_atomic_ref_count_init (&limits->refs);
  limits->max_memory = pages > 0 && page > 0 ? (gsize) pages / 2 * (gsize) page : 0;
  limits->max_trips = LPT_DEFAULT_MAX_TRIPS;

  return limits;
}

LptLimits *
lpt_limits_ref (LptLimits *limits)
{
  g_atomic_ref_count_inc (&limits->refs);

  return limits;
}

void
lpt_limits_unref (LptLimits *limits)
{
  if (limits != NULL && g_atomic_ref_count_dec (&limits->refs))
    g_free (limits);
}

void
lpt_limits_set_max_memory (LptLimits *limits,
                           guint64    bytes)
{
  limits->max_memory = (gsize) MIN (bytes, G_MAXSIZE);
}

guint64
lpt_limits_max_memory (const LptLimits *limits)
{
  return limits->max_memory;
}

guint64
lpt_limits_memory (const LptLimits *limits)
{
  return __atomic_load_n (&limits->memory, __ATOMIC_RELAXED);
}

void
lpt_limits_set_max_trips (LptLimits *limits,
                          gint64     trips)
{
  limits->max_trips = trips;
}

void
lpt_limits_set_allow_paths (LptLimits *limits,
                            gboolean   allow)
{
  limits->allow_paths = allow;
}

void
lpt_limits_set_interrupt (LptLimits       *limits,
                          LptInterruptFunc func,
                          gpointer         data)
{
  limits->interrupt = func;
  limits->interrupt_data = data;
}

void
lpt_limits_set_grant (LptLimits   *limits,
                      LptGrantFunc func,
                      gpointer     data)
{
  limits->grant = func;
  limits->grant_data = data;
}

LptLimits *
lpt_limits_set_thread (LptLimits *limits)
{
  LptLimits *before = current;

  current = limits;

  return before;
}

gint64
lpt_limits_trips (void)
{
  return current != NULL ? current->max_trips : LPT_DEFAULT_MAX_TRIPS;
}

gboolean
lpt_limits_allow_paths (void)
{
  return current != NULL && current->allow_paths;
}

gboolean
lpt_limits_go_on (GError **error)
{
  if (current == NULL || current->interrupt == NULL || !current->interrupt (current->interrupt_data))
    return TRUE;
  g_set_error_literal (error, LPT_ERROR, LPT_ERROR_LIMIT, "interrupted");

  return FALSE;
}

/* --- refusals --- */

static void
say (GError    **error,
     gsize       size,
     const char *what)
{
  if (current != NULL && current->max_memory != 0)
    g_set_error (error, LPT_ERROR, LPT_ERROR_MEMORY,
                 "no memory for %s of %" G_GSIZE_FORMAT " bytes (the limit is %" G_GSIZE_FORMAT " bytes together)",
                 what, size, current->max_memory);
  else
    g_set_error (error, LPT_ERROR, LPT_ERROR_MEMORY, "no memory for %s of %" G_GSIZE_FORMAT " bytes", what, size);
}

void
lpt_memory_fail (gsize       size,
                 const char *what,
                 GError    **error)
{
  n_refusals++;
  refused_size = size;
  refused_what = what;
  say (error, size, what);
}

guint
lpt_memory_mark (void)
{
  return n_refusals;
}

gboolean
lpt_memory_check (guint    mark,
                  GError **error)
{
  if (n_refusals == mark)
    return TRUE;
  say (error, refused_size, refused_what);

  return FALSE;
}

/* --- blocks --- */

/* @size: that counts; @asked: that was asked for; @must: it is not refused. */
static gboolean
take (gsize       size,
      gsize       asked,
      gboolean    must,
      const char *what,
      LptLimits **owner,
      GError    **error)
{
  gsize before;
  gboolean fits;

  *owner = NULL;
  if (current == NULL)
    return TRUE;
  before = __atomic_fetch_add (&current->memory, size, __ATOMIC_RELAXED);
  fits = current->max_memory == 0 || (before <= current->max_memory && size <= current->max_memory - before);
  if (!must && (!fits || (current->grant != NULL && !current->grant (asked, current->grant_data))))
    {
      __atomic_fetch_sub (&current->memory, size, __ATOMIC_RELAXED);
      lpt_memory_fail (asked, what, error);
      return FALSE;
    }
  *owner = lpt_limits_ref (current);

  return TRUE;
}

gboolean
lpt_memory_take (gsize       size,
                 const char *what,
                 LptLimits **owner,
                 GError    **error)
{
  return take (size, size, FALSE, what, owner, error);
}

void
lpt_memory_give (LptLimits *owner,
                 gsize      size)
{
  if (owner == NULL)
    return;
  __atomic_fetch_sub (&owner->memory, size, __ATOMIC_RELAXED);
  lpt_limits_unref (owner);
}

gpointer
lpt_memory_try (gsize    n,
                gsize    size,
                GError **error)
{
  LptLimits *owner;
  gpointer data;
  gsize bytes;

  if (!g_size_checked_mul (&bytes, MAX (n, 1), size))
    bytes = G_MAXSIZE;
  if (!lpt_memory_take (bytes, "elements", &owner, error))
    return NULL;
  data = g_try_malloc (bytes);
  lpt_memory_give (owner, bytes);
  if (data == NULL)
    lpt_memory_fail (bytes, "elements", error);

  return data;
}

typedef struct
{
  gpointer   base;        /* what free() takes */
  gsize      size;        /* that counts */
  LptLimits *owner;
  gboolean   small;
} Header;

G_STATIC_ASSERT (sizeof (Header) <= ALIGNMENT);

static gpointer
alloc (gsize       size,
       gboolean    must,
       const char *what,
       GError    **error)
{
  Header header = { .size = MAX (size, 1) + 2 * ALIGNMENT };
  guint8 *data;

  if (size > G_MAXSSIZE - 2 * ALIGNMENT)
    {
      lpt_memory_fail (size, what, error);
      return NULL;
    }
  header.small = header.size <= LPT_MEMORY_SMALL;
  if (!take (header.size, size, must, what, &header.owner, error))
    return NULL;
  if (header.small)
    {
      header.base = g_malloc (header.size);
      data = (guint8 *) (((guintptr) header.base + 2 * ALIGNMENT - 1) & ~(guintptr) (ALIGNMENT - 1));
      ASAN_POISON_MEMORY_REGION (data + size, (gsize) ((guint8 *) header.base + header.size - (data + size)));
    }
  else
    {
      const gboolean huge = size >= 2 * HUGE_PAGE;

      if (posix_memalign (&header.base, huge ? HUGE_PAGE : ALIGNMENT, size + ALIGNMENT) != 0)
        {
          lpt_memory_give (header.owner, header.size);
          lpt_memory_fail (size, what, error);
          return NULL;
        }
#ifdef MADV_HUGEPAGE
      if (huge)
        madvise (header.base, (size + ALIGNMENT) & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
      data = (guint8 *) header.base + ALIGNMENT;
    }
  ((Header *) (data - ALIGNMENT))[0] = header;
  ASAN_POISON_MEMORY_REGION (data - (ALIGNMENT - sizeof header), ALIGNMENT - sizeof header);

  return data;
}

gpointer
lpt_memory_alloc (gsize       size,
                  const char *what,
                  GError    **error)
{
  return alloc (size, FALSE, what, error);
}

gpointer
lpt_memory_small (gsize size)
{
  g_assert (size + 2 * ALIGNMENT <= LPT_MEMORY_SMALL);

  return alloc (size, TRUE, "an element", NULL);
}

void
lpt_memory_free (gpointer data)
{
  Header header;

  if (data == NULL)
    return;
  header = ((Header *) ((guint8 *) data - ALIGNMENT))[0];
  lpt_memory_give (header.owner, header.size);
  if (header.small)
    g_free (header.base);
  else
    free (header.base);
}
